import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { lockWaits } from '../../../test/support/lock-waits.ts'
import { registerOther } from '../../../test/support/people.ts'
import { create } from '../../../test/support/resources.ts'
import { startSharedApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { createBoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import { createDatabaseStages } from '../../platform/db/stages.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { newId, type OrganizationId, parseId, toText } from '../../platform/values/ids.ts'
import { countMatching } from '../contacts/count.ts'
import { listContacts } from '../contacts/list.ts'
import type { Filter } from './filter.ts'
import type { ResolvedFilter } from './nested-segments.ts'
import { checkFilter } from './parse-filter.ts'

const newOrganization = await startSharedApp()
/** Without workers, which would wait for the tables that a test locks. */
const newServed = await startSharedApp({}, ['serve'])

const segments = '/organization/segments'
const onPlan = (value: string): Filter => ({ type: 'text', field: 'attributes.plan', operator: 'equals', value })
const didNotOpen: ResolvedFilter = {
  filter: checkFilter({ type: 'engagement', operator: 'did_not', event: 'emailOpen' }),
  segments: {},
}

async function addContact(app: TestApp, email: string, attributes = {}, groupIds: string[] = []): Promise<string> {
  const answer = await app.manage('POST', '/organization/contacts', { email, attributes, group_ids: groupIds })
  return answer.body.data.id
}

const emailsIn = async (app: TestApp, query: string): Promise<string[]> =>
  (await app.manage('GET', `/organization/contacts?${query}`)).body.data.map(({ email }: { email: string }) => email)

test('a saved or unsaved filter selects contacts in lists and counts, together with other filters', async () => {
  const app = await newOrganization()
  const group = await create(app, '/groups', { name: 'Customers' })
  await addContact(app, 'ada@example.com', { plan: 'pro', seats: 12 }, [group.id])
  await addContact(app, 'bob@example.com', { plan: 'Pro', seats: '3' })
  await addContact(app, 'eve@example.com', { plan: 'free' })
  const flowId = await createFlow(app)
  await send(app, flowId, { contact_email: 'bob@example.com' })
  await until('the email to be sent', async () => (await app.manage('GET', '/organization/events')).body.data[0])

  const filter: Filter = {
    type: 'all',
    conditions: [
      onPlan('PRO'),
      {
        type: 'any',
        conditions: [
          { type: 'group', operator: 'member', group_id: group.id },
          { type: 'engagement', operator: 'did', event: 'emailSent', flow_id: flowId, within_days: 1 },
        ],
      },
    ],
  }
  const made = await app.manage('POST', segments, { name: ' Paying ', filter })
  expect([made.status, made.body.data]).toEqual([201, expect.objectContaining({ name: 'Paying', filter })])
  const { id } = made.body.data
  expect((await app.manage('GET', `${segments}/${id}`)).body.data).toEqual(made.body.data)
  expect((await app.manage('GET', segments)).body.data).toEqual([made.body.data])

  expect(await emailsIn(app, `segment_id=${id}`)).toEqual(['bob@example.com', 'ada@example.com'])
  expect(await emailsIn(app, `segment_id=${id}&query=ada`)).toEqual(['ada@example.com'])
  expect(await emailsIn(app, `segment_id=${id}&group_id=${group.id}&status=subscribed`)).toEqual(['ada@example.com'])
  const seats = encodeURIComponent(
    JSON.stringify({ type: 'number', field: 'attributes.seats', operator: 'less_than', value: 10 }),
  )
  expect(await emailsIn(app, `filter=${seats}`)).toEqual(['bob@example.com'])
  expect(await emailsIn(app, `filter=${seats}&segment_id=${id}&group_id=${group.id}`)).toEqual([])
  const count = async (query: string) => (await app.manage('GET', `/organization/contacts/count?${query}`)).body.data
  expect(await count('')).toEqual({ count: 3, approximate: false })
  expect(await count(`segment_id=${id}`)).toEqual({ count: 2, approximate: false })
  expect(await count(`group_id=${group.id}`)).toEqual({ count: 1, approximate: false })
  expect((await app.manage('GET', `/organization/contacts?segment_id=${toText('seg', newId('seg'))}`)).status).toBe(404)

  const read = await app.manage('GET', `${segments}/${id}`)
  const edited = await app.manage('PATCH', `${segments}/${id}`, { filter: onPlan('free') })
  expect(edited.body.data).toMatchObject({ name: 'Paying', filter: onPlan('free') })
  expect(await emailsIn(app, `segment_id=${id}`)).toEqual(['eve@example.com'])
  const late = await app.call('PATCH', `/api/v1${segments}/${id}`, {
    headers: { authorization: `Bearer ${app.session}`, 'if-match': read.headers.get('etag')! },
    body: { name: 'Late' },
  })
  expect(late.status).toBe(412)
  expect((await app.manage('DELETE', `${segments}/${id}`)).status).toBe(200)
  expect((await app.manage('GET', `${segments}/${id}`)).status).toBe(404)
})

test('invalid filters are refused with the path of each problem', async () => {
  const app = await newOrganization()
  const fieldsOf = async (filter: unknown) => {
    const { status, body } = await app.manage('POST', segments, { name: 'S', filter })
    expect(status, JSON.stringify(filter)).toBe(422)
    return body.error.fields.map(({ path }: { path: string }) => path)
  }
  const nested = (depth: number): Filter =>
    depth === 0 ? onPlan('pro') : { type: 'all', conditions: [nested(depth - 1)] }
  const group = { type: 'group', operator: 'member', group_id: toText('grp', newId('grp')) }
  expect(await fieldsOf({ type: 'nothing' })).toEqual(['filter.type'])
  expect(await fieldsOf({ type: 'all', conditions: [] })).toEqual(['filter.conditions'])
  expect(await fieldsOf({ ...onPlan('x'), operator: 'like' })).toEqual(['filter.operator'])
  expect(await fieldsOf({ ...onPlan('x'), field: 'password' })).toEqual(['filter.field'])
  expect(await fieldsOf({ type: 'any', conditions: [onPlan('x'), { ...onPlan('x'), value: 7 }] })).toEqual([
    'filter.conditions.1.value',
  ])
  expect(await fieldsOf({ type: 'text', field: 'email', operator: 'equals' })).toEqual(['filter.value'])
  expect(await fieldsOf({ type: 'date', field: 'created_at', operator: 'on', value: '2026-02-30' })).toEqual([
    'filter.value',
  ])
  expect(await fieldsOf({ type: 'date', field: 'created_at', operator: 'in_last_days' })).toEqual(['filter.days'])
  expect(await fieldsOf({ ...group, group_id: 'x' })).toEqual(['filter.group_id'])
  expect(await fieldsOf({ type: 'all', conditions: [onPlan('x'), group] })).toEqual(['filter.conditions.1.group_id'])
  expect(await fieldsOf(onPlan('a\0b'))).toEqual(['filter'])
  expect((await app.manage('POST', segments, { name: 'Deep', filter: nested(4) })).status).toBe(201)
  expect(await fieldsOf(nested(5))).toEqual(['filter.conditions.0.conditions.0.conditions.0.conditions.0'])
  const many = {
    type: 'any',
    conditions: Array.from({ length: 26 }, () => ({ type: 'all', conditions: [onPlan('x'), onPlan('y')] })),
  }
  expect(await fieldsOf(many)).toEqual(['filter'])

  for (const filter of ['{', '{}', '"x"', 'null', JSON.stringify({ ...onPlan('x'), value: '' })]) {
    const answer = await app.manage('GET', `/organization/contacts?filter=${encodeURIComponent(filter)}`)
    expect([filter, answer.status]).toEqual([filter, 422])
  }
  expect((await app.manage('POST', segments, { name: 'deep', filter: onPlan('x') })).status).toBe(409)
})

test('a group cannot be deleted while a segment uses it, and other organizations have no part in it', async () => {
  const app = await newOrganization()
  const group = await create(app, '/groups', { name: 'Beta' })
  const filter = { type: 'group', operator: 'not_member', group_id: group.id }
  const segment = (await app.manage('POST', segments, { name: 'Not beta', filter })).body.data
  const refused = await app.manage('DELETE', `/organization/groups/${group.id}`)
  expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('“Not beta”')])

  const other = await registerOther(app)
  expect((await other.manage('POST', segments, { name: 'Theirs', filter })).status).toBe(422)
  expect((await other.manage('GET', `/organization/contacts?segment_id=${segment.id}`)).status).toBe(404)
  await app.manage('DELETE', `${segments}/${segment.id}`)
  expect((await app.manage('DELETE', `/organization/groups/${group.id}`)).status).toBe(200)
})

