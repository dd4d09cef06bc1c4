import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eraseDeletedOrganizations } from '../src/operations/privacy/erase-organization.ts'
import { fillOrganization } from './support/fill-organization.ts'
import { orderFlow, send } from './support/flows.ts'
import { settledMessage } from './support/messages.ts'
import { queuedNoticeEmails } from './support/notice-emails.ts'
import { type DocumentedOperation, sampleQuery } from './support/openapi-check.ts'
import { join, type Person, password, registerOther } from './support/people.ts'
import { create, createKey } from './support/resources.ts'
import { startTestApp, type TestApp } from './support/test-app.ts'
import { until } from './support/until.ts'

// Every operation of the API document, by each role, on objects in each state: of another organization, of the installation, and
// of the own organization. An operation that is added to the document is covered; a new kind of object is created in
// `fillOrganization`, or the tests fail.

const bodyOf: Record<string, object> = {
  'PATCH members': { role: 'member' },
  'PATCH groups': { name: 'Mine' },
  'PATCH images': { name: 'Mine' },
  'PATCH flow-parts': { html: '<p>Mine</p>' },
  'PATCH segments': { name: 'Mine' },
  'PATCH contacts': { first_name: 'Eve' },
  'PATCH flows': { name: 'Mine' },
  'PUT draft': { subject: 'Mine' },
  'PATCH webhooks': { name: 'Mine' },
  'PATCH event-exports': { name: 'Mine' },
  'PATCH mail-servers': { name: 'Mine' },
  'PUT warm-up': { plan: [5] },
  'PUT receiving-sites': { messages_per_second: 2, messages_per_day: 5 },
  'POST preview': { context: { order_id: 1 } },
  'POST send': { contact_email: 'eve@other.example', context: { order_id: 1 } },
  'POST test': { to: 'eve@other.example', event_name: 'emailOpen', context: { order_id: 1 } },
  'POST replay': { since: '2026-01-01T00:00:00Z' },
  'POST rotate-secret': {},
  'POST start': { expected_recipients: 1 },
  'POST schedule': { expected_recipients: 1 },
  'POST send-now': { expected_recipients: 1 },
  'PATCH broadcasts': { name: 'Mine' },
  'POST choose-variant': { variant: 'A' },
  'POST send-again': { subject: 'Mine' },
}

/** Their names are the same for all organizations: everyone can set what applies to their email. */
const sharedNames = new Set(['receiving-sites'])

type Ids = Record<string, string>

let app: TestApp
/** What the organization of the operator has, by path parameter. */
let ids: Ids
/** What it shares with all organizations. */
let shared: Ids
let operations: DocumentedOperation[]
/** Everything the organization can read. */
let reads: string[]
let [member, other, otherMember]: Person[] = []
/** What members may do, in every organization. */
let allowed: Set<string>

beforeAll(async () => {
  app = await startTestApp()
  ids = await fillOrganization(app)
  member = await join(app, 'member@acme.example', 'member')
  other = await registerOther(app)
  allowed = new Set((await member.manage('GET', '/me')).body.data.permissions)
  otherMember = await join({ ...app, manage: other.manage }, 'member@other.example', 'member')
  const server = { name: 'Shared', url: 'smtp://ada:secret@127.0.0.1:9', kinds: ['marketing'], is_shared: true }
  const { id } = await create(app, '/mail-servers', server)
  shared = { 'mail-servers': id, site: ids.site! }
  operations = app.openapi.operations().filter(({ path }) => path.startsWith('/api/v1/organization/'))
  reads = operations
    .filter(({ method }) => method === 'GET')
    .map(({ path, query }) => `${fillIn(path)}?${sampleQuery(query, ['start_date', 'end_date', 'link', 'figure'])}`)
  // Otherwise the email about it would arrive in the inbox later, and the records of the domain would be checked.
  await until('the emails about notices', async () => (await queuedNoticeEmails(app.db)).length === 0)
  await app.db.statement`update domains set next_check_at = now() + interval '1 day'`
})
afterAll(() => app[Symbol.asyncDispose]())

const fillIn = (path: string, from = ids) =>
  path
    .replace(/\/([\w-]+)\/\{(id|email)\}/, (_, kind: string) => `/${kind}/${from[kind]}`)
    .replace(/\{(\w+)\}/g, (_, name: string) => from[name]!)

/** Calls an operation, with a body unless it has none. */
const callAs = (person: Pick<Person, 'manage'>, { method, path }: DocumentedOperation, body: object, from = ids) =>
  person.manage(
    method,
    fillIn(path, from).slice('/api/v1'.length),
    method === 'GET' || method === 'DELETE' ? undefined : body,
  )

/** The kind of object that the path names, if any. */
const kindOf = ({ path }: DocumentedOperation): string | undefined =>
  path.includes('{') ? path.split('/')[4] : undefined

