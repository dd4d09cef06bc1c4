import { expect, test } from 'vitest'
import { emails, fill, storeOtherBroadcast } from '../../../test/support/broadcasts.ts'
import { lockWaits } from '../../../test/support/lock-waits.ts'
import { getMessage } from '../../../test/support/messages.ts'
import { password } from '../../../test/support/people.ts'
import { type ReceivedEmail, startRelay, startSharedRelay, type TestRelay } from '../../../test/support/relay.ts'
import { oneServerTest } from '../../../test/support/server-tests.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { startReceiver } from '../../../test/support/webhook-receiver.ts'
import { withResolvers } from '../../../test/support/with-resolvers.ts'
import { firstContactId, lastContactId } from '../../platform/db/id-range.ts'
import { parseId } from '../../platform/values/ids.ts'
import { resetFailed } from '../ledger/ledger.sql.ts'
import { enqueueStep } from '../status.ts'

const postmark = 'the password of postmark'
const sharedRelay = await startSharedRelay()
const newOrganization = await startSharedApp({ SMTP_URL: sharedRelay.url, PROVIDER_POSTMARK_TOKEN: postmark })

const countBy = (relay: TestRelay) => {
  const counts = new Map<string, number>()
  for (const { recipient } of relay.mails) counts.set(recipient, (counts.get(recipient) ?? 0) + 1)
  return counts
}

/** A worker holds the lane of a part until every email that it has started is recorded. */
const noneInFlight = (app: TestApp) =>
  until('the emails in flight', async () => {
    const held = await app.db`select from lanes where kind = 'broadcast.run' and token is not null`
    return held.length === 0
  })

/** A soft bounce, reported by Postmark. */
const reportBounce = (app: TestApp, { headers }: ReceivedEmail['mail']) =>
  app.call('POST', '/providers/postmark/events', {
    headers: { authorization: `Basic ${Buffer.from(`hook:${postmark}`).toString('base64')}` },
    body: {
      RecordType: 'Bounce',
      Type: 'SoftBounce',
      Details: '452 4.2.2 Over quota',
      Metadata: { 'waxwing-id': headers.find(({ key }) => key === 'x-waxwing-id')!.value },
    },
  })

const sum = ({ recipients, ...counts }: Record<string, number>) =>
  Object.values(counts).reduce((total, count) => total + count, 0)

