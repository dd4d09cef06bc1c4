import { pino } from 'pino'
import { expect, test } from 'vitest'
import { failureLog } from '../../../test/support/failure-log.ts'
import { create } from '../../../test/support/resources.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { eraseInTransaction } from '../../operations/privacy/erase-contact.ts'
import { Hints } from '../../platform/queue/hints.ts'
import { Worker } from '../../platform/queue/worker.ts'
import { parseId } from '../../platform/values/ids.ts'
import { bulkActionWorker } from './bulk-action.job.ts'

const newOrganization = await startSharedApp()

const contactsCount = 1_200

type Action = { status: string; total: number; processed: number; changed: number; reason: string | null }

async function run(app: TestApp, body: object): Promise<Action> {
  const started = await app.manage('POST', '/organization/bulk-actions', body)
  expect(started.status, started.text).toBe(202)
  return until('the action to finish', async () => {
    const { data } = (await app.manage('GET', `/organization/bulk-actions/${started.body.data.id}`)).body
    return data.finished_at && data
  })
}

const counts = ({ status, total, processed, changed }: Action) => ({ status, total, processed, changed })
const countOf = async (app: TestApp, query: string): Promise<number> =>
  (await app.manage('GET', `/organization/contacts/count?${query}`)).body.data.count

async function createGroup(app: TestApp, name: string): Promise<string> {
  return (await create(app, '/groups', { name })).id
}

function startWorker({ db }: TestApp): AsyncDisposable {
  const spec = bulkActionWorker({ db, work: (_id, slice) => db.begin(slice), erase: eraseInTransaction })
  const log = pino({ level: 'silent' })
  const worker = new Worker({ db, log, failures: failureLog(log), hints: new Hints(db), spec })
  worker.start()
  return { [Symbol.asyncDispose]: () => worker.stop() }
}

test('many contacts are grouped, unsubscribed, suppressed and erased, and each change is recorded', async () => {
  const app = await newOrganization()
  const group = await createGroup(app, 'Everybody')
  const small = await createGroup(app, 'Small')
  const members = Array.from({ length: contactsCount }, (_, index) => ({
    email: `reader${index}@example.com`,
    attributes: { number: index },
  }))
  await app.publicApi('POST', '/contacts/add-group-members', { group_id: small, members })
  const below = (value: number) => ({ type: 'number', field: 'attributes.number', operator: 'less_than', value })
  const all = { total: contactsCount, processed: contactsCount }

  expect(counts(await run(app, { action: 'add_to_group', group_id: group, matching: {} }))).toEqual({
    status: 'done',
    ...all,
    changed: contactsCount,
  })
  expect(counts(await run(app, { action: 'add_to_group', group_id: group, matching: {} }))).toMatchObject({
    ...all,
    changed: 0,
  })
  // What the action changes is what its filter tests: all of them are removed nevertheless.
  const removed = await run(app, { action: 'remove_from_group', group_id: small, matching: { group_id: small } })
  expect(counts(removed)).toEqual({ status: 'done', ...all, changed: contactsCount })
  expect([await countOf(app, `group_id=${small}`), await countOf(app, `group_id=${group}`)]).toEqual([0, contactsCount])

  const some = { matching: { filter: below(700), status: 'subscribed' } }
  expect(counts(await run(app, { action: 'unsubscribe', ...some }))).toMatchObject({ total: 700, changed: 700 })
  expect(await countOf(app, 'status=unsubscribed')).toBe(700)
  const events = await app.db`
    select from events where organization_id = ${parseId('org', app.organizationId)!} and event_name = 'contactUnsubscribe'`
  expect(events).toHaveLength(700)

  const page = await app.manage('GET', '/organization/contacts?query=reader9&limit=10')
  const ids: string[] = page.body.data.map(({ id }: { id: string }) => id)
  expect(counts(await run(app, { action: 'suppress', contact_ids: [...ids, ids[0]] }))).toMatchObject({
    total: ids.length,
    changed: ids.length,
  })
  expect(await countOf(app, 'status=suppressed')).toBe(ids.length)
  const { data: timeline } = (await app.manage('GET', `/organization/contacts/${ids[0]}/timeline`)).body
  expect(timeline.map(({ change }: { change: string }) => change)).toEqual(
    expect.arrayContaining(['suppressed', 'group_removed', 'group_added']),
  )

  const erased = await run(app, { action: 'erase', matching: { filter: below(50) } })
  expect(counts(erased)).toEqual({ status: 'done', total: 50, processed: 50, changed: 50 })
  expect(await countOf(app, '')).toBe(contactsCount - 50)
  expect(
    await app.db`select from bulk_action_contacts where organization_id = ${parseId('org', app.organizationId)!}`,
  ).toHaveLength(0)
  const list = (await app.manage('GET', '/organization/bulk-actions')).body.data
  expect(list.map(({ action }: { action: string }) => action)).toEqual([
    'erase',
    'suppress',
    'unsubscribe',
    'remove_from_group',
    'add_to_group',
    'add_to_group',
  ])
})

