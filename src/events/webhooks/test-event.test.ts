import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { happen } from '../../../test/support/events.ts'
import { registerOther } from '../../../test/support/people.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { startReceiver } from '../../../test/support/webhook-receiver.ts'

type Manage = TestApp['manage']

async function subscribe(manage: Manage, url: string): Promise<string> {
  const made = await manage('POST', '/organization/webhooks', { name: 'Orders', url, all_events: true })
  if (made.status !== 201) throw new Error(made.text)
  return made.body.data.id
}

const testEvent = (manage: Manage, id: string) =>
  manage('POST', `/organization/webhooks/${id}/test`, { event_name: 'emailOpen' })

test('test events of one organization do not block those of another', async () => {
  const open: ServerResponse[] = []
  await using slow = await startReceiver((response) => open.push(response), { plain: true })
  await using quick = await startReceiver((response) => response.end(), { plain: true })
  await using app = await startTestApp({}, ['serve'])
  const other = await registerOther(app)
  const id = await subscribe(app.manage, slow.url())

  let refused = 0
  const answers = Array.from({ length: 30 }, async () => {
    const { status } = await testEvent(app.manage, id)
    if (status === 429) refused++
    return status
  })
  await until('the share to be used up', () => open.length === 3 && refused === 22)
  const theirs = await testEvent(other.manage, await subscribe(other.manage, quick.url()))
  expect(theirs.body.data.attempt.outcome).toBe('acknowledged')
  expect(slow.posts).toHaveLength(3)

  const answerAll = setInterval(() => {
    for (const response of open.splice(0)) response.end()
  }, 10)
  const statuses = await Promise.all(answers)
  clearInterval(answerAll)
  expect(statuses.filter((status) => status === 200)).toHaveLength(8)
  expect(statuses.filter((status) => status === 429)).toHaveLength(22)
})

test('a test event is marked in its payload and in the log, and excluded from statistics', async () => {
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  await using app = await startTestApp({})
  const id = await subscribe(app.manage, receiver.url())
  const webhook = async () => (await app.manage('GET', `/organization/webhooks/${id}`)).body.data
  const untouched = { last_delivery_at: null, failing_since: null, stats_24h: { delivered: 0, failed: 0, pending: 0 } }

  const { delivery_id: deliveryId } = (await testEvent(app.manage, id)).body.data

  expect(JSON.parse(receiver.posts[0]!.body.toString()).data).toMatchObject({ test: true, machine: false })
  expect(await webhook()).toMatchObject(untouched)
  await app.manage('POST', `/organization/deliveries/${deliveryId}/replay`)
  await until('the replay', () => receiver.posts.length === 2)
  expect(receiver.posts[1]!.body).toEqual(receiver.posts[0]!.body)
  await until('its record', async () => {
    const { data } = (await app.manage('GET', `/organization/deliveries/${deliveryId}`)).body
    return data.attempts.length === 2
  })
  expect(await webhook()).toMatchObject(untouched)

  await happen(app.db, app.organizationId, 'emailOpen', 1)
  await until('the event', async () => (await webhook()).stats_24h.delivered === 1)
  expect((await webhook()).last_delivery_at).not.toBeNull()
  const log = (await app.manage('GET', `/organization/webhooks/${id}/deliveries`)).body.data
  const marks = log.map(({ id: each, is_test }: { id: string; is_test: boolean }) => [each === deliveryId, is_test])
  expect(marks).toEqual([
    [false, false],
    [true, true],
  ])
  expect(JSON.parse(receiver.posts[2]!.body.toString()).data).not.toHaveProperty('test')
})

test('a failed delivery does not change last_delivery_at', async () => {
  await using receiver = await startReceiver((response) => response.writeHead(404).end(), { plain: true })
  await using app = await startTestApp({})
  const id = await subscribe(app.manage, receiver.url())
  await happen(app.db, app.organizationId, 'emailOpen', 1)
  const webhook = await until('the failure', async () => {
    const { data } = (await app.manage('GET', `/organization/webhooks/${id}`)).body
    return data.failing_since ? data : undefined
  })
  expect(webhook).toMatchObject({ last_delivery_at: null, stats_24h: { delivered: 0, failed: 1, pending: 0 } })
})
