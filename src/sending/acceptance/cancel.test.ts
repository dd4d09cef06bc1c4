import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { addMailServer } from '../../../test/support/mail-servers.ts'
import { getMessage } from '../../../test/support/messages.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { installationServer } from '../../delivery/mail-servers/open-server.ts'
import { type Begun, begun, hasBegun, mustMark } from '../attempts/begun.ts'
import { discardQueuedMessages } from '../messages/discard-queued.ts'

test('an email that waited at a limit cannot be cancelled while it is being sent', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const server = await addMailServer(app, { url: relay.url, messages_per_day: 1 })
  const flowId = await createFlow(app)
  const sendTo = async (email: string) => (await send(app, flowId, { contact_email: email })).body.data.message_id
  await sendTo('first@example.com')
  await until('the first email', () => relay.mails.length === 1)
  const [id, other] = [await sendTo('ada@example.com'), await sendTo('ben@example.com')]
  const causeOf = async (of: string) => (await getMessage(app, of)).waiting?.cause
  await until('the limit', async () => (await causeOf(id)) === 'limit' && (await causeOf(other)) === 'limit')
  expect((await app.manage('DELETE', `/organization/messages/${other}`)).body.data.status).toBe('cancelled')

  let release = () => {}
  const released = new Promise<undefined>((resolve) => {
    release = () => resolve(undefined)
  })
  let isInFlight = false
  relay.onData = () => {
    isInFlight = true
    return released
  }
  await app.manage('PATCH', `/organization/mail-servers/${server}`, { messages_per_day: null })
  await until('the email to be handed over', async () => {
    await app.db.statement`update jobs set due_at = now()`
    await app.db.statement`update lanes set next_due_at = now()`
    return isInFlight
  })
  const refused = await app.manage('DELETE', `/organization/messages/${id}`)
  expect([refused.status, refused.body.message]).toEqual([
    409,
    'This email can no longer be cancelled: it is being sent or may have been sent.',
  ])
  release()
  await until('the outcome', async () => (await getMessage(app, id)).status === 'sent')
  expect(relay.mails.map(({ recipient }) => recipient)).toEqual(['first@example.com', 'ada@example.com'])
})

test('an email that the mail server may have accepted before the connection broke cannot be cancelled', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url, MAIL_RETRY_DELAYS: '600' })
  // The complete email has arrived, but its reply is lost.
  relay.onData = () => {
    relay.dropConnections()
    return undefined
  }
  const flowId = await createFlow(app)
  const id = (await send(app, flowId)).body.data.message_id
  await until('the email to wait', async () => (await getMessage(app, id)).waiting?.cause === 'deferred')
  const refused = await app.manage('DELETE', `/organization/messages/${id}`)
  expect([refused.status, refused.body.message]).toEqual([
    409,
    'This email can no longer be cancelled: it is being sent or may have been sent.',
  ])
  relay.onData = () => undefined
  await app.db.statement`update jobs set due_at = now()`
  await app.db.statement`update lanes set next_due_at = now()`
  await until('the outcome', async () => (await getMessage(app, id)).status === 'sent')
  expect(new Set(relay.mails.map(({ mail }) => mail.messageId)).size).toBe(1)
})

test('whether a worker has begun is the same in SQL and in the worker', async () => {
  await using app = await startTestApp({}, ['serve'])
  const id = (await send(app, await createFlow(app))).body.data.message_id
  expect((await getMessage(app, id)).status).toBe('queued')
  const inSql: Begun[] = []
  const inWorker: Begun[] = []
  for (const isSending of [false, true])
    for (const isScheduled of [false, true])
      for (const hasWaited of [false, true])
        for (const mailServerId of [null, installationServer]) {
          const state = { isSending, isScheduled, hasWaited, mailServerId }
          const [row] = await app.db.statement<{ begun: Begun }>`
            update messages
            set sending = ${isSending}, send_at = ${isScheduled ? new Date() : null},
              reason = ${hasWaited ? 'limit reached' : null}, mail_server_id = ${mailServerId}
            returning ${begun} as begun`
          inSql.push(row!.begun)
          inWorker.push(hasBegun(state, 0))
          // Cancelled at once, so a worker that was about to send it must find that out.
          if (row!.begun === 'no') expect(mustMark(state, 0)).toBe(true)
        }
  expect(inSql).toEqual(inWorker)
  expect(inSql.filter((each) => each === 'unmarked')).toHaveLength(1)
})

test('emails that a worker may be sending are not discarded', async () => {
  await using app = await startTestApp({}, ['serve'])
  await send(app, await createFlow(app))
  await app.db.statement`update lanes set token = gen_random_uuid(), leased_until = now() + interval '1 hour'`
  const discard = () => discardQueuedMessages(app.db, new Date(Date.now() + 3_600_000))
  expect(await discard()).toBe(0)
  await app.db.statement`update lanes set leased_until = '-infinity'`
  expect(await discard()).toBe(1)
})
