import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { createTransport, type SendMailOptions } from 'nodemailer'
import PostalMime from 'postal-mime'
import { afterAll, expect, test } from 'vitest'
import { dialSmtp } from '../../../test/support/dial-smtp.ts'
import { getMessage } from '../../../test/support/messages.ts'
import { registerOther } from '../../../test/support/people.ts'
import { type RawSmtp, startRawSmtp } from '../../../test/support/raw-smtp.ts'
import { create, createKey } from '../../../test/support/resources.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { dnsRecord, loadDkim } from '../../delivery/dkim/dkim.ts'
import { parseId } from '../../platform/values/ids.ts'

const extensions = ['PIPELINING', '8BITMIME', 'SMTPUTF8', 'ENHANCEDSTATUSCODES']
const folder = mkdtempSync(join(tmpdir(), 'waxwing-submission-'))
const privateKeyFile = join(folder, 'dkim.pem')
const { privateKey } = generateKeyPairSync('ed25519')
writeFileSync(privateKeyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }))

const sink = await startRawSmtp({ extensions })
const newApp = await startSharedApp({
  SUBMISSION_PORT: '0',
  SMTP_URL: sink.url,
  BOUNCE_DOMAIN: 'bounce.acme.example',
  BOUNCE_SMTP_PORT: '0',
  ...{ DKIM_DOMAIN: 'acme.example', DKIM_SELECTOR: 'mail', DKIM_PRIVATE_KEY_FILE: privateKeyFile },
})
afterAll(async () => {
  await sink.close()
  rmSync(folder, { recursive: true })
})

const portOf = ({ app }: TestApp) => app.submissionPorts().port!
const transportOf = (app: TestApp, pass = app.apiKey) =>
  createTransport({ host: '127.0.0.1', port: portOf(app), auth: { user: 'waxwing', pass } })
const sender = 'Acme <hello@acme.example>'

/** Returns the ids in the reply. */
async function send(app: TestApp, email: SendMailOptions): Promise<string[]> {
  const { response } = await transportOf(app).sendMail({ from: sender, ...email })
  return [...response.matchAll(/Queued as (msg_\w+)/g)].map(([, id]) => id!)
}

const rejection = (app: TestApp, email: SendMailOptions) =>
  send(app, email).then(
    () => 'accepted',
    (error: { response: string }) => error.response,
  )

let addresses = 0
/** An address of its own for each test, since all of them send to the same server. */
const newAddress = () => `person-${++addresses}@example.com`

async function sentTo(address: string, server: RawSmtp = sink): Promise<{ from: string; raw: Buffer }> {
  await until(`an email to ${address}`, () => server.mails.some(({ to }) => to === address))
  return server.mails.find(({ to }) => to === address)!
}
const countTo = (address: string) => sink.mails.filter(({ to }) => to === address).length

const headOf = (raw: Buffer) => raw.toString('latin1', 0, raw.indexOf('\r\n\r\n'))
const bodyOf = (raw: Buffer) => raw.subarray(raw.indexOf('\r\n\r\n') + 4)

/** Composes an email without sending it. */
async function composed(email: SendMailOptions): Promise<Buffer> {
  const { message } = await createTransport({ streamTransport: true, buffer: true, newline: 'windows' }).sendMail({
    from: sender,
    ...email,
  })
  return message as Buffer
}

const bytes = Buffer.from(Array.from({ length: 20_000 }, (_, at) => (at * 7) % 256))
const html = '<p>Grüße <img src="cid:logo"> <a href="https://acme.example/?a=1&amp;b=2">look</a></p>'
const logo = { filename: 'logo.png', content: bytes, cid: 'logo' }
const invoice = { filename: 'Rechnung März.pdf', content: bytes, contentType: 'application/pdf' }

