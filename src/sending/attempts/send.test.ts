import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { collectStatements } from '../../../test/support/collect-statements.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../../../test/support/database-proxy.ts'
import { createFlow, send } from '../../../test/support/flows.ts'
import { settledMessage } from '../../../test/support/messages.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { oneServerTest } from '../../../test/support/server-tests.ts'
import { freePort } from '../../../test/support/service.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import type { TestDb } from '../../../test/support/test-db.ts'
import { longTestMsMax } from '../../../test/support/time-limits.ts'
import { until } from '../../../test/support/until.ts'
import { withResolvers } from '../../../test/support/with-resolvers.ts'
import { type Db, openDb } from '../../platform/db/db.ts'
import { type MessageId, type OrganizationId, parseId } from '../../platform/values/ids.ts'
import { createService } from '../../service.ts'
import { insertQueuedIntoInbox } from '../inbox/inbox.ts'

const newOrganization = await startSharedApp()

test('a message reaches the relay as a well-formed, tracked email and counts as sent', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({
    SMTP_URL: relay.url,
    MAIL_FROM: 'Acme Shop <shop@acme.example>',
    BASE_URL: 'https://mail.acme.example',
  })
  const flowId = await createFlow(app, { text: null })
  const { body } = await send(app, flowId)
  const message = await settledMessage(app, body.data.message_id)
  expect(message).toMatchObject({ status: 'sent', flow_name: 'Order shipped', contact: { email: 'ada@example.com' } })
  expect(message.events.map((event: { event_name: string }) => event.event_name)).toEqual(['emailSent'])
  expect(message.relay_response).toContain('250')
  expect(message.delivered_to).toBe('mail_server')

  expect(relay.mails).toHaveLength(1)
  const { mail, sender, recipient, raw } = relay.mails[0]!
  expect([sender, recipient]).toEqual(['shop@acme.example', 'ada@example.com'])
  expect(mail.from).toMatchObject({ name: 'Acme Shop', address: 'shop@acme.example' })
  expect(message.from).toBe('Acme Shop <shop@acme.example>')
  expect(mail.subject).toBe('Order 1042 is on its way')
  expect(mail.messageId).toBe(`<${body.data.message_id}@acme.example>`)
  expect(mail.html).toMatch(/<a href="https:\/\/mail\.acme\.example\/t\/c\/[\w/-]+">your order<\/a>/)
  expect(mail.html).toMatch(/<img src="https:\/\/mail\.acme\.example\/t\/o\/[\w-]+"/)
  expect(mail.text).toContain('https://shop.example/orders/1042')
  expect(raw).not.toMatch(/^List-Unsubscribe/m)
})

oneServerTest(
  'emails are sent by the process that accepted them without being read, with the values as stored',
  async () => {
    await using relay = await startRelay()
    await using app = await startTestApp({ SMTP_URL: relay.url })
    const html = '<p>{{ order_id }} {% for item in items %}{{ item[0] }}={{ item[1] }} {% endfor %}</p>'
    const flowId = await createFlow(app, { html, text: null })
    // The database puts the keys in another order, and a repeated attempt must have the same bytes.
    const context = { order_id: 1, items: { longer: 1, b: 2, a: 3 } }
    await send(app, flowId, { context })
    await until('the first email', () => relay.mails.length === 1)
    using statements = collectStatements()
    for (let count = 2; count <= 20; count++) {
      await send(app, flowId, { context })
      await until('the next email', () => relay.mails.length === count)
    }
    // Each of the four lanes is claimed and read at first.
    expect(statements.texts.filter((text) => text.includes('as is_scheduled')).length).toBeLessThan(12)
    expect(new Set(relay.mails.map(({ mail }) => mail.html?.match(/<p>(.*) <\/p>/)?.[1]))).toEqual(
      new Set(['1 a=3 b=2 longer=1']),
    )
  },
)

