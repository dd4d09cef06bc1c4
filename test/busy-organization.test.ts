import { request } from 'node:http'
import { expect, test } from 'vitest'
import { dialSmtp } from './support/dial-smtp.ts'
import { registerOther } from './support/people.ts'
import { create, createKey } from './support/resources.ts'
import { announcedSeed } from './support/seeded.ts'
import { startTestApp, type TestApp } from './support/test-app.ts'
import { until } from './support/until.ts'

/** Another organization of the service, with a key of its own. */
async function otherOf(app: TestApp) {
  const other = await registerOther(app)
  const key = await createKey(other)
  const publicApi = (path: string, body: unknown) =>
    app.call('POST', `/public/api/v1${path}`, { headers: { 'x-api-token': key }, body })
  return { ...other, publicApi }
}

/** Counts the calls that have been answered. */
function startAll<Result>(calls: Promise<Result>[]) {
  const progress = { answered: 0, results: Promise.all(calls) }
  for (const call of calls) void call.then(() => progress.answered++)
  return progress
}

const email = (to: unknown, n: number) => ({ from: 'shop@acme.example', to, subject: `Email ${n}`, text: 'Hello' })

test('an email of another organization does not wait for a large submission that waits for a lock', async () => {
  await using app = await startTestApp({}, ['serve'])
  const other = await otherOf(app)
  await app.publicApi('POST', '/emails', email('r0@example.com', 0))
  const large = Array.from({ length: 100 }, (_, n) =>
    email(
      Array.from({ length: 10 }, (_, i) => `r${n * i}@example.com`),
      n,
    ),
  )
  const busy = await app.db.begin(async (tx) => {
    await tx`select from contacts where email_key = 'r0@example.com' for update`
    const progress = startAll([1, 2, 3].map(() => app.publicApi('POST', '/emails/batch', large)))
    await until('the submissions to wait', () =>
      app.app.stages.list().some(({ name, used, waiting }) => name === 'accept emails: heavy' && used + waiting === 3),
    )
    expect((await other.publicApi('/emails', email('second@example.com', 1))).status).toBe(200)
    expect((await app.publicApi('POST', '/emails', email('third@example.com', 1))).status).toBe(200)
    expect(progress.answered).toBe(0)
    return progress
  })
  expect((await busy.results).map(({ status }) => status)).toEqual([200, 200, 200])
})

test('an email with many small files is accepted in few statements', async () => {
  await using app = await startTestApp({}, ['serve'])
  const attachments = Array.from({ length: 20 }, (_, n) => ({
    filename: `${n}.txt`,
    content: Buffer.from(`file ${n}`.repeat(n * 400)).toString('base64'),
  }))
  const { status } = await app.publicApi('POST', '/emails', { ...email('a@example.com', 1), attachments })
  expect(status).toBe(200)
  const rows = await app.db<{ bytes: number; uses: number; stored: string }>`
    select file.bytes, file.uses, string_agg(encode(chunk.bytes, 'escape'), '' order by position) as stored
    from stored_files as file join stored_file_chunks as chunk on file_id = id group by file.organization_id, id`
  expect(rows.map(({ bytes, uses, stored }) => [bytes, uses, stored])).toEqual(
    expect.arrayContaining(
      attachments.slice(1).map(({ content }) => {
        const text = Buffer.from(content, 'base64').toString()
        return [text.length, 1, text]
      }),
    ),
  )
})

test('an organization that adds many members does not refuse those of another', async () => {
  await using app = await startTestApp({}, ['serve'])
  const other = await otherOf(app)
  const groupOf = async (manage: TestApp['manage']) => (await create({ manage }, '/groups', { name: 'G' })).id
  const [group, otherGroup] = [await groupOf(app.manage), await groupOf(other.manage)]
  const add = (groupId: string, n: number, length: number) => ({
    group_id: groupId,
    members: Array.from({ length }, (_, i) => ({ email: `m${n}-${i}@example.com` })),
  })
  const path = '/contacts/add-group-members'
  const busy = startAll(Array.from({ length: 60 }, (_, n) => app.publicApi('POST', path, add(group, n, 150))))
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => other.publicApi(path, add(otherGroup, n, 1))))
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
  const statuses = (await busy.results).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([200, 429]))
})

