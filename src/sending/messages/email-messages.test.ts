import { expect, test } from 'vitest'
import { startRelay } from '../../../test/support/relay.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { type EmailId, type OrganizationId, parseId } from '../../platform/values/ids.ts'
import { cancelMessage } from '../acceptance/cancel.ts'
import { cancelEmail, getMessagesOf, rescheduleEmail } from './email-messages.ts'

const dayMs = 24 * 60 * 60 * 1000
const inDays = (days: number) => new Date(Date.now() + days * dayMs)
const email = { from: 'hello@acme.example', subject: 'Hello', text: 'Hello' }

/** Sends an email without a flow, and returns functions that change it. */
async function submit(app: TestApp, body: object) {
  const answer = await app.publicApi('POST', '/emails', { ...email, ...body })
  if (answer.status !== 200) throw new Error(answer.text)
  const organizationId = parseId('org', app.organizationId) as OrganizationId
  const id = parseId('eml', answer.body.data.id) as EmailId
  const byRecipient = (messages: Awaited<ReturnType<typeof getMessagesOf>>) =>
    Object.fromEntries(messages.map((message) => [message.email.split('@')[0], message.status]))
  return {
    organizationId,
    messages: () => getMessagesOf(app.db, organizationId, id),
    statuses: async () => byRecipient(await getMessagesOf(app.db, organizationId, id)),
    cancel: async () => byRecipient(await cancelEmail(app.db, organizationId, id)),
    reschedule: (sendAt: Date) => rescheduleEmail(app.db, organizationId, id, sendAt),
  }
}

test('cancelling an email cancels all recipients that were not handed to a mail server', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url, MAIL_RETRY_DELAYS: '3600' })
  let release = () => {}
  const released = new Promise<undefined>((resolve) => {
    release = () => resolve(undefined)
  })
  relay.onRecipient = (address) => {
    if (address.startsWith('ada')) return released
    return address.startsWith('dan') ? undefined : { code: 451, text: '4.7.1 Try again later' }
  }
  const to = ['ada', 'ben', 'cleo', 'dan'].map((name) => `${name}@example.com`)
  const { messages, statuses, cancel } = await submit(app, { to })
  await until('the deferrals', async () => {
    const [ada, ben, cleo, dan] = await messages()
    return ada.reason === null && ben!.reason === 'deferred' && cleo!.reason === 'deferred' && dan!.status === 'sent'
  })
  expect(await cancel()).toEqual({ ada: 'queued', ben: 'cancelled', cleo: 'cancelled', dan: 'sent' })
  release()
  await until('the email in flight', async () => (await statuses()).ada === 'sent')
  expect(relay.mails.map(({ recipient }) => recipient).sort()).toEqual(['ada@example.com', 'dan@example.com'])
  // Repeated, it has no effect.
  expect(await cancel()).toEqual({ ada: 'sent', ben: 'cancelled', cleo: 'cancelled', dan: 'sent' })
})

test('an email of which nothing could be cancelled is a conflict', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const { statuses, cancel } = await submit(app, { to: ['ada@example.com', 'ben@example.com'] })
  await until('both emails', async () => Object.values(await statuses()).every((status) => status === 'sent'))
  await expect(cancel()).rejects.toMatchObject({ type: 'conflict' })
})

test('an email is rescheduled while every recipient is still scheduled', async () => {
  await using app = await startTestApp({}, ['serve'])
  await app.manage('POST', '/organization/suppressions', { email: 'cleo@example.com' })
  const to = ['ada@example.com', 'ben@example.com', 'cleo@example.com']
  const { organizationId, messages, reschedule } = await submit(app, { to, send_at: inDays(1).toISOString() })
  const later = inDays(2)
  const moved = await reschedule(later)
  expect(moved.map(({ status, sendAt }) => [status, status === 'queued' ? sendAt : null])).toEqual([
    ['queued', later],
    ['queued', later],
    ['suppressed', null],
  ])
  expect(await app.db`select due_at from jobs`).toEqual([{ dueAt: later }, { dueAt: later }])
  await cancelMessage(app.db, organizationId, (await messages())[0].id)
  await expect(reschedule(inDays(3))).rejects.toMatchObject({ type: 'conflict' })
  expect(await app.db`select due_at from jobs`).toEqual([{ dueAt: later }])
})

test('the files of an email that is moved are kept for as long after its new time', async () => {
  await using app = await startTestApp({}, ['serve'])
  const attachments = [{ filename: 'a.txt', content: Buffer.from('a').toString('base64') }]
  const { reschedule } = await submit(app, { to: 'ada@example.com', attachments, send_at: inDays(1).toISOString() })
  const later = inDays(80)
  await reschedule(later)
  const kept = await app.db<{ filesUntil: Date }>`select files_until from email_contents`
  expect(kept).toEqual([{ filesUntil: new Date(+later + 30 * dayMs) }])
})

test('the content of an email without files that is moved is kept for as long after its new time', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { reschedule } = await submit(app, { to: 'ada@example.com', send_at: inDays(1).toISOString() })
  const later = inDays(2)
  await reschedule(later)
  expect(await app.db`select files_until from email_contents`).toEqual([{ filesUntil: new Date(+later + 30 * dayMs) }])
})
