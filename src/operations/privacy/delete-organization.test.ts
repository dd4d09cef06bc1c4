import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { terminateLockWaits } from '../../../test/support/lock-waits.ts'
import { join, password, registerOther } from '../../../test/support/people.ts'
import { create } from '../../../test/support/resources.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { parseId } from '../../platform/values/ids.ts'
import { removeOrganization } from './delete-organization.ts'
import { eraseDeletedOrganizations } from './erase-organization.ts'

const log = pino({ level: 'silent' })

/** Every table with a column for the organization, and how many rows of this one it has. */
async function rowsByTable({ db }: TestApp, organizationId: string): Promise<Record<string, number>> {
  const tables = await db<{ name: string }>`
    select table_name as name from information_schema.columns
    join information_schema.tables using (table_schema, table_name)
    where table_schema = 'public' and column_name = 'organization_id' and table_type = 'BASE TABLE'`
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const { rows } = await db.pool.query(`select count(*)::int as n from ${name} where organization_id = $1`, [
      parseId('org', organizationId),
    ])
    if (rows[0].n > 0) counts[name] = rows[0].n
  }
  return counts
}

test('deleting requires an owner, the name and the password, and the operator’s organization is last', async () => {
  await using app = await startTestApp({ SIGNUP: 'open' }, ['serve'])
  const member = await join(app, 'member@acme.example', 'member')
  const other = await registerOther(app)
  const good = { name: 'Acme', password }
  expect((await member.manage('DELETE', '/organization', good)).status).toBe(403)
  for (const [path, body] of [
    ['name', { ...good, name: 'acme' }],
    ['password', { ...good, password: 'wrong password' }],
  ] as const) {
    const { status, body: answer } = await app.manage('DELETE', '/organization', body)
    expect([status, answer.error.fields[0].path]).toEqual([422, path])
  }
  expect((await app.manage('DELETE', '/organization', good)).status).toBe(409)
  // By command: nobody who registered themselves may become the operator.
  await expect(removeOrganization(app.db, parseId('org', app.organizationId)!)).rejects.toThrow('registered themselves')
  expect((await app.manage('GET', '/me')).status).toBe(200)

  expect((await other.manage('DELETE', '/organization', { name: 'Other', password })).status).toBe(200)
  expect((await other.manage('GET', '/me')).status).toBe(401)
  // One of two concurrent requests.
  const answers = await Promise.all([1, 2].map(() => app.manage('DELETE', '/organization', good)))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect((await app.publicApi('GET', '/token/check')).status).toBe(401)
  expect((await member.manage('GET', '/me')).status).toBe(401)
  const credentials = { email: 'owner@acme.example', password }
  expect((await app.call('POST', '/api/v1/auth/login', { body: credentials })).status).toBe(401)
  // The address is available again, and the next organization operates the installation.
  const again = await registerOther(app, 'owner@acme.example')
  expect((await again.manage('GET', '/me')).body.data.operator).toBe(true)
  const third = await registerOther(app, 'third@acme.example')
  await app.db.statement`update organizations set self_registered = false`
  await removeOrganization(app.db, parseId('org', again.organizationId)!)
  expect((await third.manage('GET', '/me')).body.data.operator).toBe(true)
})

test('all rows of a deleted organization are erased, also after an interruption, and no others', async () => {
  await using app = await startTestApp({ EGRESS_ALLOW_PRIVATE: 'true', SIGNUP: 'open' })
  const other = await registerOther(app)
  await other.manage('POST', '/organization/contacts', { email: 'ada@example.com' })
  const webhook = await create(app, '/webhooks', { name: 'CRM', url: 'http://127.0.0.1:9/', all_events: true })
  await app.manage('PATCH', `/organization/webhooks/${webhook.id}`, { status: 'paused' })
  const group = await create(app, '/groups', { name: 'Customers' })
  const message = (await send(app, await createFlow(app))).body.data
  await create(app, `/groups/${group.id}/members`, { contact_ids: [message.contact_id] })
  await create(app, '/suppressions', { email: 'bob@example.com' })
  for (const n of [1, 2, 3]) await create(app, '/contacts', { email: `reader${n}@example.com` })
  await app.manage('PATCH', `/organization/contacts/${message.contact_id}`, { first_name: 'Ada' })
  const headers = { authorization: `Bearer ${app.session}`, 'content-type': 'text/csv' }
  await app.call('POST', '/api/v1/organization/contacts/import', { headers, raw: 'email\ncarol@example.com\n' })
  // Awaited before the rows are counted, because the counts of the tables are not one snapshot.
  await until('all of it', async () => {
    const { inbox, deliveries, import_chunks, api_requests } = await rowsByTable(app, app.organizationId)
    return inbox && deliveries && !import_chunks && api_requests
  })
  const before = await rowsByTable(app, app.organizationId)
  const expected = [
    'contact_history',
    'contacts',
    'event_counters',
    'events',
    'flow_versions',
    'flows',
    'group_members',
  ]
  expect(Object.keys(before)).toEqual(expect.arrayContaining([...expected, 'imports', 'messages', 'suppressions']))
  const othersBefore = await rowsByTable(app, other.organizationId)

  // The organization of the operator must be the last one, so another organization takes its role here.
  await app.db.statement`update organizations set is_operator = false`
  expect((await app.manage('DELETE', '/organization', { name: 'Acme', password })).status).toBe(200)
  // Stopped immediately: no credentials and no webhooks remain, and no lane offers its jobs.
  const stopped = await rowsByTable(app, app.organizationId)
  expect([stopped.users, stopped.api_keys, stopped.invitations, stopped.webhooks]).toEqual(Array(4).fill(undefined))
  const id = parseId('org', app.organizationId)
  expect(await app.db`select from lanes where organization_id = ${id} and not held`).toEqual([])

  const erase = () => eraseDeletedOrganizations({ db: app.db, log, bucket: undefined, batchRows: 2, keepMs: 0 })
  // A lock blocks the erasure in the middle of the contacts, where its connection is terminated.
  await app.db.begin(async (tx) => {
    await tx`select from contacts where organization_id = ${id} for update`
    const interrupted = erase().catch((error: Error) => error)
    await until('the erasure to wait', async () => {
      return (await terminateLockWaits(app.db, 'delete from public.contacts')) > 0
    })
    expect(await interrupted).toBeInstanceOf(Error)
    const { messages, contacts } = await rowsByTable(app, app.organizationId)
    expect([messages, contacts]).toEqual([undefined, before.contacts])
  })
  await erase()
  expect(await rowsByTable(app, app.organizationId)).toEqual({})
  await erase()
  expect(await app.db`select from organizations where id = ${id}`).toEqual([])
  expect(await rowsByTable(app, other.organizationId)).toEqual(othersBefore)
})