test('a marketing email has one-click unsubscribe headers and a visible unsubscribe link', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url, BASE_URL: 'https://mail.acme.example' })
  const flowId = await createFlow(app, { kind: 'marketing' })
  await app.manage('POST', `/organization/flows/${flowId}/test`, { to: 'ada@example.com', context: { order_id: 1 } })
  await until('the mail', () => relay.mails.length === 1)
  const { mail } = relay.mails[0]!
  const header = (name: string) => mail.headers.find(({ key }) => key === name)?.value
  expect(header('list-unsubscribe')).toMatch(/^<https:\/\/mail\.acme\.example\/u\/[\w-]+>$/)
  expect(header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click')
  expect(mail.html).toContain(header('list-unsubscribe')!.slice(1, -1))
  expect(mail.text).toContain(header('list-unsubscribe')!.slice(1, -1))
})

test('with a bounce domain the envelope sender is unique per message', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({
    SMTP_URL: relay.url,
    BOUNCE_DOMAIN: 'bounces.acme.example',
    BOUNCE_SMTP_PORT: '0',
    BOUNCE_SMTP_HOST: '127.0.0.1',
  })
  await send(app, await createFlow(app))
  await until('the mail', () => relay.mails.length === 1)
  expect(relay.mails[0]!.sender).toMatch(/^b-[a-z2-7]+@bounces\.acme\.example$/)
})

test('a rejected recipient bounces immediately: hard for unknown users, soft otherwise', async () => {
  await using relay = await startRelay()
  relay.onRecipient = (address) =>
    address.startsWith('nobody')
      ? { code: 550, text: '5.1.1 No such user here' }
      : { code: 554, text: '5.7.1 Blocked by policy' }
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const flowId = await createFlow(app)
  const hard = await settledMessage(
    app,
    (await send(app, flowId, { contact_email: 'nobody@example.com' })).body.data.message_id,
  )
  const soft = await settledMessage(
    app,
    (await send(app, flowId, { contact_email: 'blocked@example.com' })).body.data.message_id,
  )
  expect(hard).toMatchObject({
    status: 'bounced',
    events: [
      {
        event_name: 'emailHardBounce',
        data: { bounce: { type: 'hard', status: '5.1.1', reply_code: 550, confidence: 'high' } },
      },
    ],
  })
  expect(soft).toMatchObject({
    status: 'bounced',
    events: [{ event_name: 'emailSoftBounce', data: { bounce: { type: 'soft' } } }],
  })
  expect(soft.relay_response).toContain('Blocked by policy')
  const again = await send(app, flowId, { contact_email: 'nobody@example.com' })
  expect(again.body.data).toMatchObject({ status: 'suppressed', reason: 'hard_bounce' })
  expect((await send(app, flowId, { contact_email: 'blocked@example.com' })).body.data.status).toBe('queued')
})

test('a rejection after DATA is not a hard bounce', async () => {
  await using relay = await startRelay()
  relay.onData = () => ({ code: 550, text: 'Requested action not taken: mailbox unavailable' })
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const flowId = await createFlow(app)
  const message = await settledMessage(app, (await send(app, flowId)).body.data.message_id)
  expect(message).toMatchObject({ status: 'bounced', events: [{ event_name: 'emailSoftBounce' }] })
  expect((await send(app, flowId)).body.data.status).toBe('queued')
})

test('a deferred email is retried on schedule and sent', async () => {
  await using relay = await startRelay()
  let tries = 0
  relay.onData = () => (++tries < 3 ? { code: 451, text: '4.3.0 Try again later' } : undefined)
  await using app = await startTestApp({ SMTP_URL: relay.url, MAIL_RETRY_DELAYS: '0.05,0.05,0.05' })
  const message = await settledMessage(app, (await send(app, await createFlow(app))).body.data.message_id)
  expect(message.status).toBe('sent')
  expect(tries).toBe(3)
})

test('an email that is deferred too often becomes a soft bounce', async () => {
  await using relay = await startRelay()
  relay.onData = () => ({ code: 452, text: '4.2.2 Over quota' })
  await using app = await startTestApp({ SMTP_URL: relay.url, MAIL_RETRY_DELAYS: '0.02,0.02' })
  const message = await settledMessage(app, (await send(app, await createFlow(app))).body.data.message_id)
  expect(message).toMatchObject({
    status: 'bounced',
    events: [{ event_name: 'emailSoftBounce', data: { bounce: { type: 'soft', status: '4.2.2', reply_code: 452 } } }],
  })
})

