import { expect, test } from 'vitest'
import { sendTo, startWithReader, tokens } from '../../test/support/readers.ts'
import { callUrl } from '../../test/support/test-app.ts'

type App = Awaited<ReturnType<typeof startWithReader>>
const linkOf = (app: App, ids = app.ids) => `/u/${tokens.sign('unsubscribe', ids)}`
const post = (app: App, path: string, raw = '', type = 'application/x-www-form-urlencoded') =>
  callUrl('POST', `${app.url}${path}`, { raw, headers: { 'content-type': type } })

test('the page names the organization and masks the address, and looking at it changes nothing', async () => {
  await using app = await startWithReader()
  const page = await app.get(linkOf(app))
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.text).toContain('Unsubscribe from Acme?')
  expect(page.text).toContain('a•••@example.com')
  expect(page.text).not.toContain('ada@example.com')
  expect(await app.events()).toEqual([])
  expect(await app.subscription()).toBe('not_subscribed')
})

test('the page’s button unsubscribes, stops marketing mail, and is recorded once however often it is pressed', async () => {
  await using app = await startWithReader({}, { kind: 'transactional' })
  const first = await post(app, linkOf(app))
  const second = await post(app, linkOf(app))
  expect([first.status, second.status]).toEqual([200, 200])
  expect(first.text).toContain('You are unsubscribed')
  expect(await app.subscription()).toBe('unsubscribed')
  expect(await app.events()).toMatchObject([
    { eventName: 'contactUnsubscribe', messageId: app.ids.messageId, data: { method: 'page' } },
  ])
  const marketing = await sendTo(app, 'ada@example.com', { name: 'News', kind: 'marketing' })
  const [message] = await app.db<{ status: string }>`select status from messages where id = ${marketing.messageId}`
  expect(message!.status).toBe('suppressed')
  expect((await app.get(linkOf(app))).text).toContain('You are unsubscribed')
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
  await using app = await startWithReader()
  const answer = await post(app, linkOf(app), body, type)
  expect(answer.status).toBe(200)
  expect(await app.events()).toMatchObject([{ eventName: 'contactUnsubscribe', data: { method: 'one_click' } }])
})

test('an unsubscription can be undone, and made again', async () => {
  await using app = await startWithReader()
  await post(app, linkOf(app))
  const undone = await post(app, `${linkOf(app)}/undo`)
  expect([undone.status, undone.text.includes('You are subscribed again')]).toEqual([200, true])
  expect(await app.subscription()).toBe('subscribed')
  const [suppression] = await app.db`select 1 from suppressions where email_key = 'ada@example.com'`
  expect(suppression).toBeUndefined()
  await post(app, linkOf(app))
  expect(await app.subscription()).toBe('unsubscribed')
  expect(await app.events()).toHaveLength(2)
})

test('undoing what was not done subscribes nobody', async () => {
  await using app = await startWithReader()
  await post(app, `${linkOf(app)}/undo`)
  expect(await app.subscription()).toBe('not_subscribed')
})

test('pressing the button many times at once is one event', async () => {
  await using app = await startWithReader()
  const answers = await Promise.all(Array.from({ length: 10 }, () => post(app, linkOf(app))))
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
  expect(await app.events()).toHaveLength(1)
})

test('who was erased has nothing to unsubscribe from, and pressing on does no harm', async () => {
  await using app = await startWithReader()
  await app.db.alone`delete from contacts where id = ${app.ids.contactId}`
  expect((await app.get(linkOf(app))).text).toContain('There is nothing to unsubscribe from')
  expect((await post(app, linkOf(app))).status).toBe(200)
  expect(await app.events()).toEqual([])
})

test('the page allows no script, nothing from elsewhere, and does not run what a name contains', async () => {
  await using app = await startWithReader()
  await app.db.alone`update organizations set name = '<script>alert(1)</script> **& Co**'`
  const page = await app.get(linkOf(app))
  expect(page.text).not.toContain('<script')
  expect(page.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  const policy = page.headers.get('content-security-policy')!
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self'/)
  expect(policy).not.toContain('unsafe')
})

test('the buttons lead to where the service is published', async () => {
  await using app = await startWithReader({ BASE_URL: 'https://acme.example/mail' })
  const page = await app.get(linkOf(app))
  expect(page.text).toContain(`action="/mail${linkOf(app)}"`)
})

test('a body that is far too large is refused', async () => {
  await using app = await startWithReader()
  expect((await post(app, linkOf(app), 'x'.repeat(100_000))).status).toBe(413)
  expect(await app.events()).toEqual([])
})