test('overlapping groups get one email each; failed, bounced and suppressed recipients are counted apart', async () => {
  const relay = sharedRelay.reset()
  const app = await newOrganization()
  const { make, group, create, flow } = await fill(app)
  const [first, second] = [emails('a', 40), emails('b', 40)]
  const groups = [
    await group('First', first),
    await group('Second', [...first.slice(20), ...second]),
    await group('Incomplete', ['incomplete@example.com'], {}),
    await group('Others', ['hard@example.com', 'late@example.com', 'early@example.com']),
  ]
  await make('/suppressions', { email: first[0] })
  relay.onRecipient = (address) =>
    address === 'hard@example.com' ? { code: 550, text: '5.1.1 No such user' } : undefined
  const other = await storeOtherBroadcast(app)
  const broadcast = await create(groups)
  // Nothing is sent before all emails are held.
  const { promise: held, resolve: release } = withResolvers()
  let reported: Promise<unknown> | undefined
  relay.onData = async ({ recipient, mail }) => {
    await held
    // This bounce is reported before the relay accepts the email, so before the message is recorded.
    if (recipient === 'early@example.com') {
      reported = reportBounce(app, mail)
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    return undefined
  }
  expect((await broadcast.start()).body.data).toMatchObject({ status: 'preparing' })
  release()
  await broadcast.ended()
  expect(await reported).toMatchObject({ status: 200 })
  const sent = await broadcast.get()
  expect(sent).toMatchObject({ recipients: 83, excluded: 1, flow_version: 1 })
  expect(sent.counts).toEqual({
    ...{ recipients: 83, pending: 0, queued: 0, sent: 80, bounced: 2, suppressed: 0, unsubscribed: 0, failed: 1 },
    cancelled: 0,
  })
  expect(sum(sent.counts)).toBe(sent.recipients)
  expect([...countBy(relay).values()].every((count) => count === 1)).toBe(true)
  expect(relay.mails).toHaveLength(81)
  expect(relay.mails.some(({ recipient }) => recipient === first[0])).toBe(false)
  expect(await broadcast.recipients('failed')).toMatchObject([
    { email: 'incomplete@example.com', reason: 'missing variables: city', message_id: null },
  ])
  const bounced = await broadcast.recipients('bounced')
  expect(bounced.map(({ email, reason }) => [email, reason])).toEqual([
    ['hard@example.com', 'user_unknown'],
    ['early@example.com', 'mailbox_full'],
  ])
  expect(sent.results).toMatchObject({ hard_bounced: 1, soft_bounced: 1, opened: 0 })
  const early = await getMessage(app, bounced[1]!.message_id!)
  expect(early).toMatchObject({ status: 'bounced', reason: 'mailbox_full' })

  // A message of a broadcast is a message like any other, with its events.
  const messageId = (await broadcast.recipients('sent'))[0]!.message_id!
  const message = await getMessage(app, messageId)
  expect(message).toMatchObject({ status: 'sent', flow_id: flow, events: [{ event_name: 'emailSent' }] })
  expect(await other.readRows()).toEqual(other.stored)
})

/** Creates a broadcast to two readers, and one who lacks a variable. */
async function createIncomplete(app: TestApp) {
  const { make, group, create, flow } = await fill(app)
  const groups = [await group('Readers', emails('a', 2)), await group('Incomplete', ['incomplete@example.com'], {})]
  return { make, flow, groups, create }
}

test('the recipients of a broadcast are exported with what happened to each', async () => {
  sharedRelay.reset()
  const app = await newOrganization()
  const { create, groups } = await createIncomplete(app)
  const broadcast = await create(groups)
  await broadcast.start()
  await broadcast.ended()
  const path = `/organization/broadcasts/${broadcast.id}/recipients/export`
  const file = await app.manage('GET', `${path}?status=failed`)
  expect([file.headers.get('content-type'), file.text.split('\r\n')]).toEqual([
    'text/csv; charset=utf-8',
    [
      'contact_id,email,status,engagement,reason,message_id,variant,first_opened_at,first_clicked_at,complained_at,unsubscribed_at,links',
      expect.stringMatching(/^con_\w+,incomplete@example\.com,failed,,missing variables: city,,,,,,,$/),
      '',
    ],
  ])
  expect((await app.manage('GET', path)).text.trim().split('\r\n')).toHaveLength(1 + 3)
})

test('webhooks receive the start and the end of a broadcast if they select them by name', async () => {
  await using receiver = await startReceiver((response) => response.writeHead(200).end(), { plain: true })
  await using everything = await startReceiver((response) => response.writeHead(200).end(), { plain: true })
  sharedRelay.reset()
  const app = await newOrganization()
  const { make, create, groups, flow } = await createIncomplete(app)
  const names = ['broadcastStarted', 'broadcastFinished']
  await make('/webhooks', { name: 'Broadcasts', url: receiver.url(), event_types: names })
  await make('/webhooks', { name: 'All', url: everything.url(), all_events: true })
  const broadcast = await create(groups)
  await broadcast.start()
  await broadcast.ended()
  await until('both events', () => receiver.posts.length === 2)
  // If the first is delivered late, both are delivered at once.
  const bodies = receiver.posts
    .map(({ body }) => JSON.parse(body.toString()))
    .sort((a, b) => names.indexOf(a.event_name) - names.indexOf(b.event_name))
  const about = { id: broadcast.id, name: 'News', flow_id: flow, message_id: null, contact: null }
  expect(bodies).toMatchObject([
    { event_name: 'broadcastStarted', data: { ...about, status: 'sending', counts: { recipients: 3, pending: 3 } } },
    {
      event_name: 'broadcastFinished',
      data: { ...about, status: 'sent', counts: { recipients: 3, pending: 0, failed: 1 } },
    },
  ])
  expect(everything.posts.filter(({ headers }) => names.includes(headers['x-service-event'] as string))).toEqual([])
})

test('a second round sends to the failed recipients only', async () => {
  const relay = sharedRelay.reset()
  const app = await newOrganization()
  const { create, groups } = await createIncomplete(app)
  const other = await storeOtherBroadcast(app)
  const broadcast = await create(groups)
  await broadcast.start()
  await broadcast.ended()
  const found = (await app.manage('GET', '/organization/contacts?query=incomplete')).body.data[0]
  await app.manage('PATCH', `/organization/contacts/${found.id}`, { attributes: { city: 'Graz' } })
  expect((await broadcast.act('retry-failed')).status).toBe(200)
  await until('the failed recipient', () => relay.mails.length === 3)
  expect((await broadcast.ended()).counts).toMatchObject({ sent: 3, failed: 0 })
  expect(relay.mails.at(-1)!.recipient).toBe('incomplete@example.com')
  expect((await broadcast.act('retry-failed')).status).toBe(409)
  expect(await other.readRows()).toEqual(other.stored)
})

test('retrying needs an active flow but not the audience, and ends as it began if it cannot start', async () => {
  const relay = sharedRelay.reset()
  const app = await newOrganization()
  const { group, create, flow } = await fill(app)
  const readers = await group('Readers', emails('a', 2))
  const broadcast = await create([readers, await group('Incomplete', ['incomplete@example.com'], {})])
  await broadcast.start()
  await broadcast.ended()
  const setFlow = (status: string) => app.manage('PATCH', `/organization/flows/${flow}`, { status })
  const failed = [{ email: 'incomplete@example.com', reason: 'missing variables: city' }]
  const endedBecause = async (reason: string) => {
    const end = async () => {
      const now = await broadcast.get()
      return now.reason === reason && now
    }
    expect(await until('the end of the retry', end)).toMatchObject({
      status: 'sent',
      counts: { recipients: 3, sent: 2, failed: 1, cancelled: 0 },
    })
    expect(await broadcast.recipients('failed')).toMatchObject(failed)
  }

  await setFlow('paused')
  const refused = await broadcast.act('retry-failed')
  expect([refused.status, refused.body.error.type]).toEqual([409, 'flow_not_active'])
  expect(await broadcast.get()).toMatchObject({ status: 'sent', counts: { failed: 1 } })

  // The flow is paused after the recipients were selected.
  await setFlow('active')
  await app.db.begin(async (tx) => {
    await tx`lock table broadcast_recipients in share mode`
    expect((await broadcast.act('retry-failed')).status).toBe(200)
    await until('the step to wait', async () => (await lockWaits(app.db)).length > 0)
    await setFlow('paused')
  })
  await endedBecause('not_ready')

  // As if all processes had been killed for two hours, after a part of the recipients was selected.
  await setFlow('active')
  const key = { organizationId: parseId('org', app.organizationId)!, id: parseId('brc', broadcast.id)! }
  await app.db.begin(async (tx) => {
    await tx`
      update broadcasts set status = 'preparing', starts_at = now() - interval '2 hours' where id = ${key.id}`
    enqueueStep(tx, key, 'prepare', 0)
    await resetFailed(tx, key, { after: firstContactId, to: lastContactId })
  })
  await endedBecause('missed')

  const [found] = (await app.manage('GET', '/organization/contacts?query=incomplete')).body.data
  await app.manage('PATCH', `/organization/contacts/${found.id}`, { attributes: { city: 'Graz' } })
  expect((await app.manage('DELETE', `/organization/groups/${readers}`)).status).toBe(200)
  expect((await broadcast.act('retry-failed')).status).toBe(200)
  await until('the failed recipient', () => relay.mails.length === 3)
  expect(await broadcast.ended()).toMatchObject({ reason: null, counts: { recipients: 3, sent: 3, failed: 0 } })
})

test('a broadcast stays sent if sending it again is cancelled, with the same failed recipients', async () => {
  const relay = sharedRelay.reset()
  const app = await newOrganization()
  const { create, groups } = await createIncomplete(app)
  const broadcast = await create(groups)
  await broadcast.start()
  const { counts } = await broadcast.ended()
  expect(counts).toMatchObject({ sent: 2, failed: 1 })
  const [found] = (await app.manage('GET', '/organization/contacts?query=incomplete')).body.data
  await app.manage('PATCH', `/organization/contacts/${found.id}`, { attributes: { city: 'Graz' } })

  // Cancelled while the failed recipients are being selected.
  await app.db.begin(async (tx) => {
    await tx`lock table broadcast_recipients in share mode`
    expect((await broadcast.act('retry-failed')).status).toBe(200)
    await until('the step to wait', async () => (await lockWaits(app.db)).length > 0)
    expect((await broadcast.act('cancel')).status).toBe(200)
  })
  expect(await broadcast.ended()).toMatchObject({ status: 'sent', counts })

  // Cancelled while an email is deferred.
  relay.onSender = () => ({ code: 454, text: '4.7.0 Try again later' })
  expect((await broadcast.act('retry-failed')).status).toBe(200)
  await until('the deferred email', async () => (await broadcast.get()).counts.queued === 1)
  expect((await broadcast.act('cancel')).status).toBe(200)
  expect(await broadcast.ended()).toMatchObject({ status: 'sent', counts })

  relay.onSender = () => undefined
  expect((await broadcast.act('retry-failed')).status).toBe(200)
  expect((await broadcast.ended()).counts).toMatchObject({ sent: 3, failed: 0 })
})

test('the last step of a paused broadcast waits until it is resumed, and no lane is left at the end', async () => {
  const relay = sharedRelay.reset()
  relay.onSender = () => ({ code: 454, text: '4.7.0 Try again later' })
  const app = await newOrganization()
  const { group, create } = await fill(app)
  const broadcast = await create([await group('Readers', emails('reader', 1))])
  await broadcast.start()
  await until('the deferred email', async () => (await broadcast.get()).counts.queued === 1)
  await broadcast.act('pause')
  const id = parseId('brc', broadcast.id)
  const waitMs = async () => {
    const [step] = await app.db<{ ms: number }>`
      select extract(epoch from due_at - now())::float8 * 1000 as ms from jobs where kind = 'broadcast.step' and lane = ${id}::text`
    return step!.ms
  }
  await until('the step to wait', async () => (await waitMs()) > 10_000)
  relay.onSender = () => undefined
  await broadcast.act('resume')
  expect(await waitMs()).toBeLessThan(10_000)
  await app.db.statement`update jobs set due_at = now() where kind = 'message.send'`
  await app.db.statement`update lanes set next_due_at = now() where kind = 'message.send'`
  expect((await broadcast.ended()).counts).toMatchObject({ sent: 1 })
  await until('its lanes to be deleted', async () => {
    const lanes = await app.db`select from lanes where lane in (${id}::text, ${`${id}/0`}, ${`broadcast/${id}`})`
    return lanes.length === 0
  })
})

test('a recipient that is unsubscribed or suppressed after the start gets no email and is counted apart', async () => {
  const relay = sharedRelay.reset()
  const app = await newOrganization()
  const { make, group, create } = await fill(app)
  const broadcast = await create([await group('First', emails('a', 8))], { messages_per_hour: 3_600 })
  await broadcast.start()
  await until('the first emails', () => relay.mails.length > 0)
  await broadcast.act('pause')
  await noneInFlight(app)
  const already = new Set(relay.mails.map(({ recipient }) => recipient))
  const [unsubscribed, suppressed] = emails('a', 8).filter((email) => !already.has(email)) as [string, string]
  const { data } = (await app.manage('GET', `/organization/contacts?query=${unsubscribed}`)).body
  await app.manage('PATCH', `/organization/contacts/${data[0].id}`, { status: 'unsubscribed' })
  await make('/suppressions', { email: suppressed })
  await broadcast.act('resume')
  const sent = await broadcast.ended()
  expect(sent.counts).toMatchObject({ recipients: 8, sent: 6, suppressed: 1, unsubscribed: 1 })
  expect(await broadcast.recipients('suppressed')).toMatchObject([{ email: suppressed, reason: 'manual' }])
  expect(await broadcast.recipients('unsubscribed')).toMatchObject([{ email: unsubscribed, reason: 'unsubscribed' }])
})

test('a recipient that unsubscribes while a deferred email waits for a connection gets none', async () => {
  await using relay = await startRelay()
  const { promise: released, resolve: release } = withResolvers()
  const deferred = new Set<string>()
  let repeated = 0
  relay.onRecipient = async (address) => {
    if (deferred.has(address)) {
      repeated++
      await released
      return undefined
    }
    deferred.add(address)
    return { code: 451, text: '4.7.1 Try again later' }
  }
  await using app = await startTestApp({ SMTP_URL: relay.url, SMTP_CONNECTIONS: '1', MAIL_RETRY_DELAYS: '600' })
  const { group, create } = await fill(app)
  const broadcast = await create([await group('Readers', emails('reader', 2))])
  await broadcast.start()
  await until('deferred emails', async () => (await broadcast.get()).counts.queued === 2)
  // Both are due at once, so they are read together, and one of them waits for the only connection.
  await app.db.statement`update jobs set due_at = now() where kind = 'message.send'`
  await app.db.statement`update lanes set next_due_at = now() where kind = 'message.send'`
  await until('a second attempt', () => repeated === 1)
  await app.db.statement`update contacts set subscription = 'unsubscribed'`
  // Their rows were read before, and may be used for a while.
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  release()
  expect((await broadcast.ended()).counts).toMatchObject({ recipients: 2, sent: 1, unsubscribed: 1 })
  expect(relay.mails).toHaveLength(1)
})

test('recipients that unsubscribe, are suppressed or erased while their emails wait for a connection get none', async () => {
  await using relay = await startRelay({ parse: false })
  const { promise: held, resolve: release } = withResolvers()
  const started: string[] = []
  relay.onRecipient = async (address) => {
    started.push(address)
    await held
    return undefined
  }
  await using app = await startTestApp({ SMTP_URL: relay.url, SMTP_CONNECTIONS: '1' })
  const { make, group, create } = await fill(app)
  const addresses = emails('a', 120)
  const broadcast = await create([await group('First', addresses)])
  await broadcast.start()
  await until('the first email', () => started.length > 0)
  const [suppressed, erased] = addresses.slice(-2) as [string, string]
  await make('/suppressions', { email: suppressed })
  const { data } = (await app.manage('GET', `/organization/contacts?query=${erased}`)).body
  await app.manage('DELETE', `/organization/contacts/${data[0].id}`)
  await app.db.statement`update contacts set subscription = 'unsubscribed'`
  // Their rows were read before, and may be used for a while.
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  const inTransfer = started.length
  release()
  const { counts } = await broadcast.ended()
  expect(relay.mails.length).toBeLessThanOrEqual(inTransfer)
  expect(counts).toMatchObject({ sent: relay.mails.length, suppressed: 2, unsubscribed: 118 - relay.mails.length })
  const reasons = (await broadcast.recipients('suppressed')).map(({ email, reason }) => [email, reason])
  expect(reasons).toEqual(
    expect.arrayContaining([
      [suppressed, 'manual'],
      [null, 'the contact was erased'],
    ]),
  )
})

test('deleting the organization stops its broadcasts', async () => {
  await using relay = await startRelay({ parse: false })
  relay.onData = () => new Promise((resolve) => setTimeout(() => resolve(undefined), 20))
  await using app = await startTestApp({ SMTP_URL: relay.url, SMTP_CONNECTIONS: '2' })
  const { group, create } = await fill(app)
  const broadcast = await create([await group('First', emails('a', 900))])
  await broadcast.start()
  await until('some emails', () => relay.mails.length > 20)
  expect((await app.manage('DELETE', '/organization', { name: 'Acme', password })).status).toBe(200)
  await noneInFlight(app)
  const arrived = relay.mails.length
  expect(arrived).toBeLessThan(600)
  expect(await app.db`select from broadcast_recipients where status = 'pending' limit 1`).toHaveLength(1)
})

oneServerTest('a worker that loses a part leaves the time of its emails to the next', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const { group, create } = await fill(app)
  // Another worker changes the part as soon as the first has reserved the time of an email.
  await app.db.pool.query(`
    create sequence reservations;
    create function take_part_over() returns trigger language plpgsql as $$
    begin
      perform nextval('reservations');
      update broadcast_parts set revision = revision + 1 where broadcast_id = new.id;
      return null;
    end $$;
    create trigger take_part_over after update of next_chunk_at on broadcasts
    for each row when (new.next_chunk_at is distinct from old.next_chunk_at) execute function take_part_over()`)
  const broadcast = await create([await group('First', emails('a', 2))], { messages_per_hour: 1 })
  await broadcast.start()
  await until('a reservation', async () => {
    const { rows } = await app.db.pool.query('select is_called from reservations')
    return rows[0].is_called
  })
  await app.db.pool.query('drop trigger take_part_over on broadcasts')
  await until('the first email', () => relay.mails.length === 1)
})