test.each<[name: string, email: SendMailOptions]>([
  ['plain text with dots', { text: 'Hello\n.\n..two dots\nFrom here' }],
  ['text and HTML', { text: 'Grüße 👋', html }],
  ['text, HTML, an inline image and an attachment', { text: 'Grüße', html, attachments: [logo, invoice] }],
  ['no body', {}],
  ['a calendar invitation', { text: 'Invitation', icalEvent: { method: 'REQUEST', content: 'BEGIN:VCALENDAR\r\n' } }],
  [
    'an email as an attachment',
    { text: 'See', attachments: [{ filename: 'a.eml', contentType: 'message/rfc822', content: 'Subject: x\n\ny' }] },
  ],
])('sends an email with %s byte for byte', async (_name, email) => {
  const app = await newApp()
  const to = newAddress()
  const subject = 'Rechnung für Zoë 👋'
  const raw = await composed({ to: `Ada Übel <${to}>`, subject, ...email })
  const [id] = await send(app, { raw, envelope: { from: 'x@acme.example', to } })
  const sent = await sentTo(to)
  expect(bodyOf(sent.raw).equals(bodyOf(raw))).toBe(true)
  const parsed = await PostalMime.parse(sent.raw)
  expect(parsed).toMatchObject({
    from: { name: 'Acme', address: 'hello@acme.example' },
    to: [{ name: 'Ada Übel', address: to }],
    subject,
  })
  expect(await getMessage(app, id!)).toMatchObject({ id, contact: { email: to }, subject })
})

test('sends an email of ten thousand nested and flat parts as it is', async () => {
  const app = await newApp()
  const to = newAddress()
  const opened = Array.from(
    { length: 100 },
    (_, at) => `--b\r\nContent-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}`,
  )
  const body = Buffer.from(
    `${opened.join('\r\n')}\r\n${'--b\r\nContent-Type: image/png\r\n\r\nx\r\n'.repeat(10_000)}--b--\r\n`,
  )
  const head = `From: ${sender}\r\nTo: ${to}\r\nX-Waxwing-Track: opens\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n`
  await send(app, { raw: Buffer.concat([Buffer.from(head), body]), envelope: { from: '', to } })
  expect(bodyOf((await sentTo(to)).raw).equals(body)).toBe(true)
})

test('sends 8-bit content and headers in UTF-8, and uses its own envelope sender', async () => {
  const app = await newApp()
  const to = newAddress()
  const head = `From: Zoë <zoe@acme.example>\r\nTo: Ünal <${to}>\r\nSubject: Grüße\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: 8bit\r\n\r\n`
  const body = Buffer.from('Gr\xfc\xdfe\r\n', 'latin1')
  using client = await dialSmtp(portOf(app))
  await client.say('EHLO client')
  await client.say(`AUTH PLAIN ${Buffer.from(`\0x\0${app.apiKey}`).toString('base64')}`)
  expect(await client.say('MAIL FROM:<zoë@acme.example> BODY=8BITMIME SMTPUTF8')).toMatch(/^250/)
  await client.say(`RCPT TO:<${to}>`)
  await client.say('DATA')
  client.write(Buffer.concat([Buffer.from(head), body]))
  expect(await client.say('.')).toMatch(/^250 2\.6\.0 Queued as msg_\w+$/)
  const sent = await sentTo(to)
  expect(bodyOf(sent.raw).equals(body)).toBe(true)
  expect(headOf(sent.raw)).toMatch(/^[\x20-\x7e\r\n\t]*$/)
  expect(await PostalMime.parse(sent.raw)).toMatchObject({ subject: 'Grüße', text: 'Grüße\n', from: { name: 'Zoë' } })
  expect(sent.from).toMatch(/@bounce\.acme\.example$/)
  expect(sink.commands).toContain(`MAIL FROM:<${sent.from}> BODY=8BITMIME`)
})

test('each recipient of the envelope gets an email that shows To and Cc, and nobody sees Bcc', async () => {
  const app = await newApp()
  const [to, cc, bcc] = [newAddress(), newAddress(), newAddress()]
  const ids = await send(app, { to, cc, bcc: `Secret <${bcc}>`, subject: 'Hi', text: 'Hello' })
  expect(new Set(ids).size).toBe(3)
  const recipients = await Promise.all(ids.map(async (id) => (await getMessage(app, id)).contact.email))
  expect(recipients).toEqual([to, cc, bcc])
  for (const address of [to, cc, bcc]) {
    const { raw } = await sentTo(address)
    const { to: shownTo, cc: shownCc } = await PostalMime.parse(raw)
    expect([shownTo, shownCc]).toMatchObject([[{ address: to }], [{ address: cc }]])
    expect(raw.toString()).not.toContain(bcc)
    expect(countTo(address)).toBe(1)
  }
})

