import type { Waxwing } from './client.ts'
import { WaxwingError } from './errors.ts'
import type { FeedEvent } from './event-feed.ts'

const simulatorDomain = 'simulator.waxwing.test'

/** The reserved recipient that causes each event. */
const recipients: Readonly<Record<string, string>> = {
  emailSent: 'delivered',
  emailOpen: 'open',
  emailClick: 'click',
  emailSoftBounce: 'soft-bounce',
  emailHardBounce: 'hard-bounce',
  emailComplaint: 'complaint',
  contactUnsubscribe: 'unsubscribe',
}

/** The events that `trigger` can cause. */
export const triggerableEvents: readonly string[] = Object.keys(recipients)

const shortEmail = { subject: 'Test event', text: 'This email was sent to cause a test event.' }
const eventMsMax = 30_000
const waitSeconds = 5

export type TriggerOptions = {
  client: Waxwing
  eventName: string
  /** The flow to send, `flw_…`. Without it, a short email is sent. */
  flowId?: string | undefined
  /** The variables of the flow. */
  context?: Record<string, unknown> | undefined
  /** The sender of the short email, in a domain that the organization may send from. */
  from?: string | undefined
  signal?: AbortSignal | undefined
}

export type Triggered = {
  messageId: string
  /** Undefined if it did not happen within 30 seconds, or the key may not read events. */
  event: FeedEvent | undefined
}

/**
 * Causes an event by sending an email to a reserved test recipient, and returns it. The address is a new one each time,
 * because bounces and complaints suppress it. Throws `TypeError` if the event cannot be caused.
 */
export async function trigger(options: TriggerOptions): Promise<Triggered> {
  const { client, eventName, signal } = options
  const recipient = Object.hasOwn(recipients, eventName) ? recipients[eventName] : undefined
  if (!recipient)
    throw new TypeError(`${eventName} cannot be triggered. Choose one of ${triggerableEvents.join(', ')}.`)
  const start = await client.events.list({ after: 'latest', limit: 1, signal }).catch(ifForbidden)
  const messageId = await send(options, `${recipient}+${crypto.randomUUID().slice(0, 8)}@${simulatorDomain}`)
  return { messageId, event: start && (await findEvent(client, { messageId, eventName, after: start.cursor, signal })) }
}

async function send({ client, flowId, context, from }: TriggerOptions, to: string): Promise<string> {
  const accepted = flowId
    ? await client.sendEmailThroughFlow({ flowId, contactEmail: to, ...(context && { context }) })
    : (await client.emails.send({ ...shortEmail, from: from ?? `trigger@${simulatorDomain}`, to })).messages[0]!
  if (accepted.status === 'suppressed') throw new WaxwingError(`Not sent: ${accepted.reason}.`, { type: 'conflict' })
  return 'messageId' in accepted ? accepted.messageId : accepted.id
}

type Wanted = { messageId: string; eventName: string; after: string; signal: AbortSignal | undefined }

async function findEvent(client: Waxwing, { messageId, eventName, after, signal }: Wanted) {
  const until = Date.now() + eventMsMax
  for (let cursor = after; Date.now() < until; ) {
    const page = await client.events.list({ after: cursor, limit: 1_000, wait: waitSeconds, signal })
    const event = page.events.find(({ event_name, data }) => event_name === eventName && data.message_id === messageId)
    if (event) return event
    cursor = page.cursor
  }
  return undefined
}

function ifForbidden(error: unknown): undefined {
  if (error instanceof WaxwingError && error.status === 403) return undefined
  throw error
}
