import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendTo, startWithReader, tokens } from '../../../test/support/readers.ts'
import { type Answer, callUrl } from '../../../test/support/test-app.ts'
import { waitMsMax } from '../../../test/support/time-limits.ts'
import { until } from '../../../test/support/until.ts'
import { newId } from '../../platform/values/ids.ts'
import { recordUnsubscription, undoUnsubscription } from './unsubscribe.ts'

let app: Awaited<ReturnType<typeof startWithReader>>
beforeAll(async () => {
  app = await startWithReader({}, {}, { tuning: { recipientNamesMsMax: waitMsMax } })
})
afterAll(() => app[Symbol.asyncDispose]())

type Reader = Awaited<ReturnType<typeof app.newReader>>
const linkOf = ({ ids }: Pick<Reader, 'ids'>) => `/u/${tokens.sign('unsubscribe_link', ids)}`
const post = (path: string, raw = '', type = 'application/x-www-form-urlencoded') =>
  callUrl('POST', `${app.url}${path}`, { raw, headers: { 'content-type': type } })

/** Returns the page, which contains the text. */
async function pageWith(text: string, request: () => Promise<Answer>): Promise<Answer> {
  const page = await request()
  expect(page.status).toBe(200)
  expect(page.text).toContain(text)
  return page
}

test('the page names the organization, masks the address, and has no side effects', async () => {
  const reader = await app.newReader()
  const page = await pageWith('Unsubscribe from Acme?', () => app.get(linkOf(reader)))
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.text).toContain('r•••@example.com')
  expect(page.text).not.toContain(reader.email)
  expect(await reader.events()).toEqual([])
  expect(await app.subscription(reader.email)).toBe('not_subscribed')
})

test('the button unsubscribes, stops marketing email and is recorded once', async () => {
  const reader = await app.newReader()
  const first = await post(linkOf(reader))
  const second = await post(linkOf(reader))
  expect([first.status, second.status]).toEqual([200, 200])
  expect(first.text).toContain('You’ve been unsubscribed')
  expect(await app.subscription(reader.email)).toBe('unsubscribed')
  expect(await reader.events()).toMatchObject([
    { eventName: 'contactUnsubscribe', messageId: reader.ids.messageId, data: { method: 'page' } },
  ])
  const marketing = await sendTo(app, reader.email, { name: 'News', kind: 'marketing' })
  const [message] = await app.db<{ status: string }>`select status from messages where id = ${marketing.messageId}`
  expect(message!.status).toBe('suppressed')
  await pageWith('You’ve been unsubscribed', () => app.get(linkOf(reader)))
})

const boundary = '----boundary7MA4YWxkTrZu0gW'
const oneClickBodies: [string, string, string][] = [
  ['urlencoded', 'List-Unsubscribe=One-Click', 'application/x-www-form-urlencoded'],
  [
    'multipart',
    `--${boundary}\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--${boundary}--\r\n`,
    `multipart/form-data; boundary=${boundary}`,
  ],
  ['without a type of content', 'List-Unsubscribe=One-Click', 'text/plain'],
]
test.each(oneClickBodies)('one click in a mail program unsubscribes: %s', async (_name, body, type) => {
  const reader = await app.newReader()
  const answer = await post(linkOf(reader), body, type)
  expect(answer.status).toBe(200)
  expect(await reader.events()).toMatchObject([{ eventName: 'contactUnsubscribe', data: { method: 'one_click' } }])
})

test('an unsubscription can be undone and repeated', async () => {
  const reader = await app.newReader()
  await post(linkOf(reader))
  expect(await app.subscription(reader.email)).toBe('unsubscribed')
  // While the database does not commit within 200 ms, an unsubscription is accepted but undoing it is not.
  const undone = await until('an answer of the database', async () => {
    const answer = await post(`${linkOf(reader)}/undo`)
    return answer.status === 503 ? undefined : answer
  })
  expect([undone.status, undone.text.includes('You’re subscribed again')]).toEqual([200, true])
  expect(await app.subscription(reader.email)).toBe('subscribed')
  const [suppression] = await app.db`select 1 from suppressions where email_key = ${reader.email}`
  expect(suppression).toBeUndefined()
  await post(linkOf(reader))
  expect(await app.subscription(reader.email)).toBe('unsubscribed')
  expect(await reader.events()).toHaveLength(2)
})

test('an unsubscription that was undone has no effect when it is replayed from the spool', async () => {
  const reader = await app.newReader()
  const unsubscription = { ...reader.ids, id: newId('evt'), method: 'page', occurredAt: new Date() } as const
  const record = () => recordUnsubscription(app.db, unsubscription)
  expect(await record()).toBe(true)
  await undoUnsubscription(app.db, reader.ids, '192.0.2.1')
  expect(await record()).toBe(false)
  expect(await app.subscription(reader.email)).toBe('subscribed')
  expect(await reader.events()).toHaveLength(1)
})

test('undoing without an unsubscription changes nothing', async () => {
  const reader = await app.newReader()
  await post(`${linkOf(reader)}/undo`)
  expect(await app.subscription(reader.email)).toBe('not_subscribed')
})

test('pressing the button many times is one event', async () => {
  const reader = await app.newReader()
  const answers = await Promise.all(Array.from({ length: 10 }, () => post(linkOf(reader))))
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
  expect(await reader.events()).toHaveLength(1)
})

test('an erased contact is not subscribed, and the button has no effect', async () => {
  const reader = await app.newReader()
  await app.db.statement`delete from contacts where id = ${reader.ids.contactId}`
  const nothing = 'You’re not subscribed'
  await pageWith(nothing, () => app.get(linkOf(reader)))
  for (const path of [linkOf(reader), `${linkOf(reader)}/undo`]) {
    // While the database does not commit within 200 ms, it is not asked.
    const page = await until('an answer of the database', async () => {
      const answer = await post(path)
      return answer.text.includes(nothing) ? answer : undefined
    })
    expect(page.status).toBe(200)
  }
  expect(await reader.events()).toEqual([])
})

test('the page allows no scripts or external resources, and escapes names', async () => {
  const reader = await app.newReader()
  await app.db.statement`update organizations set name = '<script>alert(1)</script> **& Co**'`
  const page = await pageWith('&lt;script&gt;alert(1)&lt;/script&gt;', () => app.get(linkOf(reader)))
  expect(page.text).not.toContain('<script')
  await app.db.statement`update organizations set name = 'Acme'`
  const policy = page.headers.get('content-security-policy')!
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self'/)
  expect(policy).not.toContain('unsafe')
})

test('the buttons use the public base URL', async () => {
  await using published = await startWithReader({ BASE_URL: 'https://acme.example/mail' })
  const page = await published.get(linkOf(published))
  expect(page.text).toContain(`action="/mail${linkOf(published)}"`)
})

test('an oversized body is rejected', async () => {
  const reader = await app.newReader()
  expect((await post(linkOf(reader), 'x'.repeat(100_000))).status).toBe(413)
  expect(await reader.events()).toEqual([])
})
