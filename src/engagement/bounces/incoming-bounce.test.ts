import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { complaintMail, deliver, deliveryStatusMail } from '../../../test/support/bounce-sender.ts'
import { sendTo, startWithReader, tokens } from '../../../test/support/readers.ts'
import { startRelay, type TestRelay } from '../../../test/support/relay.ts'
import { until } from '../../../test/support/until.ts'
import { EventRecorder } from '../../events/recording/record.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { TaskPool } from '../../platform/tasks/pool.ts'
import { type MessageId, newId, toText } from '../../platform/values/ids.ts'
import { processIncomingBounce } from './incoming-bounce.ts'

const domain = 'bounces.acme.example'
const listening = { BOUNCE_DOMAIN: domain, BOUNCE_SMTP_PORT: '0', BOUNCE_SMTP_HOST: '127.0.0.1' }

let app: Awaited<ReturnType<typeof startWithReader>>
let relay: TestRelay
beforeAll(async () => {
  relay = await startRelay()
  relay.onRecipient = (address) =>
    address.startsWith('nobody') ? { code: 550, text: '5.1.1 No such user here' } : undefined
  app = await startWithReader({ ...listening, SMTP_URL: relay.url })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await relay[Symbol.asyncDispose]()
})

let people = 0
/** Creates a contact with one sent email, and returns the addresses in that email. */
async function recipient(name = `person${++people}`) {
  const email = `${name}@example.com`
  const ids = await sendTo(app, email)
  await until('the mail to be dealt with', async () => {
    const [row] = await app.db<{ status: string }>`select status from messages where id = ${ids.messageId}`
    return row!.status !== 'queued'
  })
  const events = async () => (await app.events()).filter(({ messageId }) => messageId === ids.messageId)
  return {
    ids,
    email,
    events,
    bounceAddress: `${tokens.sign('bounce', ids)}@${domain}`,
    unsubscribeAddress: `${tokens.sign('unsubscribe_by_mail', ids)}@${domain}`,
  }
}
const give = (to: string, raw: string, from = '') => deliver(app.app.bouncePort()!, from, to, raw)

test('only signed addresses accept email', async () => {
  const { bounceAddress } = await recipient()
  const forged = bounceAddress.replace(/^b-../, 'b-zz')
  const wrong = [
    forged,
    `postmaster@${domain}`,
    `x${bounceAddress}`,
    bounceAddress.replace(domain, 'elsewhere.example'),
  ]
  for (const to of wrong) expect([to, await give(to, 'Subject: x\r\n\r\nx')]).toMatchObject([to, { kind: 'refused' }])
  expect(await give(bounceAddress.toUpperCase(), 'Subject: x\r\n\r\nx')).toMatchObject({ kind: 'accepted' })
})

test('a bounce reported twice is one event', async () => {
  const { email, bounceAddress, events } = await recipient()
  const raw = deliveryStatusMail(bounceAddress, { recipient: email })
  await give(bounceAddress, raw)
  await give(bounceAddress, raw)
  expect(await events()).toMatchObject([
    { eventName: 'emailHardBounce', data: { bounce: { type: 'hard', status: '5.1.1', reply_code: 550 } } },
  ])
})

test('a recipient rejected in the session and by email bounces once', async () => {
  const { email, bounceAddress, events } = await recipient(`nobody${++people}`)
  expect(await events()).toHaveLength(1)
  await give(bounceAddress, deliveryStatusMail(bounceAddress, { recipient: email }))
  expect(await events()).toHaveLength(1)
})

test('a full mailbox is a soft bounce without suppression, and can become a hard bounce later', async () => {
  const { email, bounceAddress, events } = await recipient()
  await give(
    bounceAddress,
    deliveryStatusMail(bounceAddress, { recipient: email, status: '5.2.2', code: 552, text: 'Mailbox full' }),
  )
  const suppressions = () => app.db`select 1 from suppressions where email_key = ${email}`
  expect((await events()).map(({ eventName }) => eventName)).toEqual(['emailSoftBounce'])
  expect(await suppressions()).toEqual([])
  await give(bounceAddress, deliveryStatusMail(bounceAddress, { recipient: email }))
  expect((await events()).map(({ eventName }) => eventName)).toEqual(['emailSoftBounce', 'emailHardBounce'])
  expect(await suppressions()).toHaveLength(1)
})

test('a delay notification has no effect', async () => {
  const { email, ids, bounceAddress, events } = await recipient()
  const delay = { action: 'delayed', status: '4.4.1', code: 421, text: 'Connection timed out', recipient: email }
  await give(bounceAddress, deliveryStatusMail(bounceAddress, delay))
  expect(await events()).toEqual([])
  expect(await app.db`select status from messages where id = ${ids.messageId}`).toEqual([{ status: 'sent' }])
  await give(bounceAddress, deliveryStatusMail(bounceAddress, { ...delay, action: 'failed' }))
  expect(await events()).toMatchObject([{ eventName: 'emailSoftBounce' }])
})

test('a bounce behind a forwarder counts for the original recipient', async () => {
  const { email, bounceAddress, events } = await recipient()
  await give(bounceAddress, deliveryStatusMail(bounceAddress, { recipient: 'moved@elsewhere.example' }))
  expect(await events()).toMatchObject([{ eventName: 'emailHardBounce' }])
  const [suppression] = await app.db<{ email: string }>`select email from suppressions where email_key = ${email}`
  expect(suppression?.email).toBe(email)
})

