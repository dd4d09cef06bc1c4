import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createFlow, orderFlow, send } from '../../../test/support/flows.ts'
import { getMessage } from '../../../test/support/messages.ts'
import { registerOther } from '../../../test/support/people.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { create } from '../../../test/support/resources.ts'
import { announcedSeed } from '../../../test/support/seeded.ts'
import { freePort } from '../../../test/support/service.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { parseId } from '../../platform/values/ids.ts'

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()
const dayMs = 24 * 60 * 60 * 1000
const idOf = (answer: { body: { data: { message_id: string } } }) => answer.body.data.message_id
const cancel = ({ manage }: Pick<TestApp, 'manage'>, id: string) => manage('DELETE', `/organization/messages/${id}`)
const statusIs = (app: TestApp, id: string, status: string) =>
  until(`the status ${status}`, async () => {
    const message = await getMessage(app, id)
    return message.status === status && message
  })

/** Makes scheduled emails due now, so that what has to happen before may take as long as it takes. */
async function makeDue({ db }: TestApp): Promise<void> {
  await db.statement`update messages set send_at = now() where send_at is not null`
  await db.statement`update jobs set due_at = now()`
  await db.statement`update lanes set next_due_at = now()`
}

test('an email that is scheduled a moment ahead is not sent before its time', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const receivedAt = new Map<string, number>()
  relay.onRecipient = (address) => void receivedAt.set(address, Date.now())
  const flowId = await createFlow(app)
  const sendAts = new Map<string, string | null>()
  for (let n = 0; n < 40; n++) {
    const email = `c${n}@example.com`
    const { body } = await send(app, flowId, { contact_email: email, send_at: inMs(90) })
    sendAts.set(email, body.data.send_at)
  }
  await until('the emails', () => receivedAt.size === sendAts.size)
  expect([...sendAts].filter(([, sendAt]) => sendAt !== null).length).toBeGreaterThan(0)
  const early = [...sendAts].filter(([email, sendAt]) => sendAt && receivedAt.get(email)! < Date.parse(sendAt))
  expect(early).toEqual([])
})

test('an email is sent at its time, as it was when it was accepted', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const flowId = await createFlow(app, {
    subject: 'At {{ "now" | date: "%Y-%m-%d %H:%M:%S" }}',
    html: '<p>At {{ "now" | date: "%Y-%m-%d %H:%M:%S" }}, order {{ order_id }}</p>',
  })
  const tomorrow = inMs(dayMs)
  const later = await send(app, flowId, { send_at: tomorrow })
  const waiting = { status: 'scheduled', send_at: tomorrow, sent_at: null, waiting: null }
  expect(await getMessage(app, idOf(later))).toMatchObject(waiting)
  const listed = async (status: string) =>
    (await app.manage('GET', `/organization/messages?status=${status}`)).body.data
  expect((await listed('scheduled')).map((message: { id: string }) => message.id)).toEqual([idOf(later)])
  expect(await listed('queued')).toEqual([])
  expect((await app.manage('GET', '/organization/sending')).body.data.queued).toBe(0)
  const timeline = `/organization/contacts/${later.body.data.contact_id}/timeline`
  expect((await app.manage('GET', timeline)).body.data).toContainEqual(
    expect.objectContaining({ kind: 'message', status: 'scheduled' }),
  )

  const sendAt = inMs(4_000)
  const answer = await send(app, flowId, { send_at: sendAt.replace('Z', '+00:00') })
  expect(answer.body).toMatchObject({ message: 'Email scheduled', data: { status: 'scheduled', send_at: sendAt } })
  // Neither a newer version nor a pause of the flow affects an email that was accepted.
  await app.manage('PATCH', `/organization/flows/${flowId}`, { html: '<p>New</p>', status: 'paused' })
  const sent = await statusIs(app, idOf(answer), 'sent')
  expect(Date.parse(sent.sent_at)).toBeGreaterThanOrEqual(Date.parse(sendAt))
  const shown = sendAt.slice(0, 19).replace('T', ' ')
  expect(sent).toMatchObject({ subject: `At ${shown}`, send_at: sendAt, flow_version: 1 })
  expect(sent.html).toContain(`At ${shown}, order 1042`)
  expect(relay.mails).toHaveLength(1)
  expect(relay.mails[0]!.mail.html).toContain(`At ${shown}, order 1042`)
  expect(Date.parse(relay.mails[0]!.mail.date!)).toBe(Math.floor(Date.parse(sendAt) / 1000) * 1000)
})

