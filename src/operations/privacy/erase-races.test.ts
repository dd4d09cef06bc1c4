import { expect, test } from 'vitest'
import { fill } from '../../../test/support/broadcasts.ts'
import { createFlow, send } from '../../../test/support/flows.ts'
import { lockWaits } from '../../../test/support/lock-waits.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { type Answer, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { parseId } from '../../platform/values/ids.ts'

async function contactId(app: TestApp): Promise<string> {
  return (await app.manage('GET', '/organization/contacts?query=ada')).body.data[0].id
}

/** Starts to erase the contact. Returns when that is done or waits for a lock in addition to the other statements that do. */
async function startErasing(app: TestApp, id: string): Promise<{ erasing: Promise<Answer> }> {
  const others = (await lockWaits(app.db)).length
  let isDone = false
  const erasing = app.manage('DELETE', `/organization/contacts/${id}`).finally(() => {
    isDone = true
  })
  await until('the erasure', async () => isDone || (await lockWaits(app.db)).length > others)
  return { erasing }
}

async function expectNothingPersonal({ db }: TestApp): Promise<void> {
  const messages = await db`select email, subject, context, recipient, relay_reply from messages`
  expect(messages).toEqual([{ email: '', subject: '', context: null, recipient: null, relayReply: null }])
  expect(await db`select from events where contact_email is not null or contact_first_name is not null`).toEqual([])
  expect(await db`select from contacts`).toEqual([])
}

test('a contact that is erased while the outcome of its broadcast email is recorded leaves nothing personal', async () => {
  await using relay = await startRelay()
  let release = () => {}
  let isInTransfer = false
  relay.onData = () =>
    new Promise((resolve) => {
      isInTransfer = true
      release = () => resolve(undefined)
    })
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const { group, create } = await fill(app)
  const broadcast = await create([await group('Readers', ['ada@example.com'])])
  const id = await contactId(app)
  await broadcast.start()
  await until('the email', () => isInTransfer)
  // The counts are written last, so the outcome is recorded up to them.
  const { erasing } = await app.db.begin(async (tx) => {
    await tx`select from broadcast_counts where organization_id = ${parseId('org', app.organizationId)} for update`
    release()
    await until('the outcome', async () => (await lockWaits(app.db)).some((text) => text.includes('broadcast_counts')))
    return startErasing(app, id)
  })
  expect((await erasing).status).toBe(200)
  await broadcast.ended()
  await expectNothingPersonal(app)
})

test('a contact that is erased while an email to it is accepted leaves nothing personal, and the email is not sent', async () => {
  await using app = await startTestApp({}, ['serve'])
  const flowId = await createFlow(app)
  await app.manage('POST', '/organization/contacts', { email: 'ada@example.com' })
  const id = await contactId(app)
  const organizationId = parseId('org', app.organizationId)!
  // The request waits for another one with the same idempotency key, which fails.
  const other = new Error('fails')
  let sending: Promise<Answer> | undefined
  let erasing: Promise<Answer> | undefined
  const failed = app.db.begin(async (tx) => {
    await tx`
      insert into idempotency_keys (organization_id, key, request_hash, message_id, answer, created_at)
      values (${organizationId}, 'order-1', '', ${organizationId}, '{}', now())`
    sending = send(app, flowId, {}, { 'idempotency-key': 'order-1' })
    await until('the request', async () => (await lockWaits(app.db)).length > 0)
    ;({ erasing } = await startErasing(app, id))
    throw other
  })
  await expect(failed).rejects.toBe(other)
  expect((await sending!).status).toBe(200)
  expect((await erasing!).status).toBe(200)
  expect(await app.db`select status, reason from messages`).toEqual([
    { status: 'suppressed', reason: 'the contact was erased' },
  ])
  await expectNothingPersonal(app)
})