test('while the relay is down, no attempts are used, and everything is sent once it is back', async () => {
  const port = await freePort()
  await using app = await startTestApp({ SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_RETRY_DELAYS: '0.01' })
  const flowId = await createFlow(app)
  await Promise.all(Array.from({ length: 20 }, (_, n) => send(app, flowId, { contact_email: `c${n}@example.com` })))
  const relayUp = async () => /^waxwing_relay_up (\d)$/m.exec((await app.call('GET', '/metrics')).text)?.[1]
  await until('the relay to be found down', async () => (await relayUp()) === '0')
  expect((await app.manage('GET', '/organization/messages')).body.data).toHaveLength(20)
  expect(await app.db`select distinct attempt from jobs`).toEqual([{ attempt: 0 }])
  await using up = await startRelay({ port })
  await until('all mails', () => up.mails.length === 20)
  await until('all settled', async () => (await app.db`select from messages where status = 'sent'`).length === 20)
  // The text of the metrics is kept for a second.
  await until('the relay to be found up', async () => (await relayUp()) === '1')
})

test('emails sent while the database is unavailable are recorded later and not sent again', async () => {
  await using relay = await startRelay()
  const way: { proxy?: DatabaseProxy } = {}
  const openFor = async ({ connection }: TestDb) => {
    way.proxy = await startDatabaseProxy(connection as { host: string; port: number })
    return openDb({ connection: way.proxy.connection })
  }
  await using app = await startTestApp({ SMTP_URL: relay.url }, undefined, { openFor })
  await using proxy = way.proxy!
  // The reply of the relay arrives after the database has stopped.
  let answer = () => {}
  const mayAnswer = new Promise<undefined>((resolve) => {
    answer = () => resolve(undefined)
  })
  let arrived = 0
  relay.onData = () => {
    arrived++
    return mayAnswer
  }
  const flowId = await createFlow(app)
  const sent = await Promise.all(
    Array.from({ length: 5 }, (_, n) => send(app, flowId, { contact_email: `c${n}@example.com` })),
  )
  await until('all mails', () => arrived === 5)
  await proxy.cut()
  answer()
  await until('all to be taken', () => relay.mails.length === 5)
  await proxy.heal()
  for (const { body } of sent) expect((await settledMessage(app, body.data.message_id)).status).toBe('sent')
  expect(arrived).toBe(5)
})

test('an email that waits for a connection stays while its lease cannot be renewed', async () => {
  await using relay = await startRelay()
  const way: { proxy?: DatabaseProxy; db?: Db } = {}
  const openFor = async ({ connection, db }: TestDb) => {
    way.proxy = await startDatabaseProxy(connection as { host: string; port: number })
    way.db = db
    return openDb({ connection: way.proxy.connection })
  }
  await using app = await startTestApp({ SMTP_URL: relay.url, SMTP_CONNECTIONS: '1' }, undefined, { openFor })
  await using proxy = way.proxy!
  const db = way.db!
  const sentTo = (address: string) => relay.mails.filter(({ recipient }) => recipient === address).length
  // The only connection has the first email, and the second one to transfer next.
  const { promise: answered, resolve: answer } = withResolvers<undefined>()
  let arrived = 0
  relay.onData = () => (arrived++ === 0 ? answered : undefined)
  const flowId = await createFlow(app)
  await send(app, flowId, { contact_email: 'first@example.com' })
  await until('the first email', () => arrived === 1)
  // An email with a planned time is marked when it is started.
  for (const [index, contact_email] of ['second@example.com', 'third@example.com'].entries()) {
    await send(app, flowId, { contact_email, send_at: new Date(Date.now() + 1_000) })
    await until('it to be started', async () => (await db`select from messages where sending`).length === index + 1)
  }
  proxy.hang()
  {
    await using _other = await workOn({ ...app, db })
    await until('another process to send the first', () => sentTo('first@example.com') === 1)
    await until('another process to send the third', () => sentTo('third@example.com') === 1)
    answer(undefined)
    await until('the connection to be free', () => sentTo('first@example.com') === 2)
  }
  await proxy.heal()
  await send(app, flowId, { contact_email: 'last@example.com' })
  await until('a later email through the connection', () => sentTo('last@example.com') === 1)
  expect(sentTo('third@example.com')).toBe(1)
})

