import { afterAll, expect, test } from 'vitest'
import { emails, fill } from '../../../test/support/broadcasts.ts'
import { createFlow, send } from '../../../test/support/flows.ts'
import { addMailServer } from '../../../test/support/mail-servers.ts'
import { settledMessage } from '../../../test/support/messages.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { freePort } from '../../../test/support/service.ts'
import { startSharedApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { startReceiver } from '../../../test/support/webhook-receiver.ts'
import { parseId } from '../../platform/values/ids.ts'

const installation = await startRelay()
afterAll(() => installation[Symbol.asyncDispose]())
const newOrganization = await startSharedApp({
  SMTP_URL: installation.url,
  MAIL_RETRY_DELAYS: Array(20).fill(0.05).join(),
})

const attemptsOf = ({ db, organizationId }: TestApp) =>
  db`select distinct attempt from jobs where organization_id = ${parseId('org', organizationId)!} and kind = 'message.send'`

test('email leaves through the second mail server while the first refuses connections, and none is lost or doubled', async () => {
  await using second = await startRelay({ parse: false })
  const port = await freePort()
  const app = await newOrganization()
  await addMailServer(app, { name: 'First', url: `smtp://127.0.0.1:${port}`, priority: 1 })
  const backup = await addMailServer(app, { name: 'Second', url: second.url, priority: 2 })
  const flowId = await createFlow(app)
  const to = (n: number) => ({ contact_email: `c${n}@example.com` })
  const [first] = await Promise.all(Array.from({ length: 60 }, (_, n) => send(app, flowId, to(n))))
  await until('all emails', () => second.mails.length === 60)
  const message = await settledMessage(app, first!.body.data.message_id)
  expect(message).toMatchObject({ status: 'sent', mail_server: { id: backup, name: 'Second' } })
  expect(new Set(second.mails.map(({ recipient }) => recipient)).size).toBe(60)

  // It comes back by itself, because a connection is tried from time to time.
  await using primary = await startRelay({ port, parse: false })
  let n = 100
  await until('an email through the first', async () => {
    await send(app, flowId, to(n++))
    return primary.mails.length > 0
  })
  expect(primary.mails.length + second.mails.length).toBeLessThanOrEqual(60 + n - 100)
})

test('an email that may have been accepted waits for the same mail server, while others use the next', async () => {
  const primary = await startRelay()
  await using second = await startRelay()
  const app = await newOrganization()
  const id = await addMailServer(app, { url: primary.url, priority: 1 })
  await addMailServer(app, { url: second.url, priority: 2 })
  const flowId = await createFlow(app)
  // The complete email has arrived. Then the connection breaks without a reply, and no other can be opened.
  primary.onData = async () => {
    void primary.stop()
    primary.dropConnections()
    return undefined
  }
  const sent = await send(app, flowId)
  const { message_id: messageId } = sent.body.data
  await until('the email to arrive', () => primary.mails.length === 1)
  const other = await send(app, flowId, { contact_email: 'other@example.com' })
  await settledMessage(app, other.body.data.message_id)
  await until('its server to be found down', async () => {
    const { data } = (await app.manage('GET', `/organization/messages/${messageId}`)).body
    return data.waiting?.cause === 'mail_server_unreachable' && data.mail_server?.id === id
  })
  expect(second.mails.map(({ recipient }) => recipient)).toEqual(['other@example.com'])

  await using back = await startRelay({ port: primary.port })
  expect(await settledMessage(app, messageId)).toMatchObject({ status: 'sent', mail_server: { id } })
  expect(second.mails).toHaveLength(1)
  expect(back.mails.map(({ mail }) => mail.messageId)).toEqual(primary.mails.map(({ mail }) => mail.messageId))
})

test('while all mail servers of an organization are down, its email waits without using attempts and says why', async () => {
  const app = await newOrganization()
  const port = await freePort()
  await addMailServer(app, { name: 'Ours', url: `smtp://127.0.0.1:${port}` })
  const flowId = await createFlow(app)
  const sent = await send(app, flowId)
  const { message_id: id } = sent.body.data
  const shown = await until('the reason', async () => {
    const { body } = await app.manage('GET', `/organization/messages/${id}`)
    return body.data.waiting?.cause === 'mail_server_unreachable' && body.data
  })
  expect(shown).toMatchObject({
    status: 'queued',
    waiting: { detail: expect.stringMatching(/^Ours: .*refused/), attempts: 0 },
  })
  expect(shown.waiting.next_attempt_at).not.toBeNull()

  // Another organization is not affected, and its email does not go through this server.
  const other = await newOrganization()
  const before = installation.mails.length
  const otherSent = await send(other, await createFlow(other))
  expect(await settledMessage(other, otherSent.body.data.message_id)).toMatchObject({
    status: 'sent',
    mail_server: null,
  })
  expect(installation.mails).toHaveLength(before + 1)
  expect(await attemptsOf(app)).toEqual([{ attempt: 0 }])

  await using back = await startRelay({ port })
  expect(await settledMessage(app, id)).toMatchObject({ status: 'sent' })
  expect([installation.mails.length - before, back.mails.length]).toEqual([1, 1])
})

test('kinds, From domains and weights decide which mail server carries an email', async () => {
  await using marketing = await startRelay()
  await using brand = await startRelay()
  const app = await newOrganization()
  await addMailServer(app, { url: marketing.url, kinds: ['marketing'] })
  await addMailServer(app, { url: brand.url, kinds: ['transactional'], from_domains: ['brand.example'] })
  const before = installation.mails.length
  const news = await createFlow(app, { kind: 'marketing' })
  const ours = await createFlow(app, { from_email: 'hello@Brand.example' })
  const rest = await createFlow(app)
  await app.manage('POST', '/organization/contacts', { email: 'ada@example.com', subscription: 'subscribed' })
  for (const flowId of [news, ours, rest]) await settledMessage(app, (await send(app, flowId)).body.data.message_id)
  expect([marketing.mails.length, brand.mails.length, installation.mails.length - before]).toEqual([1, 1, 1])
  expect(brand.mails[0]!.mail.from?.address).toBe('hello@brand.example')
})

test('webhooks and owners are told once that a mail server is failing, and webhooks when it works again', async () => {
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  const app = await newOrganization()
  const port = await freePort()
  const id = await addMailServer(app, { name: 'Ours', url: `smtp://127.0.0.1:${port}` })
  const names = ['mailServerFailing', 'mailServerRecovered']
  await app.manage('POST', '/organization/webhooks', { name: 'Ops', url: receiver.url(), event_types: names })
  const sent = await send(app, await createFlow(app))
  // It is tried again and again. After some seconds this is no longer a restart.
  const failing = await until('the first event', () => receiver.posts[0], 30_000)
  expect(JSON.parse(String(failing.body))).toMatchObject({
    event_name: 'mailServerFailing',
    data: { id: id, name: 'Ours', host: '127.0.0.1', reason: expect.stringContaining('refused') },
  })
  const notices = await app.manage('GET', '/organization/notices')
  expect(notices.body.data).toMatchObject([{ title: 'The mail server Ours does not accept email' }])
  await using back = await startRelay({ port })
  const recovered = await until('the second event', () => receiver.posts[1], 30_000)
  expect(JSON.parse(String(recovered.body))).toMatchObject({
    event_name: 'mailServerRecovered',
    data: { reason: null },
  })
  expect(await settledMessage(app, sent.body.data.message_id)).toMatchObject({ status: 'sent' })
  expect([receiver.posts.length, back.mails.length]).toEqual([2, 1])
})

test('a daily limit is exact: marketing waits for the next day, and transactional email uses the next mail server', async () => {
  await using limited = await startRelay({ parse: false })
  await using second = await startRelay({ parse: false })
  const app = await newOrganization()
  await addMailServer(app, { name: 'Limited', url: limited.url, priority: 1, messages_per_day: 20 })
  await addMailServer(app, { name: 'Second', url: second.url, priority: 2, kinds: ['transactional'] })
  const { group, create } = await fill(app)
  const broadcast = await create([await group('All', emails('a', 50))])
  await broadcast.start()
  await until('the limit', () => limited.mails.length === 20)
  const message = await settledMessage(app, (await send(app, await createFlow(app))).body.data.message_id)
  expect(message).toMatchObject({ status: 'sent', mail_server: { name: 'Second' } })
  const news = await createFlow(app, { kind: 'marketing' })
  await app.manage('POST', '/organization/contacts', { email: 'reader@example.com', subscription: 'subscribed' })
  const sent = await send(app, news, { contact_email: 'reader@example.com' })
  const waiting = await until('the reason', async () => {
    const { data } = (await app.manage('GET', `/organization/messages/${sent.body.data.message_id}`)).body
    return data.waiting.cause === 'limit' ? data.waiting : undefined
  })
  const midnight = new Date()
  midnight.setUTCHours(24, 0, 0, 0)
  expect(waiting).toMatchObject({ detail: 'daily limit of Limited', attempts: 0 })
  expect(Date.parse(waiting.next_attempt_at)).toBeGreaterThanOrEqual(+midnight)
  expect((await broadcast.get()).counts).toMatchObject({ sent: 20, pending: 30 })
  expect([limited.mails.length, second.mails.length]).toEqual([20, 1])
})