test('pause stops sending and resume continues without repeating; cancel ends it', async () => {
  await using relay = await startRelay({ parse: false })
  // Slow enough that hundreds of emails are waiting for a connection.
  relay.onData = () => new Promise((resolve) => setTimeout(() => resolve(undefined), 20))
  await using app = await startTestApp({ SMTP_URL: relay.url, SMTP_CONNECTIONS: '4' })
  const { group, create } = await fill(app)
  const groupId = await group('First', emails('a', 1_200))
  const other = await storeOtherBroadcast(app)
  const broadcast = await create([groupId])
  await broadcast.start()
  await until('some emails', () => relay.mails.length > 50)
  const paused = (await broadcast.act('pause')).body.data
  expect(paused).toMatchObject({ status: 'paused', reason: 'user' })
  await noneInFlight(app)
  const arrived = relay.mails.length
  expect(arrived).toBeLessThan(1_200)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  expect(relay.mails.length).toBe(arrived)
  expect((await broadcast.get()).counts).toMatchObject({ sent: arrived, pending: 1_200 - arrived })
  expect((await broadcast.act('pause')).status).toBe(409)

  expect((await broadcast.act('resume')).body.data.status).toBe('sending')
  await until('more emails', () => relay.mails.length > arrived + 100)
  expect((await broadcast.act('cancel')).body.data.status).toBe('cancelled')
  const cancelled = await until('the end', async () => {
    const now = await broadcast.get()
    return now.counts.cancelled + now.counts.sent === 1_200 && now.counts.cancelled > 0 && now
  })
  await until('the records', async () => (await broadcast.get()).counts.sent === relay.mails.length)
  expect(sum(cancelled.counts)).toBe(1_200)
  expect([...countBy(relay).values()].every((count) => count === 1)).toBe(true)
  expect((await broadcast.act('resume')).status).toBe(409)
  expect(await other.readRows()).toEqual(other.stored)
})

