import { nameIsFree } from '../db/any-case.ts'
import type { Reader, Tx, Writer } from '../db/db.ts'
import { allValues, first, hasRows, onlyValue } from '../db/rows.ts'
import { sql } from '../db/sql.ts'
import type { FlowId, GroupId, OrganizationId, SegmentId } from '../values/ids.ts'
import type { CheckedFilter } from './parse-filter.ts'

export type Segment = { id: SegmentId; name: string; filter: CheckedFilter; createdAt: Date; updatedAt: Date }

const columns = sql`id, name, filter, created_at, updated_at`

/** Returns undefined if the name is taken. */
export const insertSegment = (
  db: Writer,
  organizationId: OrganizationId,
  { id, name, filter }: Pick<Segment, 'id' | 'name' | 'filter'>,
) =>
  first(db<Segment>`
    insert into segments (organization_id, id, name, filter)
    select ${organizationId}, ${id}, ${name}, ${JSON.stringify(filter)}::jsonb
    where ${nameIsFree(sql`segments`, { organizationId, id }, name)}
    on conflict (organization_id, lower(name)) do nothing
    returning ${columns}`)

export const selectSegments = (db: Reader, organizationId: OrganizationId) =>
  db<Segment>`select ${columns} from segments where organization_id = ${organizationId} order by lower(name), id`

export const selectSegment = (db: Reader, organizationId: OrganizationId, id: SegmentId) =>
  first(db<Segment>`
    select ${columns} from segments where organization_id = ${organizationId} and id = ${id}`)

/** Locks the segment until the end of the transaction. Returns undefined if it does not exist. */
export const lockSegment = (tx: Tx, organizationId: OrganizationId, id: SegmentId) =>
  first(tx<Segment>`
    select ${columns} from segments where organization_id = ${organizationId} and id = ${id} for update`)

export const countSegments = (db: Reader, organizationId: OrganizationId) =>
  onlyValue(db<{ count: number }>`select count(*) from segments where organization_id = ${organizationId}`)

/**
 * Undefined leaves a value unchanged. Returns undefined if the segment does not exist or the name is taken. A concurrent
 * request with the same name violates the unique index instead.
 */
export const updateSegment = (
  tx: Tx,
  organizationId: OrganizationId,
  id: SegmentId,
  { name, filter }: { name: string | undefined; filter: CheckedFilter | undefined },
) =>
  first(tx<Segment>`
    update segments
    set name = coalesce(${name}, name), filter = coalesce(${filter && JSON.stringify(filter)}::jsonb, filter),
      updated_at = now()
    where organization_id = ${organizationId} and id = ${id}
      and ${name === undefined ? sql`true` : nameIsFree(sql`segments`, { organizationId, id }, name)}
    returning ${columns}`)

/** Returns false if the segment does not exist. */
export const deleteSegment = (db: Writer, organizationId: OrganizationId, id: SegmentId) =>
  hasRows(db`delete from segments where organization_id = ${organizationId} and id = ${id} returning id`)

/** Returns the names of up to `limit` segments whose filter contains this text, such as the id of a group. */
export const selectNamesContaining = (db: Reader, organizationId: OrganizationId, text: string, limit: number) =>
  allValues(db<{ name: string }>`
    select name from segments
    where organization_id = ${organizationId} and strpos(filter::text, ${text}) > 0
    order by lower(name)
    limit ${limit}`)

/** Returns the groups and flows that exist. */
export async function selectExisting(
  db: Reader,
  organizationId: OrganizationId,
  { groupIds, flowIds }: { groupIds: GroupId[]; flowIds: FlowId[] },
): Promise<Set<GroupId | FlowId>> {
  const rows = await db<{ id: GroupId | FlowId }>`
    select id from groups where organization_id = ${organizationId} and id = any (${groupIds}::uuid[])
    union all
    select id from flows where organization_id = ${organizationId} and id = any (${flowIds}::uuid[])`
  return new Set(rows.map(({ id }) => id))
}
