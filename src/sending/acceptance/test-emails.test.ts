import { afterAll, beforeAll, expect, test } from 'vitest'
import { deliver, deliveryStatusMail } from '../../../test/support/bounce-sender.ts'
import { createFlow } from '../../../test/support/flows.ts'
import { lockWaits } from '../../../test/support/lock-waits.ts'
import { getMessage } from '../../../test/support/messages.ts'
import { startRelay, type TestRelay } from '../../../test/support/relay.ts'
import { create } from '../../../test/support/resources.ts'
import { callUrl, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { withResolvers } from '../../../test/support/with-resolvers.ts'
import { eraseInTransaction } from '../../operations/privacy/erase-contact.ts'
import { type ContactId, type OrganizationId, parseId } from '../../platform/values/ids.ts'

const template = {
  name: 'News',
  kind: 'marketing',
  subject: 'News for {{ contact.first_name | default: "you" }}',
  html: '<p><a href="https://shop.example/{{ path }}">Read</a></p>',
}

let app: TestApp
let relay: TestRelay
let flowId: string
beforeAll(async () => {
  relay = await startRelay()
  app = await startTestApp({
    SMTP_URL: relay.url,
    BOUNCE_DOMAIN: 'bounces.acme.example',
    BOUNCE_SMTP_PORT: '0',
    BOUNCE_SMTP_HOST: '127.0.0.1',
  })
  flowId = await createFlow(app, template)
  await app.manage('POST', '/organization/webhooks', { name: 'CRM', url: 'http://127.0.0.1:9/', all_events: true })
  await app.manage('POST', '/organization/contacts', { email: 'grace@example.com', first_name: 'Grace' })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await relay[Symbol.asyncDispose]()
})

const sendTest = (to: unknown, context: object = { path: 'news' }) =>
  app.manage('POST', `/organization/flows/${flowId}/test`, { to, context })
const message = (id: string) => getMessage(app, id)
const mailTo = (address: string) => until('the email', () => relay.mails.find(({ recipient }) => recipient === address))

/** Everything that an ordinary email leaves behind. */
async function traces() {
  const [row] = await app.db<object>`
    select (select count(*) from events) as events, (select count(*) from event_counters) as counters,
      (select count(*) from first_occurrences) as firsts, (select count(*) from deliveries) as deliveries,
      (select count(*) from suppressions) as suppressions, (select array_agg(email) from contacts) as contacts,
      (select array_agg(subscription) from contacts) as subscriptions`
  return row
}

test('test emails reach several recipients, are marked, and leave no contacts, metrics, events or deliveries', async () => {
  const before = await traces()

  const { status, body } = await sendTest(['Grace@Example.com', 'new@example.com', 'NEW@example.com'])

  expect(status).toBe(200)
  const { emails, ...first } = body.data
  expect(emails).toHaveLength(2)
  expect(first).toEqual(emails[0])
  expect(emails).toMatchObject([
    { contact_id: expect.stringMatching(/^con_/), contact_email: 'grace@example.com', contact_created: false },
    { contact_id: null, contact_email: 'new@example.com', contact_created: false, status: 'queued' },
  ])
  const { mail, sender } = await mailTo('new@example.com')
  expect(mail.subject).toBe('[Test] News for you')
  expect((await mailTo('grace@example.com')).mail.subject).toBe('[Test] News for Grace')
  const [known, stranger] = emails.map((email: { message_id: string }) => email.message_id)
  const listed = (await app.manage('GET', '/organization/messages')).body.data
  expect(listed).toMatchObject([
    { id: stranger, is_test: true, contact: { id: null, email: 'new@example.com' }, subject: '[Test] News for you' },
    { id: known, is_test: true, contact: { id: expect.stringMatching(/^con_/), email: 'grace@example.com' } },
  ])

  const local = (pattern: RegExp) => `${app.url}${pattern.exec(mail.html!)![0]}`
  const click = local(/\/t\/c\/[\w/-]+/)
  for (const method of ['GET', 'HEAD']) {
    const clicked = await callUrl(method, click)
    expect(clicked.headers.get('location')).toBe('https://shop.example/news')
    expect((await callUrl(method, local(/\/t\/o\/[\w-]+/))).status).toBe(200)
  }
  const unsubscribe = local(/\/u\/[\w-]+/)
  for (const [method, path] of [
    ['GET', ''],
    ['POST', ''],
    ['POST', '/undo'],
  ] as const) {
    const page = await callUrl(method, `${unsubscribe}${path}`)
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('This is a test email')])
  }
  expect((await callUrl('GET', `${unsubscribe}x`)).status).toBe(404)

  await until('the message to be sent', async () => (await message(stranger)).status === 'sent')
  await deliver(app.app.bouncePort()!, '', sender, deliveryStatusMail(sender, { recipient: 'new@example.com' }))
  await until('the bounce', async () => (await message(stranger)).status === 'bounced')
  expect(await message(stranger)).toMatchObject({ events: [], sent_at: expect.any(String) })

  expect(await traces()).toEqual(before)
})

