import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Db } from '../src/platform/db/db.ts'
import { type GroupId, newId, parseId } from '../src/platform/values/ids.ts'
import { copyIn } from './support/copy-in.ts'
import { HttpLoad, httpRequest } from './support/http-load.ts'
import { byRatio, type Result } from './support/result.ts'
import { interleave, type Round } from './support/rounds.ts'
import { type Service, startService, type Tenant } from './support/service.ts'
import { insertContacts } from './support/tenant-data.ts'

const membersPerRequest = 10_000
const contactsBefore = 1_000_000
const pairs = 9

/**
 * 10,000 new members in one request into a table of a million, compared with COPY of the same rows into identical
 * tables.
 */
export async function members(): Promise<Result> {
  const service = await startService('serve')
  const tenant = await service.register('acme')
  const { id: groupText } = await tenant.manage('POST', '/groups', { name: 'Everyone' })
  const groupId = parseId('grp', groupText)!
  await insertContacts(service.db, tenant.id, contactsBefore)
  await makeTwins(service.db, tenant.id, groupId)

  const load = await HttpLoad.open(service.port, 1)
  const comparison = await interleave(
    () => addMembers(service, tenant, load, groupText),
    () => copyMembers(service.db, tenant, groupId),
    pairs,
  )
  load.close()
  const notes = ['the reference copies the rows of both tables, contacts and group_members, in one transaction']
  return byRatio(comparison, { unit: 'members', atLeast: 0.22, aim: 0.35, service, notes })
}

const newAddresses = () =>
  Array.from({ length: membersPerRequest }, () => `${randomBytes(8).toString('hex')}@example.com`)

async function addMembers(service: Service, tenant: Tenant, load: HttpLoad, groupText: string): Promise<Round> {
  const given = newAddresses().map((email) => ({ email, first_name: 'Ada' }))
  const body = JSON.stringify({ group_id: groupText, members: given })
  const path = '/public/api/v1/contacts/add-group-members'
  const request = httpRequest('POST', path, { 'x-api-token': tenant.apiKey }, body)
  const cpuBefore = service.cpuMicros()
  const round = await load.run(() => request, 0)
  const cpuAfter = service.cpuMicros()
  return {
    ...round,
    operations: membersPerRequest,
    cpuMicros: cpuBefore === null || cpuAfter === null ? null : cpuAfter - cpuBefore,
  }
}

async function copyMembers(db: Db, { id: organizationId }: Tenant, groupId: GroupId): Promise<Round> {
  const given = newAddresses().map((email) => ({ id: newId('con'), email }))
  const contacts = given.map(({ id, email }) => `${organizationId}\t${id}\t${email}\t${email}\tAda\tsubscribed\n`)
  const joined = given.map(({ id }) => `${organizationId}\t${groupId}\t${id}\n`)
  // COPY is not possible on the pipelined connections of the pool.
  const client = new pg.Client({ ...db.pool.options, pipeline: false } as pg.ClientConfig)
  await client.connect()
  const startedAt = performance.now()
  await client.query('begin')
  const columns = 'organization_id, id, email, email_key, first_name, subscription'
  await copyIn(client, `copy twin_contacts (${columns}) from stdin`, Buffer.from(contacts.join('')))
  await copyIn(
    client,
    'copy twin_members (organization_id, group_id, contact_id) from stdin',
    Buffer.from(joined.join('')),
  )
  await client.query('commit')
  const seconds = (performance.now() - startedAt) / 1000
  await client.end()
  return { operations: membersPerRequest, seconds }
}

/** Adds all contacts to the group, and creates copies of both tables with the same rows and indexes. */
async function makeTwins(db: Db, organizationId: string, groupId: GroupId): Promise<void> {
  const client = await db.pool.connect()
  await client.query('set statement_timeout = 0')
  await client.query(
    'insert into group_members (organization_id, group_id, contact_id) select $1, $2, id from contacts order by id',
    [organizationId, groupId],
  )
  await client.query('create table twin_contacts (like contacts including all excluding generated)')
  await client.query('create table twin_members (like group_members including all)')
  await client.query('insert into twin_contacts select * from contacts')
  await client.query('insert into twin_members select * from group_members')
  await client.query('vacuum analyze')
  client.release()
}
