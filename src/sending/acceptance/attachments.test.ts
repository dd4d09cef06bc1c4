import { createHash } from 'node:crypto'
import { request } from 'node:http'
import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { getMessage } from '../../../test/support/messages.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { announcedSeed } from '../../../test/support/seeded.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { eraseContact } from '../../operations/privacy/erase-contact.ts'
import { parseId } from '../../platform/values/ids.ts'
import { removeExpiredContents } from '../attachments/retention.ts'

const random = announcedSeed('files')

const newApp = await startSharedApp()
const email = { from: 'hello@acme.example', to: 'ada@example.com', subject: 'Files', text: 'See the files' }
const file = (filename: string, bytes: Uint8Array, more = {}) => ({
  filename,
  content: Buffer.from(bytes).toString('base64'),
  ...more,
})
const megabyte = 1024 * 1024
const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const counts = async ({ db }: TestApp) =>
  (
    await db<Record<'files' | 'chunks' | 'contents', number>>`
      select (select count(*) from stored_files) as files, (select count(*) from stored_file_chunks) as chunks,
        (select count(*) from email_contents) as contents`
  )[0]
const nothing = { files: 0, chunks: 0, contents: 0 }

test('a file of many chunks is stored once, and sent byte for byte with a valid size', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const bytes = random.bytes(2 * megabyte + 12_345)
  for (const to of ['ada@example.com', ['ben@example.com', 'cleo@example.com']]) {
    const { status } = await app.publicApi('POST', '/emails', { ...email, to, attachments: [file('a.bin', bytes)] })
    expect(status).toBe(200)
  }
  await until('the emails', () => relay.mails.length === 3)
  for (const { mail } of relay.mails) {
    expect(mail.text?.trim()).toBe('See the files')
    expect(hashOf(Buffer.from(mail.attachments[0]!.content as ArrayBuffer))).toBe(hashOf(bytes))
  }
  expect(await counts(app)).toEqual({ files: 1, chunks: 37, contents: 2 })
  expect(await app.db`select uses from stored_files`).toEqual([{ uses: 2 }])
})

test('an email through a flow has attachments', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const flowId = await createFlow(app)
  const large = random.bytes(400_000)
  for (const bytes of [Buffer.from('small'), large]) {
    const { body, status } = await send(app, flowId, { attachments: [file('a.bin', bytes)] })
    expect([status, body.data.status]).toEqual([200, 'queued'])
  }
  await until('the emails', () => relay.mails.length === 2)
  const sizes = relay.mails.map(({ mail }) => (mail.attachments[0]!.content as ArrayBuffer).byteLength)
  expect(sizes.toSorted((a, b) => a - b)).toEqual([5, large.length])
  expect(relay.mails[0]!.mail.html).toContain('/t/o/')
})

test('a repeated request sends the files once, and another file with the same key is rejected', async () => {
  const app = await newApp()
  const headers = { 'idempotency-key': 'invoice-1' }
  const one = { ...email, attachments: [file('a.bin', random.bytes(300_000))] }
  const first = await app.publicApi('POST', '/emails', one, headers)
  const again = await app.publicApi('POST', '/emails', one, headers)
  expect(again.body).toEqual(first.body)
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  const other = { ...email, attachments: [file('a.bin', random.bytes(300_000))] }
  const rejected = await app.publicApi('POST', '/emails', other, headers)
  expect([rejected.status, rejected.body.error.type]).toEqual([409, 'idempotency_key_reused'])
})

test('files of rejected requests are not kept', async () => {
  await using app = await startTestApp({}, ['serve'])
  const bytes = random.bytes(300_000)
  const large = random.bytes(10 * megabyte + 1)
  for (const fields of [
    { to: 'nobody', attachments: [file('a.bin', bytes)] },
    { attachments: [file('a.bin', bytes), { filename: 'b.bin', content: '!' }] },
    { attachments: [file('a.bin', large)] },
    { attachments: [file('a/b.bin', bytes)] },
  ]) {
    const answer = await app.publicApi('POST', '/emails', { ...email, ...fields })
    expect([answer.status, answer.body.error.type]).toEqual([422, 'validation_failed'])
  }
  const many = [large.subarray(1), large.subarray(1)].map((part, index) => file(`${index}.bin`, part))
  const tooMuch = await app.publicApi('POST', '/emails', { ...email, attachments: many })
  expect([tooMuch.status, tooMuch.body.error.type]).toEqual([413, 'payload_too_large'])
  await until('the files to be deleted', async () => {
    const { files, chunks } = (await counts(app))!
    return files + chunks === 0
  })
})