test('a test email that the relay rejects is bounced, without an event or a suppression', async () => {
  relay.onRecipient = (address) =>
    address.startsWith('nobody') ? { code: 550, text: '5.1.1 No such user' } : undefined
  const before = await traces()
  const { data } = (await sendTest('nobody@example.com')).body
  const bounced = await until('the bounce', async () => {
    const found = await message(data.message_id)
    return found.status === 'bounced' ? found : undefined
  })
  expect(bounced).toMatchObject({ is_test: true, engagement: null, events: [] })
  expect((await app.manage('GET', '/organization/messages?engagement=bounced')).body.data).toEqual([])
  expect(await traces()).toEqual(before)
})

test('tests are refused as a whole if an address or the context is wrong, and suppressed addresses get none', async () => {
  const count = async () => (await app.db`select from messages`).length
  const before = await count()
  const eleven = Array.from({ length: 11 }, (_, index) => `person${index}@example.com`)
  expect((await sendTest(eleven)).status).toBe(422)
  expect((await sendTest([])).status).toBe(422)
  const wrong = await sendTest(['good@example.com', 'not an address'])
  expect([wrong.status, wrong.body.error.fields[0].path]).toEqual([422, 'to.1'])
  const missing = await sendTest(['good@example.com', 'grace@example.com'], {})
  expect([missing.status, missing.body.error.type]).toEqual([422, 'missing_variables'])
  expect(await count()).toBe(before)

  await app.manage('POST', '/organization/suppressions', { email: 'gone@example.com' })
  const sent = (await sendTest(['gone@example.com', 'here@example.com'])).body.data.emails
  expect(sent).toMatchObject([
    { status: 'suppressed', reason: 'manual' },
    { status: 'queued', reason: null },
  ])
  await mailTo('here@example.com')
})

test('exporting and erasing a contact include test emails that were sent before it existed', async () => {
  const { data } = (await sendTest('later@example.com', { path: 'private' })).body
  await mailTo('later@example.com')
  const contact = await app.manage('POST', '/organization/contacts', { email: 'Later@example.com' })
  const path = `/organization/contacts/${contact.body.data.id}`

  const exported = (await app.manage('GET', `${path}/export`)).body.data
  expect(exported.messages).toMatchObject([{ id: data.message_id, is_test: true }])
  await app.manage('DELETE', path)
  expect(await message(data.message_id)).toMatchObject({ contact: { email: '' }, subject: '', html: null })
})

test('an ordinary email to one contact can be sent with a session, and counts', async () => {
  const answer = await app.manage('POST', `/organization/flows/${flowId}/send`, {
    contact_email: 'grace@example.com',
    context: { path: 'news' },
  })
  expect(answer.body.data).toMatchObject({ status: 'queued', contact_created: false })
  await until('the event', async () => (await message(answer.body.data.message_id)).events.length === 1)
  const id = answer.body.data.message_id
  expect(await message(id)).toMatchObject({ is_test: false, subject: 'News for Grace' })
  const list = async (isTest: boolean): Promise<{ id: string; is_test: boolean }[]> =>
    (await app.manage('GET', `/organization/messages?is_test=${isTest}&flow_id=${flowId}`)).body.data
  expect(await list(false)).toMatchObject([{ id }])
  const tests = await list(true)
  expect(tests.length).toBeGreaterThan(0)
  expect(tests.filter(({ is_test }) => !is_test)).toEqual([])
})

test('a test email to a contact that is being erased leaves nothing of it', async () => {
  const email = 'ingrid@example.com'
  const contact = await create(app, '/contacts', { email, first_name: 'Ingrid' })
  const id = parseId('con', contact.id) as ContactId
  const { promise: committed, resolve: commit } = withResolvers()
  const { promise: erased, resolve: erase } = withResolvers()
  const erasing = app.db.begin(async (tx) => {
    await eraseInTransaction(tx, parseId('org', app.organizationId) as OrganizationId, id)
    erase()
    await committed
  })
  await erased
  let isAnswered = false
  const answering = sendTest(email).finally(() => {
    isAnswered = true
  })
  await until('the test to be sent or to wait', async () => isAnswered || (await lockWaits(app.db)).length > 0)
  commit()
  await erasing
  expect((await answering).body.data).toMatchObject({ contact_id: null, contact_email: email })
  expect(await app.db`select from messages where contact_id = ${id}`).toEqual([])
})
