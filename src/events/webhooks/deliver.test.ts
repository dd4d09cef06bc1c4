import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifyWebhook } from '@waxwing/sdk'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { expect, test } from 'vitest'
import { collectStatements } from '../../../test/support/collect-statements.ts'
import { eventIdAt } from '../../../test/support/event-world.ts'
import { happen } from '../../../test/support/events.ts'
import { failureLog } from '../../../test/support/failure-log.ts'
import { create } from '../../../test/support/resources.ts'
import { oneServerTest } from '../../../test/support/server-tests.ts'
import { freePort } from '../../../test/support/service.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { type ReceivedPost, receiverCa, startReceiver } from '../../../test/support/webhook-receiver.ts'
import { withResolvers } from '../../../test/support/with-resolvers.ts'
import type { Tx } from '../../platform/db/db.ts'
import { createSafePost } from '../../platform/egress/safe-post.ts'
import { Hints } from '../../platform/queue/hints.ts'
import { Worker } from '../../platform/queue/worker.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { SecretBox } from '../../platform/secrets/secrets.ts'
import { type DeliveryId, parseId } from '../../platform/values/ids.ts'
import { createService } from '../../service.ts'
import { deliverJob } from './deliver.job.ts'
import { deleteOldDeliveries, replayFailed } from './deliveries.sql.ts'
import { pauseDeadEndpoints, removeOldDeliveries, removeOrphanDeliveries } from './health.ts'
import { deliveryMetrics } from './metrics.ts'
import { retryDelaysOf } from './retry-schedules.ts'
import { selectDeliveryStats } from './webhooks.sql.ts'

/** The rules of the service, with milliseconds for seconds. The timeout also holds on a busy machine. */
const quick = { WEBHOOK_RETRY_DELAYS: '0.03,0.06,0.12', WEBHOOK_TIMEOUT_MS: '30000' }
/** A delivery that failed once waits until the test makes it due, however long the test takes. */
const untilMadeDue = { ...quick, WEBHOOK_RETRY_DELAYS: '600,600,600' }

const newApp = await startSharedApp(quick)
const organizationOf = ({ organizationId }: TestApp) => parseId('org', organizationId)!

async function subscribe(app: TestApp, url: string, more: object = {}) {
  const made = await app.manage('POST', '/organization/webhooks', { name: 'Orders', url, all_events: true, ...more })
  if (made.status !== 201) throw new Error(made.text)
  return made.body.data as { id: string; signing_secret: string }
}

const log = async (app: TestApp, id: string) =>
  (await app.manage('GET', `/organization/webhooks/${id}/deliveries`)).body.data

const finished = (app: TestApp, id: string, count = 1) =>
  until('the deliveries to end', async () => {
    const deliveries = await log(app, id)
    const ended = deliveries.filter(({ status }: { status: string }) => status !== 'pending')
    return ended.length === count ? ended : undefined
  })

async function makeDue({ db }: TestApp): Promise<void> {
  await db.statement`update jobs set due_at = now() - interval '1 second'`
  await db.statement`update lanes set next_due_at = now()`
}

const detail = async (app: TestApp, id: string) => (await app.manage('GET', `/organization/deliveries/${id}`)).body.data

test('a delivery has the four fields and verifies with every published library', async () => {
  await using receiver = await startReceiver((response) => response.end('thanks'))
  const { mkdtempSync } = await import('node:fs')
  const caFile = join(mkdtempSync('/tmp/waxwing-ca-'), 'ca.pem')
  writeFileSync(caFile, receiverCa)
  await using app = await startTestApp({ ...quick, EGRESS_CA_FILE: caFile })
  const { id, signing_secret: secret } = await subscribe(app, receiver.url())
  await happen(app.db, app.organizationId, 'emailClick')
  const [delivery] = await finished(app, id)
  expect(delivery).toMatchObject({ status: 'delivered', attempt_count: 1, event_name: 'emailClick' })

  const [post] = receiver.posts as [ReceivedPost]
  const raw = post.body.toString()
  const body = JSON.parse(raw)
  expect(Object.keys(body)).toEqual(['event_name', 'organization_id', 'timestamp', 'data'])
  expect(body).toMatchObject({
    event_name: 'emailClick',
    organization_id: app.organizationId,
    data: { contact: { first_name: 'Ada' }, machine: false, url: 'https://shop.example/' },
  })
  expect(Number.isInteger(body.timestamp)).toBe(true)
  expect(post.headers['x-service-event']).toBe('emailClick')
  expect(post.headers['content-type']).toBe('application/json')

  const headers = post.headers as Record<string, string>
  expect(new Stripe('sk_test').webhooks.constructEvent(raw, headers['x-service-signature']!, secret)).toEqual(body)
  expect(new StandardWebhook(secret).verify(raw, headers)).toEqual(body)
  expect(verifyWebhook(raw, headers, secret)).toEqual(body)
  expect(() => verifyWebhook(raw.replace('emailClick', 'emailOpen'), headers, secret)).toThrow()

  const shown = await detail(app, delivery.id)
  expect(shown.payload).toBe(raw)
  expect(shown.attempts).toMatchObject([
    { number: 1, status_code: 200, outcome: 'acknowledged', response_body: 'thanks' },
  ])
  const sent = shown.attempts[0].request_headers
  expect(sent['X-Service-Signature']).toBe(headers['x-service-signature'])
  expect(sent['webhook-signature']).toBe(headers['webhook-signature'])
  expect(delivery.contact_email).toBe(body.data.contact.email)
  expect(headers['webhook-id']).toBe(delivery.id)
})