test('an interrupted upload leaves nothing behind, and takes no place', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { port } = new URL(app.url)
  const headers = { 'x-api-token': app.apiKey, 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
  // One more than an organization may upload at the same time.
  for (let upload = 0; upload < 5; upload++)
    await new Promise<void>((done) => {
      const call = request({ port, path: '/public/api/v1/emails', method: 'POST', headers }, () => {})
      call.on('error', () => done())
      call.write(`{"attachments":[{"content":"${'A'.repeat(600_000)}`, () => setTimeout(() => call.destroy(), 50))
    })
  const answer = await app.publicApi('POST', '/emails', { ...email, attachments: [file('a', random.bytes(300_000))] })
  expect(answer.status).toBe(200)
  await until('the files to be deleted', async () => (await counts(app))!.files === 1)
})

test.for([
  [{ filename: '../a.txt', content: 'YQ==' }, 'filename', 'must not contain a path'],
  [{ filename: 'a\r\nBcc: x.txt', content: 'YQ==' }, 'filename', 'must not contain control characters'],
  [{ filename: 'invoice\u202efdp.exe', content: 'YQ==' }, 'filename', 'must not contain control characters'],
  [{ filename: ' ', content: 'YQ==' }, 'filename', 'must not be empty'],
  [{ filename: 'a.txt', content: 'not base64' }, 'content', 'must be base64'],
  [{ filename: 'a.txt', content: 'YQ==', content_type: 'text/plain\r\nX: y' }, 'content_type', 'must be a media type'],
  [{ filename: 'a.eml', content: 'YQ==', content_type: 'message/rfc822' }, 'content_type', 'must not be a multipart'],
  [{ filename: 'a.png', content: 'YQ==', content_id: 'a>\r\nX: y' }, 'content_id', 'must consist of'],
  [{ filename: 'a.txt', path: 'https://acme.example/a', content: '' }, 'path', 'the service does not fetch files'],
] as const)('an attachment is rejected: %j', async ([attachment, field, problem]) => {
  const app = await newApp()
  const { status, body } = await app.publicApi('POST', '/emails', { ...email, attachments: [attachment] })
  expect(status).toBe(422)
  expect(body.error.fields[0].path).toBe(`attachments.0.${field}`)
  expect(body.error.fields[0].problem).toContain(problem)
})

test('an organization has a limited storage, which others do not notice', async () => {
  await using app = await startTestApp({}, ['serve'], { tuning: { attachmentMibPerOrganization: 1 } })
  const attach = (bytes: number) =>
    app.publicApi('POST', '/emails', { ...email, attachments: [file('a.bin', random.bytes(bytes))] })
  expect((await attach(700_000)).status).toBe(200)
  const rejected = await attach(700_000)
  expect([rejected.status, rejected.body.error.type]).toEqual([409, 'conflict'])
  expect((await app.publicApi('POST', '/emails', email)).status).toBe(200)
})

test('a repeated request gets its first response also if the storage is full', async () => {
  await using app = await startTestApp({}, ['serve'], { tuning: { attachmentMibPerOrganization: 1 } })
  const flow_id = await createFlow(app)
  const withFile = () => ({ attachments: [file('a.bin', random.bytes(500_000))] })
  const [toAda, throughFlow] = [{ ...email, ...withFile() }, withFile()]
  const post = [
    (key: string) => app.publicApi('POST', '/emails', toAda, { 'idempotency-key': `email-${key}` }),
    (key: string) => send(app, flow_id, throughFlow, { 'idempotency-key': `flow-${key}` }),
  ]
  for (const each of post) {
    const first = await each('first')
    expect(first.status, first.text).toBe(200)
  }
  for (const each of post) {
    expect((await each('another')).status).toBe(409)
    const again = await each('first')
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
  }
})

