import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { startReceiver } from '../../../test/support/webhook-receiver.ts'
import { discardQueuedDeliveries } from '../../events/webhooks/discard-queued.ts'
import { discardQueuedMessages } from '../../sending/messages/discard-queued.ts'
import { findPause, pauseSending, resumeSending } from './sending-pause.ts'

/** An import runs in the same workers and is not paused. */
async function importOne(app: TestApp): Promise<void> {
  const accepted = await app.call('POST', '/api/v1/organization/contacts/import', {
    headers: { authorization: `Bearer ${app.session}`, 'content-type': 'text/csv' },
    raw: 'email\nb@example.com\n',
  })
  const path = `/organization/imports/${accepted.body.data.id}`
  await until('the import', async () => (await app.manage('GET', path)).body.data.status === 'done')
}

const statusOf = async (app: TestApp, id: string) => {
  const { data } = (await app.manage('GET', `/organization/messages/${id}`)).body
  return { status: data.status, reason: data.reason }
}

async function startPaused() {
  const relay = await startRelay()
  const receiver = await startReceiver((response) => response.writeHead(200).end(), { plain: true })
  const app = await startTestApp({ SMTP_URL: relay.url })
  const webhook = { name: 'All', url: receiver.url(), all_events: true }
  expect((await app.manage('POST', '/organization/webhooks', webhook)).status).toBe(201)
  const flowId = await createFlow(app)
  await pauseSending(app.db.statement, 'operator')
  // The workers ask before each job, and look for the pause every two seconds. Then they release their lanes, once
  // nothing is in flight.
  await until('the pause to be noticed', async () => {
    const { message_id: id } = (await send(app, flowId)).body.data
    await importOne(app)
    const held = await app.db`
      select from lanes where kind in ('message.send', 'webhook.deliver') and token is not null`
    return held.length === 0 && (await statusOf(app, id)).status === 'queued'
  })
  const sentBefore = relay.mails.length
  const queued = (await app.db<{ id: string }>`select id from messages where status = 'queued'`).length
  return {
    app,
    relay,
    receiver,
    flowId,
    sentBefore,
    queued,
    [Symbol.asyncDispose]: async () => {
      await app[Symbol.asyncDispose]()
      await relay.stop()
      await receiver[Symbol.asyncDispose]()
    },
  }
}

test('while sending is paused, emails are accepted and stay queued, and are sent when it is resumed', async () => {
  await using paused = await startPaused()
  const { app, relay, flowId, sentBefore, queued } = paused
  const { message_id: id } = (await send(app, flowId)).body.data
  await importOne(app)
  expect(relay.mails).toHaveLength(sentBefore)
  expect(await statusOf(app, id)).toEqual({ status: 'queued', reason: null })

  const status = async () => (await app.manage('GET', '/organization/sending')).body.data
  expect((await status()).paused_since).toBe((await findPause(app.db))!.since.toISOString())

  await resumeSending(app.db.statement)
  expect((await status()).paused_since).toBe(null)
  await until('all emails', () => relay.mails.length === sentBefore + queued + 1)
  expect(await findPause(app.db)).toBeUndefined()
})

test('what was queued before the pause can be discarded, and later emails are sent', async () => {
  await using paused = await startPaused()
  const { app, relay, flowId, sentBefore, queued } = paused
  // As in a restored database: what is queued is older than the pause. One email is scheduled for later.
  const { message_id: later } = (await send(app, flowId, { contact_email: 'later@example.com' })).body.data
  await app.db.statement`
    update jobs set due_at = now() + interval '1 hour'
    from messages
    where messages.organization_id = jobs.organization_id and messages.id = jobs.id
      and messages.email = 'later@example.com'`
  await app.db.statement`
    insert into deliveries (organization_id, id, webhook_id, event_id, event_name, status, created_at)
    select organization_id, gen_random_uuid(), id, gen_random_uuid(), 'emailSent', 'pending', now() - interval '1 second'
    from webhooks`
  await app.db.statement`
    insert into jobs (organization_id, kind, lane, due_at, id)
    select organization_id, 'webhook.deliver', webhook_id::text, now(), id from deliveries where status = 'pending'`
  await pauseSending(app.db.statement, 'restored')
  const { since } = (await findPause(app.db))!
  const { message_id: newer } = (await send(app, flowId)).body.data

  expect(await discardQueuedMessages(app.db, since)).toBe(queued)
  // Deliveries of emails that were sent just before the pause may be pending as well.
  const pending = (await app.db`select from deliveries where status = 'pending' and created_at < ${since}`).length
  expect(pending).toBeGreaterThan(0)
  expect(await discardQueuedDeliveries(app.db, since)).toBe(pending)
  await resumeSending(app.db.statement)
  await until('the newer email', () => relay.mails.length === sentBefore + 1)
  await until('it to be recorded', async () => (await statusOf(app, newer)).status === 'sent')
  expect((await statusOf(app, later)).status).toBe('queued')
  const failed = await app.db`select distinct reason from messages where status = 'failed'`
  expect(failed).toEqual([{ reason: 'Discarded by the operator while sending was paused' }])
  expect(await app.db`select distinct attempt_count from deliveries where status = 'failed'`).toEqual([
    { attemptCount: 0 },
  ])
  await until('the discarded jobs to be deleted', async () => (await app.db`select from jobs`).length === 1)
})