test('a delivery that this process has just created is posted without loading it, with the bytes of a later attempt', async () => {
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  const app = await newApp()
  const { id } = await subscribe(app, receiver.url())
  // The worker holds the lane of the endpoint from now on.
  await happen(app.db, app.organizationId, 'emailOpen')
  await finished(app, id)
  using statements = collectStatements()
  await happen(app.db, app.organizationId, 'emailClick')
  await finished(app, id, 2)
  // On several servers, nothing is handed to a worker.
  if (!app.db.isDistributed) expect(statements.texts.filter((text) => text.includes('as deliveries'))).toEqual([])

  // The body is made from the stored event again.
  await app.db.statement`
    update deliveries set body = null where organization_id = ${organizationOf(app)} and event_name = 'emailClick'`
  const [click] = (await log(app, id)).filter((each: { event_name: string }) => each.event_name === 'emailClick')
  await app.manage('POST', `/organization/deliveries/${click.id}/replay`)
  await until('the replay', () => receiver.posts.length === 3)
  expect(receiver.posts[2]!.body.toString()).toBe(receiver.posts[1]!.body.toString())
})

test.each([201, 204, 301, 302, 500, 503])(
  'a %i is tried four times with the same bytes, and then has failed',
  async (status) => {
    await using receiver = await startReceiver(
      (response) => response.writeHead(status, { location: 'https://example.com/' }).end(),
      { plain: true },
    )
    const app = await newApp()
    const { id } = await subscribe(app, receiver.url())
    await happen(app.db, app.organizationId, 'emailOpen')
    const [delivery] = await finished(app, id)
    expect(delivery).toMatchObject({ status: 'failed', attempt_count: 4, next_attempt_at: null })
    const { attempts } = await detail(app, delivery.id)
    expect(attempts.map(({ status_code }: { status_code: number }) => status_code)).toEqual([
      status,
      status,
      status,
      status,
    ])
    expect(attempts[0].reason).toContain(`Responded ${status} (200 expected`)
    expect(new Set(receiver.posts.map(({ body }) => body.toString())).size).toBe(1)
    expect(new Set(receiver.posts.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    const ats = attempts.map(({ at }: { at: string }) => Date.parse(at))
    for (const [index, delay] of [30, 60, 120].entries())
      expect(ats[index + 1] - ats[index]).toBeGreaterThanOrEqual(delay - 2)
  },
)

test.each([400, 401, 404, 410, 418, 429, 499])('a %i is final at once', async (status) => {
  await using receiver = await startReceiver((response) => response.writeHead(status).end('no'), { plain: true })
  const app = await newApp()
  const { id } = await subscribe(app, receiver.url())
  await happen(app.db, app.organizationId, 'emailOpen')
  const [delivery] = await finished(app, id)
  expect(delivery).toMatchObject({ status: 'failed', attempt_count: 1, reason: `Responded ${status} (not retried)` })
  expect(receiver.posts).toHaveLength(1)
})

test('a webhook can accept any 2xx', async () => {
  await using receiver = await startReceiver((response) => response.writeHead(204).end(), { plain: true })
  const app = await newApp()
  const { id } = await subscribe(app, receiver.url(), { acknowledge: '2xx' })
  await happen(app.db, app.organizationId, 'emailOpen')
  expect((await finished(app, id))[0]).toMatchObject({ status: 'delivered', attempt_count: 1, reason: 'Responded 204' })
  const tested = await app.manage('POST', `/organization/webhooks/${id}/test`, { event_name: 'emailOpen' })
  expect(tested.body.data.attempt).toMatchObject({ outcome: 'acknowledged', status_code: 204 })
})

test('a webhook can retry chosen 4xx statuses, while the others stay final', async () => {
  let status = 408
  await using receiver = await startReceiver((response) => response.writeHead(status).end(), { plain: true })
  const app = await newApp()
  const { id } = await subscribe(app, receiver.url(), { retry_4xx: [429, 408] })
  await happen(app.db, app.organizationId, 'emailOpen')
  const [delivery] = await finished(app, id)
  expect(delivery).toMatchObject({ status: 'failed', attempt_count: 4, reason: 'Responded 408 (200 expected)' })
  status = 425
  await app.manage('POST', `/organization/deliveries/${delivery.id}/replay`)
  expect((await finished(app, id))[0]).toMatchObject({ attempt_count: 5, reason: 'Responded 425 (not retried)' })
})

test('after a 429 the next attempt waits as long as Retry-After says', async () => {
  await using receiver = await startReceiver(
    (response) => response.writeHead(429, { 'retry-after': '600' }).end('slow down'),
    { plain: true },
  )
  const app = await newApp()
  const { id } = await subscribe(app, receiver.url(), { retry_4xx: [429] })
  await happen(app.db, app.organizationId, 'emailOpen')
  const delivery = await until('the first attempt', async () => {
    const [found] = await log(app, id)
    return found?.attempt_count === 1 ? found : undefined
  })
  const { at } = (await detail(app, delivery.id)).attempts[0]
  // Recording may take a few seconds on a slow machine.
  expect(Math.floor((Date.parse(delivery.next_attempt_at) - Date.parse(at)) / 60_000)).toBe(10)
})

test('an endpoint that recovers receives the event and is no longer failing', async () => {
  const { promise: recovered, resolve: recover } = withResolvers()
  await using receiver = await startReceiver(
    async (response) => {
      if (receiver.posts.length < 3) return void response.writeHead(500).end()
      await recovered
      response.end()
    },
    { plain: true },
  )
  const app = await newApp()
  const { id } = await subscribe(app, receiver.url())
  await happen(app.db, app.organizationId, 'emailOpen')
  await until(
    'a failure to show',
    async () => (await app.manage('GET', `/organization/webhooks/${id}`)).body.data.failing_since,
  )
  recover()
  expect((await finished(app, id))[0]).toMatchObject({ status: 'delivered', attempt_count: 3 })
  const webhook = (await app.manage('GET', `/organization/webhooks/${id}`)).body.data
  expect(webhook).toMatchObject({ failing_since: null, stats_24h: { delivered: 1, failed: 0, pending: 0 } })
})

test('unresponsive, resetting and missing endpoints are retried, each with its reason', async () => {
  await using hanging = await startReceiver(() => {}, { plain: true })
  await using resetting = await startReceiver((response) => response.destroy(), { plain: true })
  const goneUrl = `http://localhost:${await freePort()}/`
  // Long enough for the other two to fail in their own way on a busy machine.
  await using app = await startTestApp({ ...quick, WEBHOOK_RETRY_DELAYS: '0.02', WEBHOOK_TIMEOUT_MS: '2000' })
  const reasons: string[] = []
  for (const url of [hanging.url(), resetting.url(), goneUrl]) {
    const { id } = await subscribe(app, url)
    await happen(app.db, app.organizationId, 'emailOpen')
    const [delivery] = await finished(app, id)
    expect(delivery).toMatchObject({ status: 'failed', attempt_count: 2 })
    reasons.push(delivery.reason)
    await app.manage('DELETE', `/organization/webhooks/${id}`)
  }
  expect(reasons[0]).toBe('No response within 2 seconds')
  expect(reasons[1]).toMatch(/reset|closed/i)
  expect(reasons[2]).toBe('Refused the connection')
})

test('during a rotation both secrets verify, and afterwards only the new one', async () => {
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  const app = await newApp()
  const { id, signing_secret: old } = await subscribe(app, receiver.url())
  const rotate = async (body: object) =>
    (await app.manage('POST', `/organization/webhooks/${id}/rotate-secret`, body)).body.data.signing_secret
  const verifies = (post: ReceivedPost, secret: string) => {
    try {
      return Boolean(verifyWebhook(post.body.toString(), post.headers as Record<string, string>, secret))
    } catch {
      return false
    }
  }
  const second = await rotate({ overlap_hours: 1 })
  await happen(app.db, app.organizationId, 'emailOpen')
  await until('the first delivery', () => receiver.posts.length === 1)
  expect([verifies(receiver.posts[0]!, old), verifies(receiver.posts[0]!, second)]).toEqual([true, true])
  expect(receiver.posts[0]!.headers['x-service-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/)
  await app.manage('POST', `/organization/webhooks/${id}/test`, { event_name: 'emailOpen' })
  expect([verifies(receiver.posts[1]!, old), verifies(receiver.posts[1]!, second)]).toEqual([true, true])
  const third = await rotate({ overlap_hours: 0 })
  await happen(app.db, app.organizationId, 'emailOpen')
  await until('the last delivery', () => receiver.posts.length === 3)
  expect([old, second, third].map((secret) => verifies(receiver.posts[2]!, secret))).toEqual([false, false, true])
})

test('a delivery whose event is no longer kept ends as failed', async () => {
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  const app = await newApp()
  const { id } = await subscribe(app, receiver.url())
  await app.manage('PATCH', `/organization/webhooks/${id}`, { status: 'paused' })
  await happen(app.db, app.organizationId, 'emailOpen')
  await app.db.statement`delete from events where organization_id = ${organizationOf(app)}`
  await app.manage('PATCH', `/organization/webhooks/${id}`, { status: 'active' })
  await app.manage('POST', `/organization/webhooks/${id}/replay`, { since: '2020-01-01T00:00:00Z' })
  await until(
    'its end',
    async () => (await log(app, id))[0].reason === 'Not sent: the event was deleted by the retention period',
  )
  expect([(await log(app, id))[0].status, receiver.posts.length]).toEqual(['failed', 0])
  for (const since of ['5', 'yesterday', '-271821-04-20T00:00:00Z', '2026-13-01T00:00:00Z'])
    expect((await app.manage('POST', `/organization/webhooks/${id}/replay`, { since })).status).toBe(422)
})

test('a paused webhook receives nothing; once resumed it receives pending deliveries, and missed ones can be replayed', async () => {
  let status = 500
  await using receiver = await startReceiver((response) => response.writeHead(status).end(), { plain: true })
  await using app = await startTestApp(untilMadeDue)
  const { id } = await subscribe(app, receiver.url())
  await happen(app.db, app.organizationId, 'emailOpen')
  await until('the first attempt', () => receiver.posts.length === 1)
  await until('it to wait', async () => (await log(app, id))[0].attempt_count === 1)
  await app.manage('PATCH', `/organization/webhooks/${id}`, { status: 'paused' })
  status = 200
  const since = new Date(Date.now() - 60_000).toISOString()
  await makeDue(app)
  await using other = await startReceiver((response) => response.end(), { plain: true })
  await subscribe(app, other.url())
  await happen(app.db, app.organizationId, 'emailClick')
  await until('another webhook to receive the event', () => other.posts.length === 1)
  expect(receiver.posts).toHaveLength(1)
  expect((await log(app, id)).map((d: { status: string; reason: string }) => [d.status, d.reason])).toEqual([
    ['failed', 'Not sent: the webhook was paused'],
    ['pending', 'Responded 500 (200 expected)'],
  ])
  const { payload } = await detail(app, (await log(app, id))[0].id)
  expect(JSON.parse(payload)).toMatchObject({ event_name: 'emailClick' })

  await app.manage('PATCH', `/organization/webhooks/${id}`, { status: 'active' })
  await until('the one that waited', () => receiver.posts.length === 2)
  const replay = await app.manage('POST', `/organization/webhooks/${id}/replay`, { since })
  expect(replay.body.data).toEqual({ replayed: 1 })
  await until('the missed one', () => receiver.posts.length === 3)
  expect(receiver.posts[2]!.headers['x-service-event']).toBe('emailClick')
  expect(receiver.posts[2]!.body.toString()).toBe(payload)
})

test('the body of a webhook shows the contact as it was when the event was recorded', async () => {
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  await using app = await startTestApp(quick, ['serve'])
  await subscribe(app, receiver.url())
  const contact = { email: 'ada@example.com', first_name: 'Ada' }
  const { id } = await create(app, '/contacts', contact)
  await app.manage('PATCH', `/organization/contacts/${id}`, { status: 'unsubscribed' })
  await app.manage('PATCH', `/organization/contacts/${id}`, { email: 'grace@example.com', first_name: 'Grace' })

  const secrets = { current: 'a secret that only the tests know, and all of them do', previous: undefined }
  const worker = await createService({
    config: app.config,
    secrets,
    db: app.db,
    log: pino({ level: 'silent' }),
    roles: ['work'],
  })
  await worker.start()
  const post = await until('the post', () => receiver.posts[0])
  await worker.stop()

  expect(JSON.parse(post.body.toString()).data.contact).toEqual({ id, ...contact })
})

test('an edit applies to pending deliveries, and a deleted webhook receives nothing more', async () => {
  await using old = await startReceiver((response) => response.writeHead(500).end(), { plain: true })
  await using next = await startReceiver((response) => response.end(), { plain: true })
  await using app = await startTestApp(untilMadeDue)
  const edited = await subscribe(app, old.url())
  const deleted = await subscribe(app, old.url())
  await happen(app.db, app.organizationId, 'emailOpen')
  await until('both first attempts', () => old.posts.length === 2)
  await until('both to wait', async () => (await app.db`select from deliveries where attempt_count = 1`).length === 2)
  await app.manage('PATCH', `/organization/webhooks/${edited.id}`, { url: next.url() })
  await app.manage('DELETE', `/organization/webhooks/${deleted.id}`)
  await makeDue(app)
  await until('the edited one', () => next.posts.length === 1)
  expect(old.posts).toHaveLength(2)
  await until('no job to be left', async () => (await app.db`select from jobs`).length === 0)
})

test('the log of a deleted webhook is deleted, and others are kept', async () => {
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  const app = await newApp()
  const [kept, deleted] = [await subscribe(app, receiver.url()), await subscribe(app, receiver.url())]
  await happen(app.db, app.organizationId, 'emailOpen', 3)
  for (const { id } of [kept, deleted]) await finished(app, id, 3)
  await app.manage('DELETE', `/organization/webhooks/${deleted.id}`)
  await removeOrphanDeliveries({ db: app.db })
  expect(await log(app, kept.id)).toHaveLength(3)
  expect(await app.db`select from deliveries where organization_id = ${organizationOf(app)}`).toHaveLength(3)
  expect(await app.db`select from delivery_attempts where organization_id = ${organizationOf(app)}`).toHaveLength(3)
})

test.each([
  ['first', 1],
  ['second', 2],
])('data erased while the %s attempt is in flight stays erased', async (_title, underWay) => {
  const { promise: erased, resolve: release } = withResolvers()
  await using receiver = await startReceiver(
    async (response, { body }) => {
      if (receiver.posts.length < underWay) return void response.writeHead(500).end()
      await erased
      response.end(`got ${body}`)
    },
    { plain: true },
  )
  const app = await newApp()
  const { id } = await subscribe(app, receiver.url())
  await happen(app.db, app.organizationId, 'emailClick')
  await until('the attempt', () => receiver.posts.length === underWay)
  const [contact] = (await app.manage('GET', '/organization/contacts')).body.data
  expect(receiver.posts[0]!.body.toString()).toContain(contact.email)
  await app.manage('DELETE', `/organization/contacts/${contact.id}`)
  release()
  const [delivery] = await finished(app, id)
  expect(delivery).toMatchObject({ status: 'delivered', attempt_count: underWay })
  expect(JSON.stringify(await detail(app, delivery.id))).not.toContain(contact.email)

  await app.manage('POST', `/organization/deliveries/${delivery.id}/replay`)
  await until('the replay', () => receiver.posts.length === underWay + 1)
  expect(JSON.parse(receiver.posts.at(-1)!.body.toString()).data.contact).toMatchObject({
    id: contact.id,
    email: null,
    first_name: null,
  })
})

test('all deliveries that failed since a time are replayed, also older ones', async () => {
  await using receiver = await startReceiver((response) => response.writeHead(410).end(), { plain: true })
  const app = await newApp()
  const { id } = await subscribe(app, receiver.url())
  await happen(app.db, app.organizationId, 'emailOpen', 3)
  const [late, early] = await finished(app, id, 3)
  await app.db.statement`
    update deliveries set created_at = now() - interval '1 day' where organization_id = ${organizationOf(app)}`
  const attemptedBefore = (delivery: { id: string }, interval: string) => app.db.statement`
    update delivery_attempts set at = now() - ${interval}::interval where delivery_id = ${parseId('dlv', delivery.id)}`
  await attemptedBefore(early, '61 minutes')
  await attemptedBefore(late, '59 minutes')
  const since = new Date(Date.now() - 3_600_000).toISOString()
  const replay = await app.manage('POST', `/organization/webhooks/${id}/replay`, { since })
  expect(replay.body.data).toEqual({ replayed: 2 })
  await until('the posts', () => receiver.posts.length === 5)
  const again = receiver.posts.slice(3).map(({ headers }) => headers['webhook-id'])
  expect(again).toContain(late.id)
  expect(again).not.toContain(early.id)
})

test('a delivery that fails again during a replay is not replayed twice', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { id } = await subscribe(app, 'http://127.0.0.1:9/')
  await happen(app.db, app.organizationId, 'emailOpen', 5)
  const failAll = async () => {
    await app.db.statement`update deliveries set status = 'failed'`
    await app.db.statement`delete from jobs`
  }
  await failAll()
  const [organizationId, webhookId] = [parseId('org', app.organizationId)!, parseId('whk', id)!]
  const range = { since: new Date(0), until: new Date(Date.now() + 60_000), limit: 2 }
  const counts: number[] = []
  for (let after: DeliveryId | undefined; counts.length < 9; ) {
    const ids = await app.db.begin((tx) => replayFailed(tx, organizationId, webhookId, { ...range, after }))
    counts.push(ids.length)
    if (ids.length === 0) break
    after = ids.at(-1)
    await failAll()
  }
  expect(counts).toEqual([2, 2, 1, 0])
})

test('a delivered event can be replayed, a pending one cannot', async () => {
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  const app = await newApp()
  const { id } = await subscribe(app, receiver.url())
  await happen(app.db, app.organizationId, 'emailOpen')
  const [delivery] = await finished(app, id)
  expect((await app.manage('POST', `/organization/deliveries/${delivery.id}/replay`)).body.data).toEqual({
    replayed: 1,
  })
  await until('the second post', () => receiver.posts.length === 2)
  expect(receiver.posts[1]!.body).toEqual(receiver.posts[0]!.body)
  await until('both attempts', async () => (await detail(app, delivery.id)).attempts.length === 2)
  await app.manage('PATCH', `/organization/webhooks/${id}`, { status: 'paused' })
  await app.manage('POST', `/organization/deliveries/${delivery.id}/replay`)
  expect((await app.manage('POST', `/organization/deliveries/${delivery.id}/replay`)).status).toBe(409)
})

test('a test event returns its attempt, is signed and logged, and is not retried', async () => {
  await using receiver = await startReceiver((response) => response.writeHead(503).end('busy'), { plain: true })
  const app = await newApp()
  const { id, signing_secret: secret } = await subscribe(app, receiver.url())
  const answer = await app.manage('POST', `/organization/webhooks/${id}/test`, { event_name: 'emailHardBounce' })
  expect(answer.body.data.attempt).toMatchObject({
    number: 1,
    status_code: 503,
    outcome: 'not_acknowledged',
    response_body: 'busy',
  })
  const [post] = receiver.posts as [ReceivedPost]
  expect(verifyWebhook(post.body.toString(), post.headers as Record<string, string>, secret)).toMatchObject({
    event_name: 'emailHardBounce',
  })
  expect((await log(app, id))[0]).toMatchObject({
    id: answer.body.data.delivery_id,
    status: 'failed',
    attempt_count: 1,
  })
  expect((await app.manage('POST', `/organization/webhooks/${id}/test`, { event_name: 'nothing' })).status).toBe(422)
  const since = new Date(Date.now() - 60_000).toISOString()
  const replay = await app.manage('POST', `/organization/webhooks/${id}/replay`, { since })
  expect(replay.body.data).toEqual({ replayed: 0 })
})

test('an unresponsive endpoint does not delay others', async () => {
  await using hanging = await startReceiver(() => {}, { plain: true })
  await using healthy = await startReceiver((response) => response.end(), { plain: true })
  await using app = await startTestApp({ WEBHOOK_TIMEOUT_MS: '10000' })
  await subscribe(app, hanging.url())
  await subscribe(app, healthy.url())
  await happen(app.db, app.organizationId, 'emailOpen', 300)
  await until('the healthy one to have all', () => healthy.posts.length === 300)
  // Far fewer than its width would have allowed if it had responded.
  expect(hanging.posts.length).toBeLessThanOrEqual(16)
})

test('a post that fails for lack of local resources is not an attempt, and is sent later', async () => {
  const appSecret = 'the secret of a test that makes its own worker'
  await using receiver = await startReceiver((response) => response.end())
  await using app = await startTestApp({ ...quick, APP_SECRET: appSecret }, ['serve'])
  const lookedUpAt: number[] = []
  let lacks = true
  const lookup = async () => {
    lookedUpAt.push(performance.now())
    if (lacks) throw Object.assign(new Error('connect EMFILE'), { code: 'EMFILE', syscall: 'connect' })
    return [{ address: '127.0.0.1', family: 4 as const }]
  }
  const safePost = createSafePost({ timeoutMs: 5_000, allowPrivate: true, ca: receiverCa, lookup })
  const logged: string[] = []
  const { db } = app
  const parts = { db, log: pino({}, { write: (line) => logged.push(JSON.parse(line).msg) }), safePost }
  const box = new SecretBox({ current: appSecret, previous: undefined }, 'webhook secrets')
  const metrics = deliveryMetrics(new Registry(), db)
  const spec = deliverJob({
    ...parts,
    stageRegistry: new StageRegistry(),
    box,
    metrics,
    retryDelays: retryDelaysOf([0.03]),
    laneWidthMax: 8,
  })
  const worker = new Worker({ ...parts, failures: failureLog(parts.log), hints: new Hints(db), spec })
  const { id } = await subscribe(app, receiver.url())
  for (let n = 0; n < 3; n++) await happen(app.db, app.organizationId, 'emailClick')
  worker.start()
  try {
    await until('it to be tried again and again', () => lookedUpAt.length > 8)
    // Two at a time, one second apart.
    expect(lookedUpAt[8]! - lookedUpAt[0]!).toBeGreaterThan(2_000)
    for (const delivery of await log(app, id)) expect(delivery).toMatchObject({ status: 'pending', attempt_count: 0 })
    expect(logged).toEqual(['Webhook deliveries are paused: this process cannot open connections'])
    lacks = false
    for (const delivery of await finished(app, id, 3))
      expect(delivery).toMatchObject({ status: 'delivered', attempt_count: 1 })
  } finally {
    await worker.stop()
    safePost.close()
  }
})

const untilPostponed = (app: TestApp, id: string) =>
  until('a delivery to be postponed with a reason', async () =>
    (await log(app, id)).find(({ reason }: { reason: string | null }) => reason),
  )

test('deliveries of a webhook whose secret cannot be decrypted stay pending until it is rotated', async () => {
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  await using app = await startTestApp()
  const [sealedByOther, whole] = [await subscribe(app, receiver.url()), await subscribe(app, receiver.url())]
  const notOurs = Buffer.alloc(80, 1)
  await app.db.statement`update webhooks set secret = ${notOurs} where id = ${parseId('whk', sealedByOther.id)}`
  await happen(app.db, app.organizationId, 'emailOpen')
  expect(await finished(app, whole.id)).toMatchObject([{ status: 'delivered' }])
  const waiting = await untilPostponed(app, sealedByOther.id)
  expect(waiting).toMatchObject({ status: 'pending', attempt_count: 0 })
  expect(waiting.reason).toMatch(/^Not sent: .* another APP_SECRET/)
  const dueLater = await app.db<{
    attempt: number
  }>`select attempt from jobs where kind = 'webhook.deliver' and due_at > now()`
  expect(dueLater).toEqual([{ attempt: 0 }])
  const tried = await app.manage('POST', `/organization/webhooks/${sealedByOther.id}/test`, { event_name: 'emailOpen' })
  expect([tried.status, tried.body.message]).toEqual([409, expect.stringMatching(/rotate it\.$/)])
  await app.manage('POST', `/organization/webhooks/${sealedByOther.id}/rotate-secret`)
  await makeDue(app)
  expect(await finished(app, sealedByOther.id)).toMatchObject([{ status: 'delivered', attempt_count: 1 }])
})

test('a delivery that could not be signed for three days fails', async () => {
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  await using app = await startTestApp()
  const { id } = await subscribe(app, receiver.url())
  await app.db.statement`update webhooks set secret = ${Buffer.alloc(80, 1)}`
  await happen(app.db, app.organizationId, 'emailOpen')
  await untilPostponed(app, id)
  await app.db.statement`update deliveries set created_at = now() - interval '73 hours'`
  await makeDue(app)
  const [failed] = await finished(app, id)
  expect(failed).toMatchObject({ status: 'failed', attempt_count: 0 })
  expect((await detail(app, failed.id)).reason).toMatch(/^Not sent: .* another APP_SECRET/)
})

test('after a shutdown signal nothing new is posted, even while a request is in flight', async () => {
  await using hanging = await startReceiver(() => {}, { plain: true })
  await using healthy = await startReceiver((response) => response.end(), { plain: true })
  await using app = await startTestApp({ WEBHOOK_TIMEOUT_MS: '2000' })
  const { id } = await subscribe(app, hanging.url(), { all_events: false, event_types: ['emailSent'] })
  await subscribe(app, healthy.url(), { all_events: false, event_types: ['emailOpen'] })
  const asked = app.manage('POST', `/organization/webhooks/${id}/test`, { event_name: 'emailSent' })
  await until('the request to hang', () => hanging.posts.length > 0)
  const stopped = app.app.stop()
  await happen(app.db, app.organizationId, 'emailOpen')
  await Promise.all([asked, stopped])
  expect(healthy.posts).toHaveLength(0)
})

test('an endpoint that failed for three days is paused, keeps its jobs and can be resumed', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { id } = await subscribe(app, 'http://127.0.0.1:9/')
  const pausedNames: string[] = []
  const { Hints } = await import('../../platform/queue/hints.ts')
  const parts = {
    db: app.db,
    hints: new Hints(app.db),
    log: app.app.server.log as never,
    logDays: 30,
    onPaused: async (_tx: unknown, webhook: { name: string }) => void pausedNames.push(webhook.name),
  }
  const status = async () => (await app.manage('GET', `/organization/webhooks/${id}`)).body.data.status

  await app.db
    .statement`update webhooks set failing_since = now() - interval '4 days', last_attempt_at = now() - interval '2 days'`
  await pauseDeadEndpoints(parts)
  expect([await status(), pausedNames]).toEqual(['active', []])
  await app.db.statement`update webhooks set last_attempt_at = now()`
  await pauseDeadEndpoints(parts)
  expect([await status(), pausedNames]).toEqual(['paused', ['Orders']])
  expect(await app.db`select held from lanes`).toEqual([{ held: true }])
  // A change that does not resume it keeps since when it fails.
  const renamed = await app.manage('PATCH', `/organization/webhooks/${id}`, { name: 'Shop' })
  expect(renamed.body.data).toMatchObject({ status: 'paused', failing_since: expect.any(String) })
  const resumed = await app.manage('PATCH', `/organization/webhooks/${id}`, { status: 'active' })
  expect(resumed.body.data).toMatchObject({ status: 'active', failing_since: null, paused_reason: null })
})

const dayMs = 24 * 3_600_000

type OldDelivery = { idDays: number; madeDays?: number; status?: string; reason?: string }

/** Deliveries with an attempt each, so many days old by their ids and by when they were made. */
async function storeLog(app: TestApp, webhook: { id: string }, deliveries: OldDelivery[]): Promise<void> {
  const ids = deliveries.map(({ idDays }) => eventIdAt(new Date(Date.now() - idDays * dayMs)))
  const organizationId = parseId('org', app.organizationId)
  await app.db.statement`
    insert into deliveries (organization_id, id, webhook_id, event_id, event_name, status, reason, created_at)
    select ${organizationId}, id, ${parseId('whk', webhook.id)}, id, 'emailOpen', status, reason, now() - days * interval '1 day'
    from unnest(${ids}::uuid[], ${deliveries.map(({ status = 'delivered' }) => status)}::text[],
      ${deliveries.map(({ reason = '' }) => reason)}::text[],
      ${deliveries.map(({ idDays, madeDays = idDays }) => madeDays)}::int[]) as old (id, status, reason, days)`
  await app.db.statement`
    insert into delivery_attempts (organization_id, delivery_id, number, at, duration_ms, outcome, reason, signature)
    select organization_id, id, 1, created_at, 1, 'acknowledged', reason, '' from deliveries where id = any (${ids}::uuid[])`
  await app.db.statement`analyze deliveries`
  await app.db.statement`analyze delivery_attempts`
}

/** Rows of the log that the work reads. */
const rowsRead = (app: TestApp, work: (tx: Tx) => Promise<unknown>) =>
  app.db.begin(async (tx) => {
    const read = async () => {
      const [row] = await tx<{ count: number }>`
        select sum(seq_tup_read + idx_tup_fetch)::int8 as count
        from pg_stat_xact_user_tables where relname in ('deliveries', 'delivery_attempts')`
      return row!.count
    }
    const before = await read()
    await work(tx)
    return (await read()) - before
  })

test('deliveries are deleted after the retention period, except pending and recent ones', async () => {
  await using app = await startTestApp({}, ['serve'])
  await storeLog(app, await subscribe(app, 'http://127.0.0.1:9/'), [
    { idDays: 31, reason: 'old' },
    { idDays: 90, status: 'failed', reason: 'old and failed' },
    { idDays: 31, status: 'pending', reason: 'waits' },
    { idDays: 29, reason: 'young' },
    { idDays: 40, madeDays: 10, reason: 'the late bounce of an old mail' },
  ])
  await removeOldDeliveries({ db: app.db, logDays: 30 })
  const kept = [{ reason: 'the late bounce of an old mail' }, { reason: 'waits' }, { reason: 'young' }]
  expect(await app.db`select reason from deliveries order by reason`).toEqual(kept)
  expect(await app.db`select reason from delivery_attempts order by reason`).toEqual(kept)
})

oneServerTest('deleting old deliveries does not read recent ones', async () => {
  await using app = await startTestApp({}, ['serve'])
  const young = Array.from({ length: 20_000 }, () => ({ idDays: 29 }))
  await storeLog(app, await subscribe(app, 'http://127.0.0.1:9/'), [{ idDays: 31 }, ...young])
  const before = new Date(Date.now() - 30 * dayMs)
  expect(await rowsRead(app, (tx) => deleteOldDeliveries(tx, { before, limit: 1_000 }))).toBeLessThan(5)
  expect(await app.db`select from deliveries`).toHaveLength(20_000)
})

test('the statistics of a webhook cover its last day, including late bounces, without reading the whole log', async () => {
  await using app = await startTestApp({}, ['serve'])
  const webhook = await subscribe(app, 'http://127.0.0.1:9/')
  const old = Array.from({ length: 3_000 }, () => ({ idDays: 9 }))
  await storeLog(app, webhook, [
    ...old,
    { idDays: 0 },
    { idDays: 3, madeDays: 0 },
    { idDays: 0, status: 'failed' },
    { idDays: 2, status: 'pending' },
  ])
  const shown = (await app.manage('GET', `/organization/webhooks/${webhook.id}`)).body.data
  expect(shown.stats_24h).toEqual({ delivered: 2, failed: 1, pending: 0 })
  const quiet = await subscribe(app, 'http://127.0.0.1:9/')
  const ids = [webhook, quiet].map(({ id }) => parseId('whk', id)!)
  const figures = (tx: Tx) => selectDeliveryStats(tx, parseId('org', app.organizationId)!, ids)
  expect(await rowsRead(app, figures)).toBeLessThanOrEqual(2_000)
})
