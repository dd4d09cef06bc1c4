import { openRelay } from '@waxwing/smtp-client'
import { expect, test, vi } from 'vitest'
import { lockWaits } from '../../../test/support/lock-waits.ts'
import { join, registerOther } from '../../../test/support/people.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { dayMs } from '../../platform/values/durations.ts'
import { newId, parseId } from '../../platform/values/ids.ts'
import { MailServers } from './mail-servers.ts'

const path = '/organization/mail-servers'
const moved = { url: 'smtp://ada:secret@smtp.acme.example:2525' }

/** A value for every field that can be changed. A field that is missing here fails the test below. */
const changes: Record<string, unknown> = {
  name: 'Other',
  ...{ url: 'smtp://127.0.0.1:31026', host: '127.0.0.1', port: 31_026, security: 'none', preset: 'sendgrid' },
  ...{ username: 'eve', password: 'secret' },
  oauth: { client_id: 'client', client_secret: 'secret', refresh_token: 'token', token_url: 'https://acme.example/' },
  ...{ is_shared: false, kinds: ['marketing'], from_domains: ['acme.example'], priority: 1, weight: 1, connections: 1 },
  ...{ messages_per_second: 1, messages_per_day: 1, shape_by_receiver: true, webhook_secret: null },
}

test('only owners of the organization of the operator change a shared mail server, in any field and call', async () => {
  await using app = await startTestApp({}, ['serve'])
  const member = await join(app, 'member@acme.example', 'member')
  const other = await registerOther(app)
  const shared = (
    await app.manage('POST', path, { name: 'Shared', preset: 'sendgrid', password: 'p', is_shared: true })
  ).body.data
  const own = (await member.manage('POST', path, { name: 'Own', ...moved })).body.data
  const before = await app.db`select * from mail_servers order by id`

  const document = (await app.call('GET', '/openapi.json')).body
  const { properties } = document.paths[`/api/v1${path}/{id}`].patch.requestBody.content['application/json'].schema
  expect(Object.keys(changes).sort()).toEqual(Object.keys(properties).sort())
  const bodies = [...Object.entries(changes).map(([name, value]) => ({ [name]: value })), {}, { port: 'none' }]
  for (const body of bodies)
    expect([body, (await member.manage('PATCH', `${path}/${shared.id}`, body)).status]).toEqual([body, 403])
  expect((await member.manage('POST', `${path}/${shared.id}/test`)).status).toBe(403)
  expect((await member.manage('DELETE', `${path}/${shared.id}`)).status).toBe(403)
  for (const person of [member, other])
    expect((await person.manage('POST', path, { name: 'Mine', ...moved, is_shared: true })).status).toBe(403)
  expect((await member.manage('PATCH', `${path}/${own.id}`, { is_shared: true })).status).toBe(403)
  expect((await other.manage('PATCH', `${path}/${shared.id}`, { name: 'Mine' })).status).toBe(404)
  expect(await app.db`select * from mail_servers order by id`).toEqual(before)

  // The address accepts reports about email of all organizations.
  expect(shared.webhook_url).toContain('/providers/mail-servers/')
  expect((await member.manage('GET', `${path}/${shared.id}`)).body.data.webhook_url).toBe(null)
  expect((await member.manage('PATCH', `${path}/${own.id}`, { name: 'Renamed' })).status).toBe(200)
  expect((await app.manage('PATCH', `${path}/${shared.id}`, { priority: 2 })).status).toBe(200)
  expect((await app.manage('DELETE', `${path}/${shared.id}`)).status).toBe(200)
})