test('a contact suppressed after acceptance receives no email, in any spelling of the address', async () => {
  await using relay = await startRelay()
  await using serving = await startTestApp({ SMTP_URL: relay.url }, ['serve'])
  const { body } = await send(serving, await createFlow(serving), { contact_email: 'Ada@Example.com' })
  await serving.manage('POST', '/organization/suppressions', { email: 'ada@example.com' })
  await using _working = await workOn(serving)
  expect(await settledMessage(serving, body.data.message_id)).toMatchObject({ status: 'suppressed', reason: 'manual' })
  expect(relay.mails).toEqual([])
})

test('a contact erased while its email is in flight leaves no personal data', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  let isErased = false
  const flowId = await createFlow(app)
  const sending = send(app, flowId)
  // The email may arrive before the response.
  relay.onData = async () => {
    const { body } = await sending
    isErased ||= (await app.manage('DELETE', `/organization/contacts/${body.data.contact_id}`)).status === 200
    return undefined
  }
  await sending
  await until('the job to end', async () => (await app.db`select from jobs`).length === 0)
  expect([isErased, relay.mails.length]).toEqual([true, 1])
  expect(await app.db`select status, email, relay_reply, sent_at from messages`).toEqual([
    { status: 'suppressed', email: '', relayReply: null, sentAt: null },
  ])

  // The same for emails that are about to be stored in the inbox.
  const { organizationId, messageId } = (
    await app.db<{ organizationId: OrganizationId; messageId: MessageId }>`
      select organization_id, id as message_id from messages`
  )[0]!
  const mail = { sender: 'a@example.com', recipient: 'ada@example.com', subject: 'Hello', raw: 'Subject: Hello' }
  await insertQueuedIntoInbox(app.db.statement, [{ organizationId, messageId, ...mail }])
  expect(await app.db`select from inbox`).toHaveLength(0)
})

test('a rejected sender does not count against the contact', async () => {
  await using relay = await startRelay()
  relay.onSender = () => ({ code: 550, text: '5.7.1 Sender not allowed' })
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const { body } = await send(app, await createFlow(app))
  expect(await settledMessage(app, body.data.message_id)).toMatchObject({
    status: 'failed',
    reason: 'the mail server rejected the sender',
    events: [],
  })
  expect((await app.manage('GET', '/organization/suppressions')).body.data).toEqual([])
})

test('without a relay, emails go to the inbox with working links', async () => {
  const app = await newOrganization()
  const { body } = await send(app, await createFlow(app))
  const message = await settledMessage(app, body.data.message_id)
  expect(message).toMatchObject({ delivered_to: 'inbox', relay_response: null })
  const list = await app.manage('GET', '/organization/inbox')
  expect(list.body.data).toMatchObject([
    { message_id: body.data.message_id, to: 'ada@example.com', subject: 'Order 1042 is on its way' },
  ])
  const mail = await app.manage('GET', `/organization/inbox/${list.body.data[0].id}`)
  expect(mail.body.data.html).toContain('/t/o/')
  expect(mail.body.data.headers).toContainEqual({ name: 'Subject', value: 'Order 1042 is on its way' })
  expect((await app.manage('DELETE', '/organization/inbox')).body.data).toEqual({ deleted: 1 })
  expect((await app.manage('GET', `/organization/inbox/${body.data.message_id}`)).status).toBe(404)
})

test('the message page shows the email without tracking', async () => {
  const app = await newOrganization()
  const { body } = await send(app, await createFlow(app))
  const message = await settledMessage(app, body.data.message_id)
  expect(message.html).toContain('href="https://shop.example/orders/1042"')
  expect(message.html).not.toContain('/t/')
})

test('an email that cannot be rendered fails with a reason, and others are sent', async () => {
  const app = await newOrganization()
  const flowId = await createFlow(app, {
    html: '{% for a in (1..1000) %}{% for b in (1..1000) %}{{ order_id }}{% endfor %}{% endfor %}',
  })
  const bad = (await send(app, flowId)).body.data.message_id
  const good = (await send(app, await createFlow(app))).body.data.message_id
  expect((await settledMessage(app, bad)).status).toBe('failed')
  expect((await settledMessage(app, good)).status).toBe('sent')
})