test('the same Message-ID and recipient are one email, also at the same time', async () => {
  const app = await newApp()
  const [first, second] = [newAddress(), newAddress()]
  const email = { messageId: `<${randomUUID()}@acme.example>`, subject: 'Once', text: 'Hello' }
  const answers = await Promise.all([1, 2, 3].map(() => send(app, { ...email, to: first })))
  const [id] = answers[0]!
  expect(answers).toEqual([[id], [id], [id]])
  const [same, other] = await send(app, { ...email, to: [first, second] })
  expect(same).toBe(id)
  expect(other).not.toBe(id)
  await sentTo(second)
  expect([countTo(first), countTo(second)]).toEqual([1, 1])
  expect((await sentTo(first)).raw.toString()).toContain(`\r\nMessage-ID: ${email.messageId}\r\n`)
  // Another organization may use it as well.
  const [foreign] = await send(await newApp(), { ...email, to: first })
  expect(foreign).not.toBe(id)
})

test('a suppressed recipient is accepted and recorded, and gets nothing', async () => {
  const app = await newApp()
  const [gone, other] = [newAddress(), newAddress()]
  await app.manage('POST', '/organization/suppressions', { email: gone })
  const [goneId] = await send(app, { to: [gone, other], subject: 'Hi', text: 'Hello' })
  expect(await getMessage(app, goneId!)).toMatchObject({ status: 'suppressed', reason: 'manual' })
  await sentTo(other)
  expect(countTo(gone)).toBe(0)
})

test('tracks links and opens if the email asks for it, and leaves the other parts unchanged', async () => {
  const app = await newApp()
  const to = newAddress()
  const raw = await composed({
    ...{ to, subject: 'Hi', text: 'See https://acme.example/', html, attachments: [logo, invoice] },
    headers: { 'X-Waxwing-Track': 'opens,clicks', 'X-Waxwing-Tags': 'order=1042' },
  })
  const [id] = await send(app, { raw, envelope: { from: '', to } })
  const sent = await sentTo(to)
  const [before, after] = await Promise.all([PostalMime.parse(raw), PostalMime.parse(sent.raw)])
  expect(after.text).toBe(before.text)
  expect(after.attachments).toEqual(before.attachments)
  expect(after.html).toMatch(
    /^<p>Grüße <img src="cid:logo"> <a href="http:\/\/[^"]+\/t\/c\/[^"]+">look<\/a><\/p><img src="http/,
  )
  expect(headOf(sent.raw).toLowerCase()).not.toContain('waxwing')
  const [, path] = /href="http:\/\/[^/]+(\/t\/c\/[^"]+)"/.exec(after.html!)!
  const clicked = await app.call('GET', path!, {
    headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140' },
  })
  expect(clicked.headers.get('location')).toBe('https://acme.example/?a=1&b=2')
  const { events, tags } = await getMessage(app, id!)
  expect(tags).toEqual([{ name: 'order', value: '1042' }])
  expect(events.map((event: { event_name: string }) => event.event_name)).toContain('emailClick')
})

test.each([
  [
    'base64',
    'iso-8859-1',
    Buffer.from('<p>Gr\xfc\xdfe <a href="https://a.example">x</a></p>', 'latin1').toString('base64'),
  ],
  ['quoted-printable', 'utf-8', '<p>Gr=C3=BC=C3=9Fe <a href=3D"https://a.exa=\r\nmple">x</a></p>'],
  ['8bit', 'utf-8', '<p>Grüße <a href="https://a.example">x</a></p>'],
])('tracks the links of an email that is only HTML in %s and %s', async (encoding, charset, content) => {
  const app = await newApp()
  const to = newAddress()
  const head = `From: ${sender}\r\nTo: ${to}\r\nX-Waxwing-Track: clicks\r\nContent-Type: text/html; charset=${charset}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`
  await send(app, { raw: Buffer.from(`${head}${content}\r\n`), envelope: { from: '', to } })
  const parsed = await PostalMime.parse((await sentTo(to)).raw)
  expect(parsed.html).toMatch(/^<p>Grüße <a href="http:\/\/[^"]+\/t\/c\/[^"]+">x<\/a><\/p>\s*$/)
})

