import { expect, test } from 'vitest'
import { happen } from '../../../test/support/events.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { longTestMsMax } from '../../../test/support/time-limits.ts'
import { until } from '../../../test/support/until.ts'
import { startReceiver } from '../../../test/support/webhook-receiver.ts'
import { retryDelaysOf, scheduleInWords } from './retry-schedules.ts'

test.each([
  [[30, 60, 120], '3 times over 3.5 minutes'],
  [retryDelaysOf([]).extended, '7 times over about 28 hours'],
  [[30], 'once after 30 seconds'],
  [[1], 'once after 1 second'],
  [[90], 'once after 90 seconds'],
  [[0], 'once at once'],
  [[0, 0], '2 times at once'],
  [[0.03, 0.06], '2 times over about 0.5 seconds'],
  [[60, 60], '2 times over 2 minutes'],
  [[3_600, 3_600], '2 times over 2 hours'],
  [[86_400, 86_400], '2 times over 2 days'],
  [[604_800], 'once after 7 days'],
])('%j is "%s"', (delays, words) => {
  expect(scheduleInWords(delays)).toBe(words)
})

test('the extended schedule makes 8 attempts within 27 to 29 hours', () => {
  const { extended } = retryDelaysOf([])
  const total = extended.reduce((sum, delay) => sum + delay, 0)
  expect(extended).toHaveLength(7)
  expect(total).toBeGreaterThan(27 * 3_600)
  expect(total).toBeLessThan(29 * 3_600)
})

const subscribe = async (app: TestApp, url: string, more: object = {}) =>
  app.manage('POST', '/organization/webhooks', { name: 'Orders', url, all_events: true, ...more })

test('a webhook has the standard schedule by default', async () => {
  await using app = await startTestApp({ WEBHOOK_RETRY_DELAYS: '5,10' }, ['serve'])
  const made = await subscribe(app, 'https://hooks.acme.example/')
  expect(made.body.data.retry_schedule).toBe('standard')
  const path = `/organization/webhooks/${made.body.data.id}`
  expect((await app.manage('PATCH', path, { retry_schedule: 'extended' })).body.data.retry_schedule).toBe('extended')
  expect((await app.manage('PATCH', path, { name: 'Renamed' })).body.data.retry_schedule).toBe('extended')
  expect((await app.manage('PATCH', path, { retry_schedule: 'never' })).status).toBe(422)
  const second = await subscribe(app, 'https://hooks.acme.example/', { retry_schedule: 'extended' })
  expect(second.body.data.retry_schedule).toBe('extended')

  const { data } = (await app.manage('GET', '/organization/webhooks/retry-schedules')).body
  expect(data).toMatchObject([
    { name: 'standard', delays_seconds: [5, 10], in_words: '2 times over 15 seconds' },
    { name: 'extended', in_words: '7 times over about 28 hours' },
  ])
})

test('a delivery is retried by the schedule of its webhook, and fails after the last attempt', {
  timeout: longTestMsMax.intervals,
}, async () => {
  await using receiver = await startReceiver((response) => response.writeHead(500).end(), { plain: true })
  await using app = await startTestApp({ WEBHOOK_RETRY_DELAYS: '0.03' })
  const standard = (await subscribe(app, receiver.url())).body.data.id
  const extended = (await subscribe(app, receiver.url(), { retry_schedule: 'extended' })).body.data.id
  await happen(app.db, app.organizationId, 'emailOpen', 1)
  const deliveryOf = async (id: string) =>
    (await app.manage('GET', `/organization/webhooks/${id}/deliveries`)).body.data[0]

  await until('the standard one to fail', async () => (await deliveryOf(standard)).status === 'failed')
  expect(await deliveryOf(standard)).toMatchObject({ attempt_count: 2, next_attempt_at: null })
  const nextDelays: number[] = []
  for (let attempts = 1; attempts <= 8; attempts++) {
    const delivery = await until(`attempt ${attempts}`, async () => {
      const found = await deliveryOf(extended)
      return found.attempt_count === attempts ? found : undefined
    })
    if (delivery.status === 'failed') break
    const path = `/organization/deliveries/${delivery.id}`
    const { at } = (await app.manage('GET', path)).body.data.attempts.at(-1)
    // From the start of the attempt, so that a slow machine may take a few seconds longer to record it.
    nextDelays.push(Math.floor((Date.parse(delivery.next_attempt_at) - Date.parse(at)) / 10_000) * 10)
    await app.db.statement`update jobs set due_at = now()`
    await app.db.statement`update lanes set next_due_at = now()`
  }
  expect(await deliveryOf(extended)).toMatchObject({ status: 'failed', attempt_count: 8, next_attempt_at: null })
  expect(nextDelays).toEqual([30, 300, 1_800, 7_200, 18_000, 36_000, 36_000])
})