test('emails whose clients stall keep neither another email nor a large request from being received', async () => {
  await using app = await startTestApp({ SUBMISSION_PORT: '0' }, ['serve'])
  const other = await otherOf(app)
  const stalled = Array.from({ length: 6 }, async () => {
    const client = await dialSmtp(app.app.submissionPorts().port!)
    await client.say('EHLO client')
    await client.say(`AUTH PLAIN ${Buffer.from(`\0x\0${app.apiKey}`).toString('base64')}`)
    await client.say('MAIL FROM:<>')
    await client.say('RCPT TO:<a@example.com>')
    await client.say('DATA')
    client.write(`From: shop@acme.example\r\n\r\n${`${'x'.repeat(98)}\r\n`.repeat(4_000)}`)
    return client
  })
  const clients = await Promise.all(stalled)
  await until('parts of all of them to be stored', async () => {
    const [row] = await app.db<{ count: number }>`select count(*)::int4 as count from stored_files`
    return row!.count === clients.length
  })
  const attachments = [{ filename: 'a.bin', content: Buffer.alloc(400_000, 7).toString('base64') }]
  const large = { ...email('a@example.com', 1), attachments }
  const [own, theirs] = await Promise.all([app.publicApi('POST', '/emails', large), other.publicApi('/emails', large)])
  expect([own.status, theirs.status]).toEqual([200, 200])
  for (const client of clients) client.socket.destroy()
})

test('downloads read attachments a few chunks at a time, in few places of their organization', async () => {
  await using app = await startTestApp({}, ['serve'])
  const content = announcedSeed('a file').bytes(1_500_000)
  const attachments = [{ filename: 'a.bin', content: content.toString('base64') }]
  const sent = await app.publicApi('POST', '/emails', { ...email('a@example.com', 1), attachments })
  const [{ id }] = (await app.manage('GET', '/organization/messages')).body.data
  expect(sent.status).toBe(200)
  const download = async () => {
    const response = await fetch(`${app.url}/api/v1/organization/messages/${id}/attachments/0`, {
      headers: { authorization: `Bearer ${app.session}` },
    })
    return Buffer.from(await response.arrayBuffer())
  }
  const used: number[] = []
  const timer = setInterval(() => {
    const { used: now } = app.app.stages.list().find(({ name }) => name === 'downloads')!
    used.push(now)
  }, 1)
  const files = await Promise.all(Array.from({ length: 20 }, download))
  clearInterval(timer)
  expect(files.every((file) => file.equals(content))).toBe(true)
  expect(Math.max(...used)).toBe(2)
})

test('large bodies of members that are received take a limited part of the memory', async () => {
  await using app = await startTestApp({}, ['serve'])
  const other = await otherOf(app)
  const stage = () => app.app.stages.list().find(({ name }) => name === 'bodies of members')!
  const bytes = 16 * 1024 * 1024
  const headers = { 'x-api-token': app.apiKey, 'content-type': 'application/json', 'content-length': bytes }
  const path = '/public/api/v1/contacts/add-group-members'
  const requests = Array.from({ length: 10 }, () => {
    const sending = request(app.url + path, { method: 'POST', headers, agent: false }).on('error', () => {})
    sending.write('{')
    return sending
  })
  await until('one to be received', () => stage().used === bytes && stage().waiting === 9)
  const group = (await create(other, '/groups', { name: 'G' })).id
  const members = Array.from({ length: 2_000 }, (_, n) => ({ email: `someone-${n}-of-another@example.com` }))
  const added = await other.publicApi('/contacts/add-group-members', { group_id: group, members })
  expect([added.status, added.body.data.created]).toEqual([200, 2_000])
  for (const sending of requests) sending.destroy()
  await until('the places to be free', () => stage().used + stage().waiting === 0)
})