test('a marketing email has our headers and link to unsubscribe, and goes to subscribed contacts only', async () => {
  const app = await newApp()
  const [subscribed, stranger] = [newAddress(), newAddress()]
  await app.manage('POST', '/organization/contacts', { email: subscribed, subscription: 'subscribed' })
  const list = { unsubscribe: 'https://acme.example/theirs' }
  const headers = { 'X-Waxwing-Kind': 'marketing' }
  const [, strangerId] = await send(app, {
    to: [subscribed, stranger],
    subject: 'News',
    text: 'News',
    html,
    list,
    headers,
  })
  expect(await getMessage(app, strangerId!)).toMatchObject({ status: 'suppressed', reason: 'not_subscribed' })
  const { raw } = await sentTo(subscribed)
  const parsed = await PostalMime.parse(raw)
  const unsubscribe = parsed.headers.filter(({ key }) => key.startsWith('list-unsubscribe'))
  expect(unsubscribe.map(({ key }) => key)).toEqual(['list-unsubscribe', 'list-unsubscribe-post'])
  expect(raw.toString()).not.toContain('theirs')
  expect(parsed.html).toMatch(/href="http:\/\/[^"]+\/u\/[^"]+"/)
  expect(parsed.text).toMatch(/Unsubscribe: http:\/\/[^\s]+\/u\//)
  expect(parsed.html).toContain('href="https://acme.example/?a=1&amp;b=2"')
})

test('signs emails of our domain, whose own signatures are removed', async () => {
  const app = await newApp()
  const record = dnsRecord(loadDkim({ domain: 'acme.example', selector: 'mail', privateKeyFile }))
  const resolver = async () => [record.value.match(/.{1,255}/g)!]
  const large = Buffer.alloc(700_000, 'x')
  for (const [subject, attachments, track] of [
    ['Small', [], 'none'],
    ['Tracked', [invoice], 'opens,clicks'],
    ['Large', [{ filename: 'large.bin', content: large }], 'opens'],
  ] as const) {
    const to = newAddress()
    const headers = { 'DKIM-Signature': 'v=1; d=acme.example; b=x', 'X-Waxwing-Track': track }
    await send(app, {
      to,
      cc: 'cc@example.com',
      subject,
      text: 'Text  with  spaces \n\n\n',
      html,
      attachments: [...attachments],
      headers,
    })
    const { raw } = await sentTo(to)
    const { results } = await dkimVerify(raw, { resolver })
    expect(
      results.map(({ status }) => status.result),
      subject,
    ).toEqual(['pass'])
  }
})

test('text and HTML with long lines are encoded again, and signed as they are sent', async () => {
  const app = await newApp()
  const record = dnsRecord(loadDkim({ domain: 'acme.example', selector: 'mail', privateKeyFile }))
  const resolver = async () => [record.value.match(/.{1,255}/g)!]
  const long = `<p>${'Grüße '.repeat(1_000)}</p>`
  const html8bit = 'Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n'
  const short = `Content-Type: text/plain\r\n\r\n${'y'.repeat(998)}\r\n`
  for (const [description, body] of [
    ['', `${html8bit}${long}\r\n`],
    [
      'Content-Type: multipart/alternative; boundary=b\r\n\r\n',
      `--b\r\n${short}--b\r\n${html8bit}${long}\r\n--b--\r\n`,
    ],
  ] as const) {
    const to = newAddress()
    const raw = `From: ${sender}\r\nTo: ${to}\r\nSubject: Long\r\nMIME-Version: 1.0\r\n${description}${body}`
    await send(app, { raw, envelope: { from: '', to } })
    const sent = (await sentTo(to)).raw
    expect(
      Math.max(
        ...sent
          .toString('latin1')
          .split('\r\n')
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(998)
    expect((await PostalMime.parse(sent)).html?.trim()).toBe(long)
    expect((await dkimVerify(sent, { resolver })).results.map(({ status }) => status.result)).toEqual(['pass'])
    expect(sent.includes(short)).toBe(body.includes(short))
  }
})

test('sends through a flow with the context of a header', async () => {
  const app = await newApp()
  const flow = await app.manage('POST', '/organization/flows', {
    ...{ name: 'Order', kind: 'transactional', subject: 'Order {{ order_id }} for {{ contact.first_name }}' },
    html: '<p>{{ order_id }} {{ name }}</p>',
  })
  const headers = {
    'X-Waxwing-Flow': flow.body.data.id,
    'X-Waxwing-Context': JSON.stringify({ order_id: 1042, name: 'Zoë '.repeat(100) }),
  }
  const [known, unknown] = [newAddress(), newAddress()]
  await app.manage('POST', '/organization/contacts', { email: known, first_name: 'Ada' })
  const email = { subject: 'ignored', text: 'ignored', headers, messageId: `<${randomUUID()}@acme.example>` }
  // All recipients or none: a variable is missing for one of them.
  expect(await rejection(app, { ...email, to: [known, unknown] })).toMatch(/^550 5\.6\.0 .*first_name/)
  const [id] = await send(app, { ...email, to: known })
  expect(await send(app, { ...email, to: known })).toEqual([id])
  expect(await PostalMime.parse((await sentTo(known)).raw)).toMatchObject({
    subject: 'Order 1042 for Ada',
    html: expect.stringContaining('1042 Zoë Zoë'),
  })
  expect([countTo(known), countTo(unknown)]).toEqual([1, 0])
  const headersOfOther = { ...headers, 'X-Waxwing-Flow': 'flw_unknown' }
  expect(await rejection(app, { ...email, to: known, headers: headersOfOther })).toMatch(/^550 5\.6\.0 /)
})

test('a key that may not send cannot sign in, and a revoked one cannot send any more', async () => {
  const app = await newApp()
  const reader = await createKey(app, ['messages:read'])
  const failed = await transportOf(app, reader)
    .sendMail({ from: sender, to: newAddress() })
    .catch((error) => error)
  expect(failed.response).toBe('535 5.7.8 This API key does not have the scope messages:send.')

  const key = await create(app, '/api-keys', { name: 'x', scopes: ['messages:send'] })
  using client = await dialSmtp(portOf(app))
  await client.say('EHLO client')
  expect(await client.say(`AUTH PLAIN ${Buffer.from(`\0x\0${key.api_key}`).toString('base64')}`)).toMatch(/^235/)
  expect(await client.say('MAIL FROM:<>')).toMatch(/^250/)
  await client.say('RSET')
  await app.manage('DELETE', `/organization/api-keys/${key.id}`)
  expect(await client.say('MAIL FROM:<>')).toMatch(/^421 4\.7\.0 /)
  const withdrawn = await create(app, '/api-keys', { name: 'x', scopes: ['messages:send'] })
  using other = await dialSmtp(portOf(app))
  await other.say('EHLO client')
  await other.say(`AUTH PLAIN ${Buffer.from(`\0x\0${withdrawn.api_key}`).toString('base64')}`)
  expect(await other.say('MAIL FROM:<>')).toMatch(/^250/)
  await app.db.statement`update api_keys set scopes = '{messages:read}' where id = ${parseId('key', withdrawn.id)!}`
  // Keys in use are confirmed every two seconds.
  await until('the scope to be withdrawn', async () => {
    await other.say('RSET')
    return (await other.say('MAIL FROM:<>')).startsWith('421 4.7.0 ')
  })
  // The flow of a header needs the scope of flows.
  const narrow = await createKey(app, ['messages:send'])
  const headers = { 'X-Waxwing-Flow': 'flw_1' }
  const refused = await transportOf(app, narrow)
    .sendMail({ from: sender, to: newAddress(), headers })
    .catch((error) => error)
  expect(refused.response).toBe('550 5.7.1 This API key does not have the scope flows:send.')
})

test('limits failed attempts to sign in, without locking out another key at the same address', async () => {
  const app = await newApp()
  const attempt = async (pass: string) => {
    const error = await transportOf(app, pass)
      .verify()
      .catch((fault) => fault)
    return error === true ? 'ok' : error.response
  }
  const wrong = `wxk_${'x'.repeat(40)}`
  for (let count = 0; count < 10; count++) expect(await attempt(wrong)).toMatch(/^535 5\.7\.8 /)
  expect(await attempt(wrong)).toMatch(/^454 4\.7\.0 /)
  expect(await attempt(app.apiKey)).toBe('ok')
  // More than an address may fail, with other keys.
  const keys = Array.from({ length: 60 }, (_, index) => `wxk_${String(index).padStart(40, 'x')}`)
  const replies = await Promise.all(keys.map(attempt))
  expect(new Set(replies.map((reply) => reply.slice(0, 9)))).toEqual(new Set(['535 5.7.8', '454 4.7.0']))
  expect(await attempt(app.apiKey)).toBe('ok')
})

test('an email with NUL in the header of a part is rejected for good', async () => {
  const app = await newApp()
  const to = newAddress()
  const parts = '--b\r\nContent-Type: text/plain\r\nX-Note: a\0b\r\n\r\nHello\r\n--b--\r\n'
  const raw = `From: ${sender}\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${parts}`
  expect(await rejection(app, { raw, envelope: { from: 'x@acme.example', to } })).toMatch(/^550 5\.6\.0 /)
})

test('an email that breaks off leaves nothing behind', async () => {
  const app = await newApp()
  const count = async () => {
    const [row] = await app.db<{ count: number }>`select count(*)::int as count from stored_file_chunks`
    return row!.count
  }
  const before = await count()
  const client = await dialSmtp(portOf(app))
  await client.say('EHLO client')
  await client.say(`AUTH PLAIN ${Buffer.from(`\0x\0${app.apiKey}`).toString('base64')}`)
  await client.say('MAIL FROM:<>')
  await client.say(`RCPT TO:<${newAddress()}>`)
  await client.say('DATA')
  client.write(`From: ${sender}\r\n\r\n${`${'x'.repeat(98)}\r\n`.repeat(10_000)}`)
  await until('a part to be stored', async () => (await count()) > before)
  client.socket.destroy()
  await until('the parts to be deleted', async () => (await count()) === before)
})

test('erasing a contact removes the address from the stored header of an email to several recipients', async () => {
  const app = await newApp()
  const [to, cc] = [newAddress(), newAddress()]
  const [id] = await send(app, { to: `Ada <${to}>`, cc, subject: 'Hi', text: 'Hello', headers: { 'X-Order': '1042' } })
  await sentTo(cc)
  const { contact } = await getMessage(app, id!)
  expect((await app.manage('DELETE', `/organization/contacts/${contact.id}?erase=true`)).status).toBe(200)
  const [row] = await app.db<{ details: string }>`
    select details::text as details from email_contents where details::text like ${`%${cc}%`}`
  expect(row!.details).not.toContain(to)
  expect(row!.details).toContain('X-Order: 1042')
})

test('From must be an allowed address where senders are limited, and new organizations have a daily limit', async () => {
  await using app = await startTestApp({
    ...{ SUBMISSION_PORT: '0', REQUIRE_VERIFIED_DOMAINS: 'true', ALLOWED_SENDER_DOMAINS: 'acme.example' },
    ...{ SMTP_URL: sink.url, NEW_ORGANIZATION_DAILY_MESSAGES: '2' },
  })
  const email = { subject: 'Hi', text: 'Hello' }
  const to = newAddress()
  expect(await rejection(app, { ...email, to, from: 'ceo@bank.example' })).toMatch(/^550 5\.7\.1 /)
  const spoofed = { ...email, to, sender: 'ceo@bank.example' }
  expect(await rejection(app, spoofed)).toMatch(/^550 5\.7\.1 /)
  const other = await registerOther(app)
  const registered = { ...app, apiKey: await createKey(other) }
  expect(await send(registered, { ...email, to: [to, newAddress()] })).toHaveLength(2)
  expect(await rejection(registered, { ...email, to })).toMatch(/^451 4\.7\.1 /)
})

test('emails are recorded as requests of the key, rejected ones with the reply', async () => {
  const app = await newApp()
  const to = newAddress()
  await send(app, { to, subject: 'Hello', text: 'Hello' })
  const headers = { 'X-Waxwing-Flow': 'flw_none' }
  const rejected = await rejection(app, { to, subject: 'Hello', text: 'Hello', headers })
  const list = async () => (await app.manage('GET', '/organization/api-requests')).body.data
  const [second, first] = await until('both requests', async () => {
    const rows = await list()
    return rows.length === 2 ? rows : undefined
  })
  expect(first).toMatchObject({
    via: 'smtp',
    path: 'submission',
    status: 250,
    error_message: null,
    client: '127.0.0.1',
  })
  expect(second).toMatchObject({ via: 'smtp', status: Number(rejected.slice(0, 3)), error_type: 'not_found' })
  const { body } = await app.manage('GET', `/organization/api-requests/${second.request_id}`)
  expect(JSON.parse(body.data.body)).toEqual({ recipients: [to] })
})