test('a relay that defers everything for a while loses nobody', async () => {
  await using relay = await startRelay({ parse: false })
  let isDeferring = true
  relay.onSender = () => (isDeferring ? { code: 454, text: '4.7.0 Try again later' } : undefined)
  await using app = await startTestApp({ SMTP_URL: relay.url, MAIL_RETRY_DELAYS: Array(20).fill(2).join() })
  const { group, create } = await fill(app)
  const broadcast = await create([await group('First', emails('a', 60))])
  await broadcast.start()
  await until('deferred emails', async () => (await broadcast.get()).counts.queued >= 20)
  const [deferred] = await broadcast.recipients('queued')
  const single = await app.manage('DELETE', `/organization/messages/${deferred!.message_id}`)
  expect([single.status, single.body.message]).toEqual([
    409,
    'This email belongs to a broadcast. Cancel the broadcast instead.',
  ])
  isDeferring = false
  const sent = await broadcast.ended()
  expect(sent.counts).toMatchObject({ sent: 60, queued: 0, pending: 0 })
  expect(countBy(relay).size).toBe(60)
  expect(relay.mails).toHaveLength(60)
})

test('a bounce that is reported while a deferred email is sent again is counted', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({
    SMTP_URL: relay.url,
    MAIL_RETRY_DELAYS: '1',
    PROVIDER_POSTMARK_TOKEN: postmark,
  })
  let attempts = 0
  relay.onRecipient = () => (attempts++ === 0 ? { code: 451, text: '4.7.1 Try again later' } : undefined)
  const reports: number[] = []
  relay.onData = async ({ mail }) => {
    reports.push((await reportBounce(app, mail)).status)
    return undefined
  }
  const { group, create } = await fill(app)
  const broadcast = await create([await group('Readers', emails('reader', 1))])
  await broadcast.start()
  await until(
    'the second attempt',
    async () => (await app.db`select from events where event_name = 'emailSent'`).length === 1,
  )
  expect([attempts, reports]).toEqual([2, [200]])
  // One of the next checks also compares the ledger with the messages.
  await app.db.statement`update jobs set attempt = 27 where kind = 'broadcast.step'`
  expect((await broadcast.ended()).counts).toMatchObject({ sent: 0, bounced: 1, queued: 0 })
  const [bounced] = await broadcast.recipients('bounced')
  expect(bounced).toMatchObject({ reason: 'mailbox_full' })
  const message = await getMessage(app, bounced!.message_id!)
  expect(message).toMatchObject({ status: 'bounced', engagement: 'bounced', sent_at: expect.any(String) })
})
