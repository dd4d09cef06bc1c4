import { expect, test } from 'vitest'
import { orderFlow } from './support/flows.ts'
import { startRelay } from './support/relay.ts'
import { create } from './support/resources.ts'
import { newCustomer, startService } from './support/service.ts'
import { callUrl } from './support/test-app.ts'
import { longTestMsMax } from './support/time-limits.ts'
import { until } from './support/until.ts'

/** `KILLS=50 npx vitest run test/kill-while-sending.test.ts` for a long run. */
const kills = Number(process.env.KILLS ?? 3)
const sends = kills * 250
const atOnce = 50

test('a service that is killed repeatedly loses no accepted message', {
  timeout: longTestMsMax.kills(kills),
}, async () => {
  await using relay = await startRelay({ parse: false })
  const arrived = new Set<string>()
  relay.onData = ({ raw }) => {
    arrived.add(/^Message-ID: <(msg_\w+)@/m.exec(raw)![1]!)
    return undefined
  }
  await using service = await startService('start', { SMTP_URL: relay.url })
  const customer = await newCustomer(service.url)
  const flowId = (await create(customer, '/flows', orderFlow)).id
  const accepted = new Set<string>()
  const missing = () => [...accepted].filter((id) => !arrived.has(id))

  let restarted = Promise.resolve()
  let next = 0
  // Like a careful client: with an idempotency key, and retries until there is a response.
  const send = async (n: number) => {
    const headers = { 'x-api-token': customer.apiKey, 'idempotency-key': `order-${n}` }
    const body = { flow_id: flowId, contact_email: `c${n}@example.com`, context: { order_id: n } }
    const call = () => callUrl('POST', `${service.url}/public/api/v1/flow/send-email-through-flow`, { headers, body })
    const answer = await until(
      'an answer',
      async () => {
        const given = await call().catch(() => undefined)
        if (!given) await restarted
        return given?.status === 200 ? given : undefined
      },
      300_000,
    )
    accepted.add(answer.body.data.message_id)
  }
  const sendAll = async () => {
    while (next < sends) await send(next++)
  }
  const killAll = async () => {
    for (let kill = 1; kill <= kills; kill++) {
      await until('more to be sent', () => next >= (sends * kill) / (kills + 1))
      restarted = service.kill().then(service.start)
      await restarted
    }
  }
  await Promise.all([killAll(), ...Array.from({ length: atOnce }, sendAll)])
  expect(accepted.size).toBe(sends)

  await until('every accepted message to arrive', () => missing().length === 0, 240_000).catch(() => {})
  expect(missing()).toEqual([])
})