/** Everything the organization can read, except the last use of its key, times of background checks and exports, and the ids of failed requests. */
async function everything({ manage }: Pick<Person, 'manage'>, paths: string[]): Promise<string> {
  const answers = await Promise.all(paths.map((path) => manage('GET', path.slice('/api/v1'.length))))
  const changing = /"(last_used_at|exported_at|checked_at)":("[^"]*"|null)|(?<="fields":\[\],)"request_id":"[^"]*"/
  return answers.map(({ text }) => text.replace(changing, '')).join('\n')
}

test('no operation reads or changes data of another organization', async () => {
  const before = await everything(app, reads)
  for (const id of Object.values(ids)) expect(before).toContain(id)
  expect(before).not.toContain('"status":"error"')

  for (const [person, isOwner] of [
    [otherMember!, false],
    [other!, true],
  ] as const)
    for (const operation of operations) {
      const { method, path } = operation
      const [kind, action] = [kindOf(operation), path.split('/').at(-1)]
      if (kind === undefined) continue
      const body = bodyOf[`${method} ${action}`] ?? bodyOf[`${method} ${kind}`] ?? { contact_ids: [ids.contacts] }
      const expected = !isOwner && !allowed.has(operation.permission) ? 403 : sharedNames.has(kind) ? 200 : 404
      expect([method, path, (await callAs(person, operation, body)).status]).toEqual([method, path, expected])
    }
  const audience = { group_ids: [ids.groups] }
  expect((await other!.manage('POST', '/organization/broadcasts/count-audience', { audience })).status).toBe(422)
  await other!.manage('DELETE', `/organization/receiving-sites/${ids.site}`)
  const lists = reads.filter((path) => !Object.values(ids).some((id) => path.includes(`/${id}`)))
  const seen = await everything(other!, lists)
  for (const id of Object.values(ids).filter((id) => id !== '1')) expect(seen).not.toContain(id)
  await other!.manage('DELETE', '/organization/inbox')
  expect(await everything(app, reads)).toBe(before)
})

test('what belongs to the installation is changed by owners of the organization of the operator only', async () => {
  const stored = async () => ({
    servers: await app.db`select * from mail_servers order by id`,
    sites: await app.db`select * from receiving_sites order by site`,
  })
  const before = [await stored(), await everything(other!, reads)]
  const calls = operations.filter(({ permission, ofInstallation, path }) =>
    ofInstallation ? path.includes('{') : permission.startsWith('installation:'),
  )
  expect(calls).toHaveLength(7)
  for (const operation of calls) {
    const { method, path } = operation
    for (const body of [bodyOf[`${method} ${kindOf(operation)}`] ?? {}, {}, { name: 5 }]) {
      const { status } = await callAs(member!, operation, body, shared)
      expect([method, path, body, status]).toEqual([method, path, body, 403])
    }
  }
  // A field that makes something of one organization that of all.
  const sharing = operations.filter(({ fields }) => fields.includes('is_shared'))
  expect(sharing.length).toBeGreaterThan(0)
  for (const person of [member!, other!, otherMember!])
    for (const operation of sharing) {
      const { status } = await callAs(person, operation, { name: 'Mine', url: 'smtp://127.0.0.1:9', is_shared: true })
      expect([operation.method, operation.path, status]).toEqual([operation.method, operation.path, 403])
    }
  expect([await stored(), await everything(other!, reads)]).toEqual(before)
})

test('a deleted organization takes nothing of others with it', async () => {
  const before = await everything(app, reads)
  const deleted = await other!.manage('DELETE', '/organization', { name: 'Other', password })
  expect(deleted.status).toBe(200)
  const deletions = { db: app.db, log: pino({ level: 'silent' }), bucket: undefined, keepMs: 0 }
  for (const _run of [1, 2]) await eraseDeletedOrganizations(deletions)
  expect(await everything(app, reads)).toBe(before)
})

test('members call everything of their organization except what is for owners', async () => {
  const refused: string[] = []
  for (const operation of operations)
    if ((await callAs(member!, operation, {})).status === 403) refused.push(operation.id)
  const forOwners = operations.filter(({ permission }) => !allowed.has(permission)).map(({ id }) => id)
  // Those of the operator are the defaults of all.
  const sites = ['updateReceivingSite', 'resetReceivingSite']
  expect(refused.sort()).toEqual([...forOwners, ...sites].sort())
  expect(forOwners.sort()).toEqual([
    'changeSendingSetup',
    'checkSending',
    'chooseBroadcastVariant',
    'createInvitation',
    'deleteInvitation',
    'dismissNotice',
    'listInvitations',
    'removeMember',
    'resendInvitation',
    'resumeBroadcast',
    'retryBroadcastFailed',
    'scheduleBroadcast',
    'sendBroadcastNow',
    'sendFirstEmail',
    'startBroadcast',
    'updateMember',
  ])
})

test('data of another organization about an address has no effect', async () => {
  await using app = await startTestApp()
  await app.manage('POST', '/organization/contacts', { email: 'ada@example.com' })
  await app.manage('POST', '/organization/suppressions', { email: 'bob@example.com' })
  const carol = await app.manage('POST', '/organization/contacts', { email: 'carol@example.com' })
  await app.manage('PATCH', `/organization/contacts/${carol.body.data.id}`, { status: 'unsubscribed' })

  const other = await registerOther(app)
  const headers = { 'x-api-token': await createKey(other) }
  const { id: flowId } = await create(other, '/flows', orderFlow)
  const { id: groupId } = await create(other, '/groups', { name: 'Customers' })
  for (const email of ['ada@example.com', 'bob@example.com']) {
    const { data } = (await send(app, flowId, { contact_email: email }, headers)).body
    expect(data).toMatchObject({ status: 'queued', contact_created: true })
    const message = await settledMessage(other, data.message_id)
    expect(message.status).toBe('sent')
  }
  const body = { group_id: groupId, members: [{ email: 'carol@example.com' }] }
  await app.call('POST', '/public/api/v1/contacts/add-group-members', { headers, body })
  const { data } = (await other.manage('GET', '/organization/contacts?query=carol')).body
  expect(data).toMatchObject([{ email: 'carol@example.com', status: 'subscribed' }])
})
