import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { addMailServer } from '../../../test/support/mail-servers.ts'
import { getMessage, messageWith } from '../../../test/support/messages.ts'
import { join } from '../../../test/support/people.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { freePort } from '../../../test/support/service.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'

type Reader = Pick<TestApp, 'manage'>

const listed = async ({ manage }: Reader) => (await manage('GET', '/organization/messages')).body.data[0]

test('an email that the mail server deferred shows its reply and the next attempt', async () => {
  await using relay = await startRelay()
  relay.onData = () => ({ code: 451, text: '4.7.1 Greylisted, try again later' })
  await using app = await startTestApp({ SMTP_URL: relay.url, MAIL_RETRY_DELAYS: '600' })
  const { message_id: id } = (await send(app, await createFlow(app))).body.data
  const message = await until('the first attempt', async () => {
    const found = await listed(app)
    return found.waiting?.cause === 'deferred' && found
  })
  expect(message).toMatchObject({
    status: 'queued',
    sent_at: null,
    waiting: { detail: expect.stringContaining('Greylisted'), attempts: 1 },
  })
  const inMs = Date.parse(message.waiting.next_attempt_at) - Date.now()
  expect(inMs).toBeGreaterThan(300_000)
  expect(inMs).toBeLessThan(900_000)
  expect((await getMessage(app, id)).waiting).toEqual(message.waiting)
})

test('while the mail server is unreachable, queued emails show it; the reason only to operators', async () => {
  await using app = await startTestApp({ SMTP_URL: `smtp://127.0.0.1:${await freePort()}` })
  const member = await join(app, 'bob@acme.example', 'member')
  const { message_id: id } = (await send(app, await createFlow(app))).body.data
  await until('the outage', async () => (await listed(app)).waiting?.cause === 'mail_server_unreachable')
  expect(await getMessage(app, id)).toMatchObject({
    status: 'queued',
    reason: null,
    waiting: { detail: expect.stringMatching(/refused/i), next_attempt_at: expect.any(String), attempts: 0 },
  })
  expect((await getMessage(member, id)).waiting.detail).toBeNull()
})

test('an email behind thousands of others shows the limit that it waits for and when it ends, but not in lists', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp()
  await addMailServer(app, { name: 'Main', url: relay.url, messages_per_day: 1 })
  const flow = await createFlow(app)
  await send(app, flow)
  await until('the first email', () => relay.mails.length === 1)
  await send(app, flow)
  const { message_id: id } = (await send(app, flow)).body.data
  const limited = { cause: 'limit', detail: 'daily limit of Main', next_attempt_at: expect.stringMatching(/T00:/) }
  await until('the limit', async () => (await getMessage(app, id)).waiting?.cause === 'limit')
  expect((await listed(app)).waiting).toMatchObject(limited)

  // Jobs that are due before it, in its lane.
  await app.db.statement`
    insert into jobs (organization_id, kind, lane, due_at, id)
    select organization_id, kind, lane, due_at - interval '1 minute', gen_random_uuid() from jobs, generate_series(1, 2100)
    where kind = 'message.send'`
  expect(await getMessage(app, id)).toMatchObject({ waiting: limited, relay_response: null })
  expect((await listed(app)).waiting).toMatchObject({ ...limited, next_attempt_at: null })
})

test('an email that was sent is not waiting', async () => {
  await using app = await startTestApp()
  const { message_id: id } = (await send(app, await createFlow(app))).body.data
  const message = await messageWith(app, id, 'sent')
  expect(message.waiting).toBeNull()
})
