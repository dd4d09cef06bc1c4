import { nameIsFree } from '../../platform/db/any-case.ts'
import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { allValues, first, hasRows, onlyValue } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import {
  type BroadcastId,
  type FlowId,
  type GroupId,
  type OrganizationId,
  type SegmentId,
  toText,
} from '../../platform/values/ids.ts'
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

/** Locks all segments until the end of the transaction, so that none of them changes while the nesting is checked. */
export const lockSegments = (tx: Tx, organizationId: OrganizationId) =>
  tx<Segment>`select ${columns} from segments where organization_id = ${organizationId} order by id for update`

export const selectSegmentsById = (db: Reader, organizationId: OrganizationId, ids: readonly SegmentId[]) =>
  db<Pick<Segment, 'id' | 'filter'>>`
    select id, filter from segments where organization_id = ${organizationId} and id = any (${ids}::uuid[])`

/** Returns the segments whose filter contains one of these segments. */
export const selectUsers = (db: Reader, organizationId: OrganizationId, ids: readonly SegmentId[]) =>
  allValues(db<{ id: SegmentId }>`
    select id from segments
    where organization_id = ${organizationId}
      and exists (select from unnest(${ids.map((id) => toText('seg', id))}::text[]) as used (id)
        where strpos(filter::text, used.id) > 0)`)

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

export type RecordIds = {
  groupIds: GroupId[]
  flowIds: FlowId[]
  broadcastIds: BroadcastId[]
  segmentIds: SegmentId[]
}

/** Returns which of these records exist. */
export async function selectExisting(
  db: Reader,
  organizationId: OrganizationId,
  { groupIds, flowIds, broadcastIds, segmentIds }: RecordIds,
): Promise<Set<string>> {
  const rows = await db<{ id: string }>`
    select id from groups where organization_id = ${organizationId} and id = any (${groupIds}::uuid[])
    union all
    select id from flows where organization_id = ${organizationId} and id = any (${flowIds}::uuid[])
    union all
    select id from broadcasts where organization_id = ${organizationId} and id = any (${broadcastIds}::uuid[])
    union all
    select id from segments where organization_id = ${organizationId} and id = any (${segmentIds}::uuid[])`
  return new Set(rows.map(({ id }) => id))
}
