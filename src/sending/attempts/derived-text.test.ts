import { expect, test } from 'vitest'
import { getMessage } from '../../../test/support/messages.ts'
import { type ReceivedEmail, startRelay } from '../../../test/support/relay.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { parseId } from '../../platform/values/ids.ts'
import { derivedTextSince } from '../attachments/content.ts'

const paragraphs = (count: number) => Array.from({ length: count }, (_, number) => `<p>Line ${number}</p>`).join('')
const lines = (count: number) => Array.from({ length: count }, (_, number) => `Line ${number}`)
const wordsOf = ({ mail }: ReceivedEmail) => mail.text!.split('\n').filter((line) => line.trim() !== '')

const email = {
  from: 'Acme <hello@acme.example>',
  to: 'ada@example.com',
  subject: 'Your invoice',
  html: paragraphs(300),
}

async function send(app: TestApp, fields: object = {}): Promise<string> {
  const { status, text, body } = await app.publicApi('POST', '/emails', { ...email, ...fields })
  expect(status, text).toBe(200)
  return body.data.messages[0].id
}

const storedTexts = async (app: TestApp) =>
  (
    await app.db<{ text: string | null }>`
      select text from email_contents where organization_id = ${parseId('org', app.organizationId)}`
  ).map(({ text }) => text)

/** Only the first call of a test has the current number. */
async function tasksOf(app: TestApp): Promise<number> {
  const { text } = await app.call('GET', '/metrics')
  return Number(/waxwing_tasks_total\{task="messages.text",outcome="done"\} (\d+)/.exec(text)?.[1] ?? 0)
}

const inTomorrow = () => new Date(Date.now() + 24 * 3_600_000).toISOString()

test('the text of much HTML is derived for the first attempt, and kept for the others', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url, MAIL_RETRY_DELAYS: '1' })
  const attempts: ReceivedEmail[] = []
  relay.onData = async (received) => {
    attempts.push(received)
    if (attempts.length > 1) return undefined
    const [text] = await storedTexts(app)
    expect(text?.split('\n\n')).toEqual(lines(300))
    // As if another version of the program had derived it.
    await app.db.statement`
      update email_contents set text = 'Of another version'
      where organization_id = ${parseId('org', app.organizationId)}`
    return { code: 451, text: '4.3.0 Try again later' }
  }
  await send(app)
  await until('the second attempt', () => relay.mails[0])
  expect(attempts.map(wordsOf)).toEqual([lines(300), ['Of another version']])
  expect(attempts[0]!.raw).toContain('Content-Type: multipart/alternative')
})

test('every recipient of a large email without a text gets one', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const html = `${paragraphs(300)}<!--${'x'.repeat(200_000)}-->`
  await send(app, { html, to: ['ada@example.com', 'ben@example.com', 'cleo@example.com'] })
  const mails = await until('all emails', () => (relay.mails.length === 3 ? relay.mails : undefined))
  expect(mails.map(wordsOf)).toEqual(Array.from({ length: 3 }, () => lines(300)))
})

test('accepting an email does not wait for its text, which is shown before it is sent and sent with a copy', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const id = await send(app, { send_at: inTomorrow() })
  expect([await tasksOf(app), await storedTexts(app)]).toEqual([0, [null]])
  expect((await getMessage(app, id)).text?.split('\n\n')).toEqual(lines(300))
  expect(await storedTexts(app)).toEqual([null])
  const again = await app.manage('POST', `/organization/messages/${id}/send-again`)
  expect(again.status, again.text).toBe(200)
  const sent = await until('the copy', () => relay.mails[0])
  expect(wordsOf(sent)).toEqual(lines(300))
})

test('while a process of an earlier release may send it, an email is accepted with its text', async () => {
  const environment = { REQUIRE_VERIFIED_DOMAINS: 'true', ALLOWED_SENDER_DOMAINS: 'acme.example' }
  await using app = await startTestApp(environment, ['serve'], {
    openFor: async ({ db }) => {
      await db.statement`update schema_migrations set known_by_all = number < ${derivedTextSince}`
      return db
    },
  })
  // A sender that may not be used is found before the text is derived.
  const refused = await app.publicApi('POST', '/emails', { ...email, from: 'hello@other.example' })
  expect([refused.status, refused.body.error.type]).toEqual([422, 'sender_not_verified'])
  await send(app, { send_at: inTomorrow() })
  expect((await storedTexts(app)).map((text) => text?.split('\n\n'))).toEqual([lines(300)])
  expect(await tasksOf(app)).toBe(1)
})
