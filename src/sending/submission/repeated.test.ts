import { randomUUID } from 'node:crypto'
import { createTransport, type SendMailOptions } from 'nodemailer'
import { afterAll, expect, test } from 'vitest'
import { registerOther } from '../../../test/support/people.ts'
import { startRawSmtp } from '../../../test/support/raw-smtp.ts'
import { create, createKey } from '../../../test/support/resources.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'

const sink = await startRawSmtp()
const environment = { SUBMISSION_PORT: '0', SMTP_URL: sink.url }
const newApp = await startSharedApp(environment)
afterAll(() => sink.close())

const newMessageId = () => `<${randomUUID()}@acme.example>`

/** Returns the reply, whether the email is accepted or rejected. */
const submit = ({ app, apiKey }: TestApp, email: SendMailOptions): Promise<string> =>
  createTransport({ host: '127.0.0.1', port: app.submissionPorts().port!, auth: { user: 'waxwing', pass: apiKey } })
    .sendMail({ from: 'Acme <hello@acme.example>', ...email })
    .then(
      ({ response }) => response,
      (error: { response: string }) => error.response,
    )

const sentTo = (address: string) => sink.mails.filter(({ to }) => to === address)
const headerOf = (raw: Buffer, name: string) => new RegExp(`^${name}: (.*)\r$`, 'm').exec(raw.toString('latin1'))?.[1]

async function createFlow(app: TestApp): Promise<string> {
  const flow = { name: 'Order', kind: 'transactional', subject: 'Order {{ order_id }}', html: '<p>{{ order_id }}</p>' }
  return (await create(app, '/flows', flow)).id
}
const through = (flowId: string, context: object) => ({
  subject: 'ignored',
  headers: { 'X-Waxwing-Flow': flowId, 'X-Waxwing-Context': JSON.stringify(context) },
})

test('a Message-ID with other content is rejected, and one with the same content is one email', async () => {
  const app = await newApp()
  const attached = (content: string) => ({ attachments: [{ filename: 'invoice.txt', content }] })
  const email = { to: 'repeated@example.com', messageId: newMessageId(), subject: 'Invoice', text: 'See the invoice.' }
  const first = await submit(app, { ...email, ...attached('EUR 12.00') })
  expect(first).toMatch(/^250 .*Queued as msg_/)
  // Composed again, with other boundaries and another date.
  expect(await submit(app, { ...email, ...attached('EUR 12.00'), date: new Date(0) })).toBe(first)
  const changes = [{ text: 'See the receipt.' }, { subject: 'Receipt' }, attached('EUR 1,200.00')]
  for (const change of changes)
    expect(await submit(app, { ...email, ...attached('EUR 12.00'), ...change })).toMatch(
      /^550 5\.6\.0 An email with this Message-ID and other content was accepted/,
    )
  await until('the email', () => sentTo(email.to).length > 0)
  expect(sentTo(email.to)).toHaveLength(1)

  const flowId = await createFlow(app)
  const order = { to: 'order@example.com', messageId: newMessageId() }
  const accepted = await submit(app, { ...order, ...through(flowId, { order_id: 1 }) })
  expect(accepted).toMatch(/^250 /)
  expect(await submit(app, { ...order, ...through(flowId, { order_id: 1 }) })).toBe(accepted)
  expect(await submit(app, { ...order, ...through(flowId, { order_id: 2 }) })).toMatch(/^550 5\.6\.0 /)
})

test('an email through a flow is accepted for all recipients or for none', async () => {
  await using app = await startTestApp({ ...environment, NEW_ORGANIZATION_DAILY_MESSAGES: '2' })
  const other = await registerOther(app)
  const registered = { ...app, manage: other.manage, apiKey: await createKey(other) } as TestApp
  const email = through(await createFlow(registered), { order_id: 1 })
  const people = ['all-1@example.com', 'all-2@example.com', 'all-3@example.com']
  expect(await submit(registered, { ...email, to: people })).toMatch(/^451 4\.7\.1 /)
  // Nothing of the quota was used.
  expect(await submit(registered, { ...email, to: people.slice(0, 2) })).toMatch(/^250-.*\r?\n?250 /s)
  await until('the emails', () => people.filter((address) => sentTo(address).length > 0).length === 2)
  expect(people.map((address) => sentTo(address).length)).toEqual([1, 1, 0])
})

test('an email through a flow with a slow template is accepted for more recipients than task processes take at once', async () => {
  const app = await newApp()
  const slow = {
    name: 'Report',
    kind: 'transactional',
    subject: '{{ order_id }}',
    html: '<p>{{ order_id }}</p>'.repeat(300),
  }
  const { id } = await create(app, '/flows', slow)
  const people = Array.from({ length: 30 }, (_, index) => `slow-${index}@example.com`)
  const reply = await submit(app, { ...through(id, { order_id: 1 }), to: people })
  expect(reply.match(/Queued as msg_/g)).toHaveLength(people.length)
})

test('a submitted email that is sent again has another Message-ID and date', async () => {
  const app = await newApp()
  const to = 'again@example.com'
  const email = { to, messageId: newMessageId(), date: new Date('2026-01-02T03:04:05Z'), subject: 'Hi', text: 'Hello' }
  const [, id] = /Queued as (msg_\w+)/.exec(await submit(app, email))!
  await until('the email', () => sentTo(to).length === 1)
  expect((await app.manage('POST', `/organization/messages/${id}/send-again`)).status).toBe(200)
  await until('the second email', () => sentTo(to).length === 2)
  const [first, second] = sentTo(to).map(({ raw }) => raw)
  expect(headerOf(first!, 'Message-ID')).toBe(email.messageId)
  expect(headerOf(second!, 'Message-ID')).toMatch(/^<[\w-]+@acme\.example>$/)
  expect(headerOf(second!, 'Message-ID')).not.toBe(email.messageId)
  expect(Date.parse(headerOf(second!, 'Date')!)).toBeGreaterThan(Date.now() - 3_600_000)
  expect([headerOf(second!, 'Subject'), headerOf(second!, 'To')]).toEqual(['Hi', to])
})