test('a time that has passed sends at once; other times must be valid and within 90 days', async () => {
  await using app = await startTestApp({}, ['serve'])
  const flowId = await createFlow(app)
  for (const send_at of [null, undefined, '2020-01-01T00:00:00Z', inMs(-1_000)]) {
    const answer = await send(app, flowId, { send_at })
    expect(answer.body).toMatchObject({ message: 'Email queued', data: { status: 'queued', send_at: null } })
  }
  const far = inMs(91 * dayMs)
  for (const send_at of ['tomorrow', '2099-01-01', '2099-01-01T10:00:00', '2027-02-30T10:00:00Z', '', 7, far]) {
    const answer = await send(app, flowId, { send_at })
    expect([send_at, answer.status]).toEqual([send_at, 422])
    expect(answer.body.error).toMatchObject({ type: 'validation_failed', fields: [{ path: 'send_at' }] })
  }
  expect((await send(app, flowId, { send_at: inMs(89 * dayMs) })).body.data.status).toBe('scheduled')
  const test = { to: 'ada@example.com', context: { order_id: 1 }, send_at: inMs(dayMs) }
  const tested = await app.manage('POST', `/organization/flows/${flowId}/test`, test)
  expect(tested.body.data).toMatchObject({ status: 'scheduled', send_at: test.send_at })
})

test('a repeated request returns the scheduled email; another time is another request', async () => {
  await using app = await startTestApp({}, ['serve'])
  const flowId = await createFlow(app)
  const headers = { 'idempotency-key': 'order-7' }
  const send_at = inMs(dayMs)
  const first = await send(app, flowId, { send_at }, headers)
  const again = await send(app, flowId, { send_at }, headers)
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(again.body).toEqual(first.body)
  const other = await send(app, flowId, { send_at: inMs(2 * dayMs) }, headers)
  expect(other.body.error.type).toBe('idempotency_key_reused')
  const [row] = await app.db`select count(*) from jobs`
  expect(row).toEqual({ count: 1 })
})

test('a cancelled email is never sent, and only the organization can cancel it', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const flowId = await createFlow(app)
  const send_at = inMs(dayMs)
  const [managed, viaKey] = [await send(app, flowId, { send_at }), await send(app, flowId, { send_at })]
  const other = await registerOther(app)
  expect((await cancel(other, idOf(managed))).status).toBe(404)
  expect((await cancel(app, 'msg_unknown')).status).toBe(404)

  const cancelled = await cancel(app, idOf(managed))
  expect([cancelled.status, cancelled.body.data]).toMatchObject([200, { status: 'cancelled', send_at }])
  expect((await cancel(app, idOf(managed))).status).toBe(200)
  const byKey = await app.publicApi('DELETE', `/messages/${idOf(viaKey)}`)
  expect(byKey.body.data).toEqual({ message_id: idOf(viaKey), status: 'cancelled' })
  expect(await app.db`select from jobs`).toEqual([])

  // Scheduled for the same time as the cancelled ones, which then passes.
  const last = await send(app, flowId, { send_at, contact_email: 'last@example.com' })
  await makeDue(app)
  const sent = await statusIs(app, idOf(last), 'sent')
  expect(relay.mails.map(({ recipient }) => recipient)).toEqual(['last@example.com'])
  const refused = await cancel(app, sent.id)
  expect([refused.status, refused.body.error.type]).toEqual([409, 'conflict'])
  expect(refused.body.message).toContain('it is not queued')
  expect((await getMessage(app, idOf(managed))).status).toBe('cancelled')
})

test('cancelling at the moment of sending either prevents the email or is rejected', async () => {
  const random = announcedSeed('cancel and send')
  await using relay = await startRelay({ parse: false })
  await using app = await startTestApp({ SMTP_URL: relay.url, MAIL_RETRY_DELAYS: '0.2,0.2,0.2,0.2,0.2,0.2' })
  const flowId = await createFlow(app)
  // Some are deferred first: between attempts, they can be cancelled as well.
  const deferrals = random.fork()
  relay.onData = () => (deferrals.chance(0.3) ? { code: 451, text: '4.7.1 Try again later' } : undefined)
  const runs = Array.from({ length: 120 }, async (_, index) => {
    // On a busy machine, a request takes a second, and a time in the past is rejected.
    const waitMs = random.int(1_500, 3_200)
    const offsetMs = random.int(-150, 400)
    const send_at = random.chance(0.8) ? inMs(waitMs) : null
    const id = idOf(await send(app, flowId, { send_at, contact_email: `p${index}@example.com` }))
    await sleep(Math.max(0, (send_at ? waitMs : 0) + offsetMs))
    return { id, recipient: `p${index}@example.com`, status: (await cancel(app, id)).status }
  })
  const results = await Promise.all(runs)
  await until('all outcomes', async () => (await app.db`select from messages where status = 'queued'`).length === 0)
  const reached = relay.mails.map(({ recipient }) => recipient).sort()
  const refused = results.filter(({ status }) => status === 409)
  const cancelled = results.filter(({ status }) => status === 200)
  expect(refused.length + cancelled.length).toBe(120)
  expect([refused.length > 0, cancelled.length > 0]).toEqual([true, true])
  // Deferred too often: rejected, but not delivered.
  const bounced = new Set(
    (await app.db<{ email: string }>`select email from messages where status = 'bounced'`).map(({ email }) => email),
  )
  expect(reached).toEqual(
    refused
      .map(({ recipient }) => recipient)
      .filter((email) => !bounced.has(email))
      .sort(),
  )
  const statuses = await app.db<{
    id: string
    status: string
  }>`select id, status from messages where status = 'cancelled'`
  expect(statuses.map(({ id }) => id).sort()).toEqual(cancelled.map(({ id }) => parseId('msg', id) as string).sort())
})