test('segments can contain others, within limits and without cycles', async () => {
  const app = await newOrganization()
  await addContact(app, 'ada@example.com', { plan: 'pro' })
  await addContact(app, 'bob@example.com', { plan: 'free' })
  const isIn = (id: string, operator = 'member') => ({ type: 'segment', operator, segment_id: id })
  const make = async (name: string, filter: object) => app.manage('POST', segments, { name, filter })
  const levels: string[] = [(await make('Level 0', onPlan('pro'))).body.data.id]
  for (const level of [1, 2, 3])
    levels.push(
      (await make(`Level ${level}`, isIn(levels[level - 1]!, level === 1 ? 'not_member' : 'member'))).body.data.id,
    )
  expect(await emailsIn(app, `segment_id=${levels[3]}`)).toEqual(['bob@example.com'])
  expect((await app.manage('GET', `${segments}/${levels[3]}/count`)).body.data).toEqual({ count: 1, exact: true })

  const problemOf = ({ status, body }: Awaited<ReturnType<typeof make>>) => [status, body.error.fields[0].problem]
  const change = (level: number, filter: object) => app.manage('PATCH', `${segments}/${levels[level]}`, { filter })
  expect(problemOf(await make('Level 4', isIn(levels[3]!)))).toEqual([422, expect.stringContaining('3 levels deep')])
  expect(problemOf(await change(0, isIn(levels[0]!)))).toEqual([422, expect.stringContaining('contain itself')])
  expect(problemOf(await change(0, isIn(levels[2]!)))).toEqual([422, expect.stringContaining('contain itself')])
  const other = (await make('Other', onPlan('free'))).body.data.id
  expect(problemOf(await change(0, isIn(other)))).toEqual([422, expect.stringContaining('“Level 3”')])
  const many = { type: 'any', conditions: Array.from({ length: 50 }, () => onPlan('pro')) }
  const large = (await make('Large', many)).body.data.id
  const uses = { type: 'any', conditions: Array.from({ length: 4 }, () => isIn(large)) }
  expect(problemOf(await make('Too large', uses))).toEqual([422, expect.stringContaining('200 conditions')])
  const missing = await make('Missing', isIn(toText('seg', newId('seg'))))
  expect([missing.status, missing.body.error.fields]).toEqual([
    422,
    [{ path: 'filter.segment_id', problem: 'segment not found' }],
  ])

  const refused = await app.manage('DELETE', `${segments}/${levels[2]}`)
  expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('“Level 3”')])
  expect((await app.manage('DELETE', `${segments}/${levels[3]}`)).status).toBe(200)
  expect((await app.manage('DELETE', `${segments}/${levels[2]}`)).status).toBe(200)
  expect(
    (await registerOther(app).then(({ manage }) => manage('POST', segments, { name: 'X', filter: isIn(other) })))
      .status,
  ).toBe(422)
})

