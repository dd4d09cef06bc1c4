import { randomBytes } from 'node:crypto'
import type { Waxwing } from './client.ts'
import type { FeedEvent } from './event-feed.ts'
import { signWebhook } from './signature.ts'

const answerMsMax = 10_000
const secretBytes = 32

export type ListenOptions = {
  client: Waxwing
  /** The address that receives the events, for example `http://localhost:4000/hook`. */
  forwardTo: string
  /** The signing secret, `whsec_…`. */
  secret: string
  /** Only events with these names. */
  eventNames?: readonly string[] | undefined
  /** The cursor to begin after. Without it, only new events are forwarded. */
  after?: string | undefined
  /** Ends the function. */
  signal: AbortSignal
  /** Called for each line of the report. */
  print: (line: string) => void
}

/** Returns a signing secret as webhooks have it. */
export const newSigningSecret = (): string => `whsec_${randomBytes(secretBytes).toString('base64')}`

/**
 * Posts each new event to an address, signed as a webhook, until the signal is aborted. Each event is posted once,
 * whatever the response is. Continues after network errors. Throws `WaxwingError` if the API rejects the key.
 */
export async function listen({ client, eventNames, after, signal, print, ...target }: ListenOptions): Promise<void> {
  const onRetry = (error: Error, waitMs: number) =>
    print(`${timeOfDay()}  ${error.message} Trying again in ${Math.ceil(waitMs / 1_000)} s.`)
  try {
    const start = after ?? (await client.events.list({ after: 'latest', limit: 1, signal })).cursor
    for await (const event of client.events.follow({ after: start, signal, onRetry })) {
      if (eventNames && !eventNames.includes(event.event_name)) continue
      const result = await forward(event, target, signal)
      print(`${timeOfDay()}  ${event.event_name.padEnd(18)} ${event.id}  ${result}`)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Returns the status of the response, or why there was none. */
async function forward(
  { id, cursor: _, ...payload }: FeedEvent,
  { forwardTo, secret }: Pick<ListenOptions, 'forwardTo' | 'secret'>,
  signal: AbortSignal,
): Promise<string> {
  const body = JSON.stringify(payload)
  const timestamp = Math.floor(Date.now() / 1_000)
  const startedAt = performance.now()
  try {
    const response = await fetch(forwardTo, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Service-Event': payload.event_name,
        ...signWebhook({ id, timestamp, body, secrets: [secret] }),
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerMsMax)]),
    })
    await response.body?.cancel()
    return `${response.status} (${Math.round(performance.now() - startedAt)} ms)`
  } catch (error) {
    if (signal.aborted) throw error
    return `failed: ${reasonOf(error as Error)}`
  }
}

function reasonOf(error: Error): string {
  if (error.name === 'TimeoutError') return `no response within ${answerMsMax / 1_000} seconds`
  const { cause } = error as { cause?: { code?: string; message?: string } }
  if (cause?.code === 'ECONNREFUSED') return 'connection refused; is your server running?'
  return cause?.message ?? error.message
}

const timeOfDay = () => new Date().toTimeString().slice(0, 8)