test('a complaint is recorded with its message and stops all email', async () => {
  const { email, bounceAddress, events } = await recipient()
  await give(bounceAddress, complaintMail(bounceAddress))
  expect(await events()).toMatchObject([{ eventName: 'emailComplaint', data: { feedback_type: 'abuse' } }])
  const [suppression] = await app.db<{ reason: string }>`select reason from suppressions where email_key = ${email}`
  expect(suppression?.reason).toBe('complaint')
})

test.each(['auth-failure', 'Virus', 'not-spam'])(
  'a feedback report of the type %s is not a complaint and stops no email',
  async (feedbackType) => {
    const { email, bounceAddress, events } = await recipient()
    expect(await give(bounceAddress, complaintMail(bounceAddress, feedbackType))).toMatchObject({ kind: 'accepted' })
    expect(await events()).toEqual([])
    expect(await app.db`select from suppressions where email_key = ${email}`).toEqual([])
  },
)

test.each(['fraud', 'opt-out', 'other'])('a feedback report of the type %s is a complaint', async (feedbackType) => {
  const { bounceAddress, events } = await recipient()
  await give(bounceAddress, complaintMail(bounceAddress, feedbackType))
  expect(await events()).toMatchObject([{ eventName: 'emailComplaint', data: { feedback_type: feedbackType } }])
})

test('out-of-office notices and replies are accepted and ignored', async () => {
  const { bounceAddress, events } = await recipient()
  const away = 'From: Ada <ada@example.com>\r\nSubject: Out of office\r\nAuto-Submitted: auto-replied\r\n\r\nI am away.'
  const thanks = 'From: Ada <ada@example.com>\r\nSubject: Re: Order\r\n\r\nThank you!'
  expect(await give(bounceAddress, away)).toMatchObject({ kind: 'accepted' })
  expect(await give(bounceAddress, thanks, 'ada@example.com')).toMatchObject({ kind: 'accepted' })
  expect(await events()).toEqual([])
})

test('an email to the unsubscribe address unsubscribes once; an automatic reply does not', async () => {
  const { email, unsubscribeAddress, events } = await recipient()
  const wish = 'From: ada@example.com\r\nSubject: unsubscribe\r\n\r\n'
  await give(unsubscribeAddress, wish, '')
  expect(await events()).toEqual([])
  await give(unsubscribeAddress, wish, 'ada@example.com')
  await give(unsubscribeAddress, wish, 'ada@example.com')
  expect(await events()).toMatchObject([{ eventName: 'contactUnsubscribe', data: { method: 'one_click' } }])
  expect(await app.subscription(email)).toBe('unsubscribed')
})

test('if the signed message does not exist, the Message-ID or the queue id identifies it', async () => {
  const byMessageId = await recipient()
  const byQueueId = await recipient()
  await app.db.statement`update messages set queue_id = 'QUEUED42' where id = ${byQueueId.ids.messageId}`
  const gone = `${tokens.sign('bounce', { ...app.ids, messageId: newId('msg') as MessageId })}@${domain}`
  const messageId = `Message-ID: <${toText('msg', byMessageId.ids.messageId)}@acme.example>`
  await give(gone, deliveryStatusMail(gone, { headers: messageId }))
  expect(await byMessageId.events()).toHaveLength(1)
  const received = 'Received: from app.example by relay.example (Postfix) with ESMTPS id QUEUED42'
  await give(gone, deliveryStatusMail(gone, { headers: received }))
  expect(await byQueueId.events()).toHaveLength(1)
})

test('a report cannot affect messages of another organization', async () => {
  const victim = await recipient()
  const stranger = { ...app.ids, organizationId: newId('org'), messageId: newId('msg') }
  const address = `${tokens.sign('bounce', stranger)}@${domain}`
  const messageId = `Message-ID: <${toText('msg', victim.ids.messageId)}@acme.example>`
  expect(await give(address, deliveryStatusMail(address, { headers: messageId }))).toMatchObject({ kind: 'accepted' })
  expect(await victim.events()).toEqual([])
})

test('an email that cannot be recorded is not accepted, so that its sender retries', async () => {
  const { bounceAddress, email, events } = await recipient()
  await app.db.statement.script(
    "alter table events add constraint shut check (event_name <> 'emailHardBounce') not valid",
  )
  const raw = deliveryStatusMail(bounceAddress, { recipient: email })
  expect(await give(bounceAddress, raw)).toMatchObject({ kind: 'deferred' })
  await app.db.statement.script('alter table events drop constraint shut')
  expect(await give(bounceAddress, raw)).toMatchObject({ kind: 'accepted' })
  expect(await events()).toHaveLength(1)
})

test.each([
  ['needs too much memory', 'process.abort()'],
  ['makes the classifier fail', `process.send({ kind: 'failed', message: 'broken', stack: '' })`],
])('a bounce mail that %s is accepted as undetermined, and is not retried', async (_, reaction) => {
  const { bounceAddress, ids, events } = await recipient()
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-task-'))
  const file = join(folder, 'task.mjs')
  writeFileSync(file, `process.on('message', () => { ${reaction} })\nprocess.send({ kind: 'ready' })\n`)
  const tasks = new TaskPool({ processes: 1, file })
  const logged: unknown[] = []
  const log = { warn: (fields: unknown) => logged.push(fields) } as unknown as Log
  const parts = {
    db: app.db,
    tokens,
    events: new EventRecorder({ db: app.db, stages: new StageRegistry() }),
    tasks,
    log,
    onSoftBounce: () => {},
  }

  await processIncomingBounce(parts, { recipients: [bounceAddress], sender: '', raw: Buffer.from('anything') })

  expect(logged).toMatchObject([{ messageId: ids.messageId, bytes: 8 }])
  expect(await events()).toEqual([])
  tasks.stop()
  rmSync(folder, { recursive: true })
})