test('a list that takes too long in its order is read in another way, with the same result', async () => {
  const app = await newServed()
  const { db } = app
  const organizationId = parseId('org', app.organizationId) as OrganizationId
  for (const name of ['ada', 'bob', 'eve']) await addContact(app, `${name}@example.com`)
  const { queries } = createDatabaseStages(new StageRegistry(), 10)
  const read = createBoundedRead(db, queries, { timeoutMs: 60_000 })
  const readFirst = createBoundedRead(db, queries, { timeoutMs: 200 })
  const filter = { filters: [didNotOpen] }
  const list = () => listContacts({ readFirst, read }, organizationId, filter, { limit: 1, cursor: undefined }, 'email')
  const expected = await list()
  expect(expected.map(({ email }) => email)).toEqual(['ada@example.com', 'bob@example.com'])

  // The first statement waits for the lock until its timeout, the second until the lock is released.
  const listing = await db.begin(async (tx) => {
    await tx.script('lock table events in access exclusive mode')
    const pending = list()
    // Only the second one determines all matching contacts before it sorts them.
    await waitingFor(app, 'from (select contacts.* from (select contacts.*')
    return { pending }
  })
  expect(await listing.pending).toEqual(expected)
})

/** Resolves when a statement that contains `pattern` waits for a lock. */
const waitingFor = ({ db }: TestApp, pattern: string) =>
  until(`${pattern} to wait`, async () => (await lockWaits(db)).some((text) => text.includes(pattern)))

test('a count that takes too long is estimated from a sample, if there are many contacts and no exact count is requested', async () => {
  const app = await newServed()
  const { db } = app
  const stages = createDatabaseStages(new StageRegistry(), 10)
  const readWithin = (timeoutMs: number) => createBoundedRead(db, stages.queries, { timeoutMs })
  const reads = { fastRead: readWithin(100), slowRead: readWithin(60_000) }
  const filters = [didNotOpen]
  /** Counts while the events are locked until a statement that contains `pattern` waits for them. */
  const countLocked = async (contacts: number, pattern: string, options?: { exact: boolean }) => {
    const organizationId = newId('org')
    await insertContacts(db, organizationId, contacts)
    const { pending } = await db.begin(async (tx) => {
      await tx.script('lock table events in access exclusive mode')
      const pending = countMatching(reads, organizationId, { filters }, options)
      await waitingFor(app, pattern)
      return { pending }
    })
    return pending
  }
  expect(await countLocked(51_200, 'uuid_send')).toEqual({ count: 51_000, approximate: true })
  expect(await countLocked(25_600, 'uuid_send')).toEqual({ count: 25_600, approximate: false })
  const counting = 'select count(*) from contacts'
  expect(await countLocked(2_560, counting, { exact: true })).toEqual({ count: 2_560, approximate: false })
})

/** Each value of the last byte of the ids, which decides about the sample, is equally frequent. */
async function insertContacts(db: Db, organizationId: OrganizationId, count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, index) =>
    newId('con').replace(/..$/, (index % 256).toString(16).padStart(2, '0')),
  )
  await db.statement`
    insert into contacts (organization_id, id, email, email_key, subscription)
    select ${organizationId}, id, id || '@example.com', id || '@example.com', 'subscribed' from unnest(${ids}::uuid[]) as id`
}