test('while the mail server is unreachable, queued emails can be cancelled', async () => {
  const port = await freePort()
  await using app = await startTestApp({ SMTP_URL: `smtp://127.0.0.1:${port}` })
  const flowId = await createFlow(app)
  const [first, second] = [
    idOf(await send(app, flowId)),
    idOf(await send(app, flowId, { contact_email: 'b@example.com' })),
  ]
  await until('the outage', async () => (await getMessage(app, first)).waiting?.cause === 'mail_server_unreachable')
  expect((await cancel(app, first)).body.data).toMatchObject({ status: 'cancelled' })
  await using back = await startRelay({ port })
  await statusIs(app, second, 'sent')
  expect(back.mails.map(({ recipient }) => recipient)).toEqual(['b@example.com'])
})

test('emails that were due when the mail server vanished can be cancelled, scheduled and deferred ones', async () => {
  const relay = await startRelay()
  relay.onData = () => ({ code: 451, text: '4.7.1 Try again later' })
  await using app = await startTestApp({ SMTP_URL: relay.url, MAIL_RETRY_DELAYS: '3600' })
  const flowId = await createFlow(app)
  const deferred = idOf(await send(app, flowId))
  await until('the deferral', async () => (await getMessage(app, deferred)).waiting?.cause === 'deferred')
  const scheduled = await Promise.all(
    [1, 2, 3].map(async (n) =>
      idOf(await send(app, flowId, { send_at: inMs(dayMs), contact_email: `p${n}@example.com` })),
    ),
  )
  await relay.stop()
  await makeDue(app)
  const stateOf = async () => (await app.manage('GET', '/organization/sending')).body.data.state
  await until('the outage to be noticed', async () => (await stateOf()) === 'failing')
  for (const id of [deferred, ...scheduled]) {
    const answer = await cancel(app, id)
    expect([answer.status, answer.body.data?.status]).toEqual([200, 'cancelled'])
  }
  await using back = await startRelay({ port: relay.port })
  const last = idOf(await send(app, flowId, { contact_email: 'last@example.com' }))
  await statusIs(app, last, 'sent')
  expect(back.mails.map(({ recipient }) => recipient)).toEqual(['last@example.com'])
})

test('an email whose first attempt ended with a fault can be cancelled', async () => {
  await using app = await startTestApp({}, ['serve'])
  const flowId = await createFlow(app)
  const id = idOf(await send(app, flowId))
  await app.db.statement`update jobs set due_at = now() + interval '1 hour', attempt = 1`
  expect((await cancel(app, id)).body.data).toMatchObject({ status: 'cancelled' })
})

test('what happens to the contact in between applies when the email is due', async () => {
  await using app = await startTestApp()
  const flowId = await createFlow(app, { ...orderFlow, name: 'News', kind: 'marketing' })
  const add = async (email: string) => (await create(app, '/contacts', { email, first_name: 'Before' })).id as string
  const schedule = async (email: string) =>
    idOf(await send(app, flowId, { contact_email: email, send_at: inMs(dayMs) }))
  const people = ['unsubscribed', 'suppressed', 'erased', 'renamed'].map((name) => `${name}@example.com`)
  const contacts: string[] = []
  for (const email of people) contacts.push(await add(email))
  const ids: string[] = []
  for (const email of people) ids.push(await schedule(email))
  await app.manage('PATCH', `/organization/contacts/${contacts[0]}`, { status: 'unsubscribed' })
  await app.manage('POST', '/organization/suppressions', { email: people[1] })
  await app.manage('DELETE', `/organization/contacts/${contacts[2]}`)
  await app.manage('PATCH', `/organization/contacts/${contacts[3]}`, { first_name: 'After' })
  await makeDue(app)
  const renamed = await statusIs(app, ids[3]!, 'sent')
  expect(renamed.html).toContain('Hello Before')
  expect(await statusIs(app, ids[0]!, 'suppressed')).toMatchObject({ reason: 'unsubscribed' })
  expect(await statusIs(app, ids[1]!, 'suppressed')).toMatchObject({ reason: 'manual' })
  expect(await statusIs(app, ids[2]!, 'suppressed')).toMatchObject({ reason: 'the contact was erased' })
  expect((await app.manage('GET', '/organization/inbox')).body.data).toHaveLength(1)
})