test('files are deleted after their time, but not while their email is queued', async () => {
  await using app = await startTestApp({}, ['serve'])
  const attachments = [file('a.bin', random.bytes(300_000))]
  const send_at = new Date(Date.now() + 3_600_000).toISOString()
  const { body } = await app.publicApi('POST', '/emails', { ...email, attachments, send_at })
  const [{ id }] = body.data.messages
  const expire = async () => {
    await app.db.statement`update email_contents set files_until = now()`
    await removeExpiredContents(app.db)
  }
  await expire()
  expect(await counts(app)).toEqual({ files: 1, chunks: 6, contents: 1 })
  await app.manage('DELETE', `/organization/messages/${id}`)
  await expire()
  expect(await counts(app)).toEqual({ files: 0, chunks: 0, contents: 1 })
  const message = await app.manage('GET', `/organization/messages/${id}`)
  expect(message.body.data.attachments).toMatchObject([{ filename: 'a.bin', size_bytes: 300_000, is_stored: false }])
  expect((await app.manage('GET', `/organization/messages/${id}/attachments/0`)).status).toBe(404)
})

test('the bodies of emails without a flow are deleted after their time, but not while their email is queued', async () => {
  await using app = await startTestApp({}, ['serve'])
  const bodies = { html: '<p>See the page</p>', text: 'See the text' }
  const send_at = new Date(Date.now() + 3_600_000).toISOString()
  const accepted = await app.publicApi('POST', '/emails', { ...email, ...bodies, send_at })
  const [{ id }] = accepted.body.data.messages
  const days = await app.db`
    select extract(day from files_until - send_at)::int8 as days from email_contents
    join messages on messages.content_id = email_contents.id`
  expect(days).toEqual([{ days: 30 }])
  const shown = () => getMessage(app, id)
  const expire = async () => {
    await app.db.statement`update email_contents set files_until = now()`
    await removeExpiredContents(app.db)
  }
  await expire()
  expect(await shown()).toMatchObject({ ...bodies, is_content_deleted: false })
  await app.manage('DELETE', `/organization/messages/${id}`)
  await expire()
  expect(await shown()).toMatchObject({ subject: 'Files', html: null, text: null, is_content_deleted: true })
  expect(await app.db`select html, text, body_bytes, files_until from email_contents`).toEqual([
    { html: null, text: null, bodyBytes: 0, filesUntil: null },
  ])
  const again = await app.manage('POST', `/organization/messages/${id}/send-again`)
  expect([again.status, again.body.message]).toEqual([409, 'The content of this email is no longer stored.'])
  const headers = { authorization: `Bearer ${app.apiKey}` }
  const resend = await fetch(`${app.url}/emails/${accepted.body.data.id}`, { headers })
  expect(await resend.json()).toMatchObject({
    html: null,
    text: null,
    warnings: [expect.stringContaining('no longer stored')],
  })
})

test('erasing a contact deletes the content and files that nobody else got', async () => {
  await using app = await startTestApp({}, ['serve'])
  const attachments = [file('a.bin', random.bytes(300_000))]
  const to = ['ada@example.com', 'ben@example.com']
  const { body } = await app.publicApi('POST', '/emails', { ...email, to, attachments })
  const organizationId = parseId('org', app.organizationId)!
  const contacts = await app.db<{ id: never }>`select id from contacts order by email`
  await eraseContact(app.db, organizationId, contacts[0]!.id)
  expect(await counts(app)).toEqual({ files: 1, chunks: 6, contents: 1 })
  const [ada, ben] = body.data.messages
  const erased = await app.manage('GET', `/organization/messages/${ada.id}`)
  expect(erased.body.data).toMatchObject({ html: null, text: null, to: [], attachments: [], subject: '' })
  const kept = await app.manage('GET', `/organization/messages/${ben.id}`)
  expect(kept.body.data).toMatchObject({ to: ['ben@example.com'], text: 'See the files' })
  await eraseContact(app.db, organizationId, contacts[1]!.id)
  expect(await counts(app)).toEqual(nothing)
})

test('the inbox shows the start of an email with large attachments', async () => {
  const app = await newApp()
  const attachments = [file('a.bin', random.bytes(3 * megabyte))]
  const { body } = await app.publicApi('POST', '/emails', { ...email, attachments })
  const [{ id }] = body.data.messages
  const shown = await until('the email', async () => {
    const answer = await app.manage('GET', `/organization/inbox/${id}`)
    return answer.status === 200 && answer.body.data
  })
  expect(shown).toMatchObject({ text: 'See the files\n', truncated: true })
  expect(shown.size_bytes).toBeGreaterThan(4 * megabyte)
})