test('a change of a mail server that becomes shared meanwhile is decided on its row', async () => {
  await using app = await startTestApp({}, ['serve'])
  const member = await join(app, 'member@acme.example', 'member')
  const { id } = (await app.manage('POST', path, { name: 'Main', ...moved })).body.data
  let answers: Promise<{ status: number }[]> | undefined
  await app.db.begin(async (tx) => {
    await tx`update mail_servers set is_shared = true`
    answers = Promise.all([
      member.manage('PATCH', `${path}/${id}`, { host: 'smtp.other.example', password: 'p' }),
      member.manage('DELETE', `${path}/${id}`),
    ])
    await until('both to wait', async () => (await lockWaits(app.db)).length === 2)
  })
  expect((await answers!).map(({ status }) => status)).toEqual([403, 403])
  expect((await app.manage('GET', `${path}/${id}`)).body.data).toMatchObject({ host: 'smtp.acme.example' })
})

test('owners learn by email who changed the connection of a mail server, also if they switched alerts off', async () => {
  await using app = await startTestApp({}, ['serve'])
  await join(app, 'second@acme.example', 'owner')
  const member = await join(app, 'member@acme.example', 'member')
  await app.manage('PATCH', '/me', { alerts: { sending: false } })
  const notices = async () => {
    const { data } = (await app.manage('GET', '/organization/notices')).body
    const waiting = await app.db<{ email: string }>`
      select email from jobs join users on users.id = (payload ->> 'userId')::uuid
      where kind = 'notice.email' order by email`
    await app.db.statement`delete from jobs where kind = 'notice.email'`
    await app.db.statement`delete from notices`
    return [
      waiting.map(({ email }) => email),
      data.map(({ title, detail }: { title: string; detail: string }) => `${title}. ${detail}`),
    ]
  }
  const owners = ['owner@acme.example', 'second@acme.example']
  const server = (await app.manage('POST', path, { name: 'Main', ...moved })).body.data
  expect(await notices()).toEqual([[], []])
  const change = (body: object) => member.manage('PATCH', `${path}/${server.id}`, body)

  await change({ name: 'Renamed', priority: 3 })
  expect(await notices()).toEqual([[], []])
  await change({ host: 'smtp.evil.example', password: 'x' })
  expect(await notices()).toEqual([
    owners,
    [
      expect.stringMatching(
        /^The mail server Renamed was changed. By member@acme.example. It connects to smtp.evil.example:2525 as ada instead of smtp.acme.example:2525 as ada. /,
      ),
    ],
  ])
  await change({ password: 'y' })
  expect(await notices()).toEqual([owners, [expect.stringContaining('credentials')]])
  await change({ password: 'y' })
  expect(await notices()).toEqual([[], []])
  // Instead of a change, it could be replaced.
  await member.manage('POST', path, { name: 'Mine', ...moved, priority: 1 })
  expect(await notices()).toEqual([owners, [expect.stringContaining('The mail server Mine was added. By member@')]])
  await app.manage('PATCH', `${path}/${server.id}`, { is_shared: true })
  expect(await notices()).toEqual([owners, [expect.stringContaining('was shared with all organizations')]])
})

test('an organization that becomes the operator shares its mail servers instead of the one before', async () => {
  await using app = await startTestApp({}, ['serve'])
  const next = await registerOther(app)
  const open = () => openRelay('smtp://127.0.0.1:1')
  const servers = new MailServers({ db: app.db, relay: undefined, open, onState: () => {} })
  const email = { organizationId: newId('org'), id: newId('msg'), flowKind: 'marketing' as const, mailServerId: null }
  const names = async () => {
    await servers.changed(email.organizationId)
    return servers.serversFor(email, 'hello@acme.example')?.map(({ name }) => name)
  }
  const share = async ({ manage }: Pick<typeof next, 'manage'>, name: string) =>
    expect((await manage('POST', path, { name, ...moved, is_shared: true })).status).toBe(201)
  await share(app, 'First')
  expect(await names()).toEqual(['First'])

  await app.db.statement`update organizations set is_operator = false`
  await app.db.statement`
    update organizations set is_operator = true where id = ${parseId('org', next.organizationId)!}`
  await share(next, 'Second')
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    vi.advanceTimersByTime(dayMs)
    await expect.poll(names).toEqual(['Second'])
  } finally {
    vi.useRealTimers()
    await servers.close()
  }
})