test('invalid actions are refused, and one can be stopped', async () => {
  await using app = await startTestApp({}, ['serve'])
  const statusOf = async (body: object) => (await app.manage('POST', '/organization/bulk-actions', body)).status
  expect(await statusOf({ action: 'erase' })).toBe(422)
  expect(await statusOf({ action: 'erase', contact_ids: [] })).toBe(422)
  expect(await statusOf({ action: 'erase', contact_ids: ['x'] })).toBe(404)
  expect(await statusOf({ action: 'nothing', matching: {} })).toBe(422)
  expect(await statusOf({ action: 'add_to_group', matching: {} })).toBe(422)
  expect(await statusOf({ action: 'add_to_group', group_id: 'grp_x', matching: {} })).toBe(404)
  expect(await statusOf({ action: 'erase', matching: { filter: { type: 'text' } } })).toBe(422)

  // Without a worker it stays queued.
  const { data } = (await app.manage('POST', '/organization/bulk-actions', { action: 'erase', matching: {} })).body
  expect(data).toMatchObject({ status: 'queued', total: null, processed: 0 })
  const cancel = () => app.manage('POST', `/organization/bulk-actions/${data.id}/cancel`)
  expect((await cancel()).body.data).toMatchObject({ status: 'cancelled' })
  expect((await cancel()).status).toBe(200)
  await using _worker = startWorker(app)
  await until('its job to be deleted', async () => {
    const jobs = await app.db`select from jobs where kind = 'contacts.bulk'`
    return jobs.length === 0
  })
})

test('an action on a group that is deleted fails with the reason', async () => {
  await using app = await startTestApp({}, ['serve'])
  await app.manage('POST', '/organization/contacts', { email: 'ada@example.com' })
  const group = await createGroup(app, 'Gone')
  const body = { action: 'add_to_group', group_id: group, matching: {} }
  const { id } = await create(app, '/bulk-actions', body)
  await app.manage('DELETE', `/organization/groups/${group}`)
  await using _worker = startWorker(app)
  const failed = await until('the action to fail', async () => {
    const { data } = (await app.manage('GET', `/organization/bulk-actions/${id}`)).body
    return data.finished_at && data
  })
  expect(failed).toMatchObject({ status: 'failed', changed: 0, reason: expect.stringContaining('group was deleted') })
})

test('the export has the matching contacts, a column per attribute, and no formulas', async () => {
  const app = await newOrganization()
  const group = await createGroup(app, 'A "b", c')
  const add = (body: object) => app.manage('POST', '/organization/contacts', body)
  await add({ email: 'ada@example.com', first_name: '=1+1', attributes: { plan: 'pro', email: 'x', tags: ['a', 'b'] } })
  await add({ email: 'bob@example.com', attributes: { seats: -3 }, group_ids: [group] })
  await add({ email: 'eve@other.example', attributes: { secret: 1 } })
  const filter = { type: 'text', field: 'email_domain', operator: 'equals', value: 'example.com' }
  const query = `filter=${encodeURIComponent(JSON.stringify(filter))}`
  const { status, headers, text } = await app.manage('GET', `/organization/contacts/export?${query}`)
  expect([status, headers.get('content-type'), headers.get('content-disposition')]).toEqual([
    200,
    'text/csv; charset=utf-8',
    'attachment; filename="contacts.csv"',
  ])
  const cells = text.replace(/con_\w+/g, 'ID').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
  expect(cells.split('\r\n')).toEqual([
    'id,email,first_name,last_name,status,groups,created_at,last_active_at,attributes.email,plan,seats,tags',
    `ID,ada@example.com,'=1+1,,subscribed,,TIME,,x,pro,,"[""a"",""b""]"`,
    'ID,bob@example.com,,,subscribed,"A ""b"", c",TIME,,,,-3,',
    '',
  ])
})

test('contacts are sorted by time or address, over several pages', async () => {
  const app = await newOrganization()
  for (const name of ['bob', 'Ada', 'eve'])
    await app.manage('POST', '/organization/contacts', { email: `${name}@example.com` })
  const sorted = async (sort: string) => {
    const names: string[] = []
    for (let cursor = ''; ; ) {
      const { body } = await app.manage('GET', `/organization/contacts?sort=${sort}&limit=2${cursor}`)
      names.push(...body.data.map(({ email }: { email: string }) => email.split('@')[0]!))
      if (!body.next_cursor) return names.join(' ')
      cursor = `&cursor=${body.next_cursor}`
    }
  }
  expect(await sorted('email')).toBe('Ada bob eve')
  expect(await sorted('-email')).toBe('eve bob Ada')
  expect(await sorted('created_at')).toBe('bob Ada eve')
  expect(await sorted('-created_at')).toBe('eve Ada bob')
  expect((await app.manage('GET', '/organization/contacts?sort=name')).status).toBe(422)
})
