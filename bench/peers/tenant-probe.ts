import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** Calls the API repeatedly as an ordinary customer, in a separate process, and reports the duration of each call. */

export type ProbeTarget = { url: string; session: string; apiKey: string; flowId: string; everyMs: number }
export type ProbeSample = { call: string; ms: number; status: number }

const timeoutMs = 60_000
const agent = new Agent({ keepAlive: true })
let samples: ProbeSample[] = []
let running = false

function call({ url }: ProbeTarget, name: string, path: string, headers: Record<string, string>, body?: object) {
  const startedAt = performance.now()
  return new Promise<void>((resolve) => {
    const end = (status: number) => {
      samples.push({ call: name, ms: performance.now() - startedAt, status })
      resolve()
    }
    const sent = request(
      `${url}${path}`,
      { method: body ? 'POST' : 'GET', agent, headers: { ...headers, 'content-type': 'application/json' } },
      (response) => response.resume().once('end', () => end(response.statusCode ?? 0)),
    )
    sent.setTimeout(timeoutMs, () => sent.destroy())
    sent.once('error', () => end(0)).end(body && JSON.stringify(body))
  })
}

async function probe(target: ProbeTarget): Promise<void> {
  const session = { authorization: `Bearer ${target.session}` }
  const key = { 'x-api-token': target.apiKey }
  const calls = [
    () => call(target, 'me', '/api/v1/me', session),
    () => call(target, 'token check', '/public/api/v1/token/check', key),
    () => call(target, 'health', '/health', {}),
    () =>
      call(target, 'send', '/public/api/v1/flow/send-email-through-flow', key, {
        flow_id: target.flowId,
        contact_email: 'reader@example.com',
      }),
    () =>
      call(target, 'email', '/public/api/v1/emails', key, {
        from: 'bystander@example.com',
        to: 'reader@example.com',
        subject: 'Hello',
        text: 'Hello',
      }),
  ]
  await Promise.all(
    calls.map(async (run) => {
      while (running) {
        await run()
        await sleep(target.everyMs)
      }
    }),
  )
}

process.on('message', (message: ProbeTarget | 'samples') => {
  if (message === 'samples') {
    process.send?.(samples)
    samples = []
  } else {
    running = true
    void probe(message)
  }
})
process.on('disconnect', () => process.exit())