test('a template that can no longer be loaded is rejected, and other flows still send', async () => {
  await using app = await startTestApp()
  const [broken, whole] = [await createFlow(app), await createFlow(app)]
  await app.db.statement`update flow_versions set html = '{% nothing %}' where flow_id = ${parseId('flw', broken!)}`
  const [refused, taken] = await Promise.all([send(app, broken!), send(app, whole!)])
  expect(refused!.status).toBe(422)
  expect(refused!.body.message).toBe('The template of this flow can no longer be loaded. Save the flow again.')
  expect((await settledMessage(app, taken!.body.data.message_id)).status).toBe('sent')
})

test('an email whose rendering process is killed every time fails after a few tries, and others are sent', {
  timeout: longTestMsMax.intervals,
}, async () => {
  const environment = { APP_SECRET: 'a secret that both processes know, as they must', MAIL_RETRY_DELAYS: '1,1' }
  await using app = await startTestApp(environment, ['serve'])
  // More tags than the main thread renders.
  const flowId = await createFlow(app, { html: `<p>${'{{ order_id }} '.repeat(300)}</p>` })
  const [bad, good] = [await send(app, flowId), await send(app, await createFlow(app))].map(
    ({ body }) => body.data.message_id,
  )
  const { config, db } = app
  const log = pino({ level: 'silent' })
  const worker = await createService({
    config,
    secrets: { current: config.APP_SECRET!, previous: undefined },
    db,
    log,
    roles: ['work'],
  })
  // From the database, since the page of a message renders it as well.
  const settledRow = (id: string) =>
    until('the message to be settled', async () => {
      const [row] = await db<{ status: string }>`select status, reason from messages where id = ${parseId('msg', id)}`
      return row!.status !== 'queued' && row
    })
  let killed = 0
  const kill = (message: unknown) => {
    const { process: child } = message as { process: ChildProcess }
    child.once('spawn', () => {
      if (child.spawnargs.some((word) => word.endsWith('task-process.js')) && child.kill('SIGKILL')) killed++
    })
  }
  // Node.js publishes every process that it starts.
  subscribe('child_process', kill)
  try {
    await worker.start()
    const startedAt = performance.now()
    expect(await settledRow(good)).toEqual({ status: 'sent', reason: null })
    expect(await settledRow(bad)).toEqual({
      status: 'failed',
      reason: 'the process that rendered this email ended unexpectedly, several times',
    })
    // Three delays of 1, 4 and 10 seconds, less a tenth.
    expect(performance.now() - startedAt).toBeGreaterThan(13_000)
    expect(killed).toBeGreaterThanOrEqual(4)
    unsubscribe('child_process', kill)
    const later = (await send(app, flowId)).body.data.message_id
    expect(await settledRow(later)).toEqual({ status: 'sent', reason: null })
  } finally {
    unsubscribe('child_process', kill)
    await worker.stop()
  }
})

test('messages are listed newest first with filters', async () => {
  const app = await newOrganization()
  const flowId = await createFlow(app)
  for (const n of [1, 2, 3]) await send(app, flowId, { contact_email: `c${n}@example.com` })
  const emails = async (query: string) =>
    (await app.manage('GET', `/organization/messages${query}`)).body.data.map(
      (m: { contact: { email: string } }) => m.contact.email,
    )
  expect(await emails('')).toEqual(['c3@example.com', 'c2@example.com', 'c1@example.com'])
  expect(await emails('?query=c2@')).toEqual(['c2@example.com'])
  expect(await emails(`?flow_id=${flowId}&limit=1`)).toEqual(['c3@example.com'])
  expect(await emails('?flow_id=flw_nothing')).toEqual([])
  expect((await app.manage('GET', '/organization/messages?status=lost')).status).toBe(422)
})

/** A second process' worth of workers on the same database. */
async function workOn(app: TestApp) {
  const { createService } = await import('../../service.ts')
  const { pino } = await import('pino')
  const secrets = { current: 'another secret for the other process of the test', previous: undefined }
  const work = await createService({
    config: app.config,
    secrets,
    db: app.db,
    log: pino({ level: 'silent' }),
    roles: ['work'],
  })
  await work.start()
  return { [Symbol.asyncDispose]: () => work.stop() }
}
