import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { first, hasRows, onlyValue } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { EventExportId, OrganizationId } from '../../platform/values/ids.ts'

export type EventExport = {
  organizationId: OrganizationId
  id: EventExportId
  name: string
  endpoint: string
  region: string
  bucket: string
  prefix: string
  accessKeyId: string
  status: 'active' | 'paused'
  pausedReason: string | null
  lastFile: string | null
  lastExportedAt: Date | null
  exportedEvents: number
  failingSince: Date | null
  lastError: string | null
  createdAt: Date
  updatedAt: Date
}

/** With what the worker needs. */
export type ExportToRun = EventExport & {
  secret: Buffer | null
  cursor: string | null
  pendingUntil: string | null
  pendingFile: string | null
  failures: number
}

const columns = sql`
  organization_id, id, name, endpoint, region, bucket, prefix, access_key_id, status, paused_reason, last_file,
  last_exported_at, exported_events, failing_since, last_error, created_at, updated_at`

export const selectExports = (db: Reader, organizationId: OrganizationId) =>
  db<EventExport>`select ${columns} from event_exports where organization_id = ${organizationId} order by id`

export const findExport = (db: Reader, organizationId: OrganizationId, id: EventExportId) =>
  first(db<ExportToRun>`
    select ${columns}, secret, cursor, pending_until, pending_file, failures from event_exports
    where organization_id = ${organizationId} and id = ${id}`)

export const lockExport = (tx: Tx, organizationId: OrganizationId, id: EventExportId) =>
  first(tx<ExportToRun>`
    select ${columns}, secret, cursor, pending_until, pending_file, failures from event_exports
    where organization_id = ${organizationId} and id = ${id}
    for update`)

export const countExports = (db: Reader, organizationId: OrganizationId) =>
  onlyValue(db<{ count: number }>`select count(*) from event_exports where organization_id = ${organizationId}`)

type Settings = Pick<EventExport, 'name' | 'endpoint' | 'region' | 'bucket' | 'prefix' | 'accessKeyId'>
export type NewExport = Settings & {
  organizationId: OrganizationId
  id: EventExportId
  secret: Buffer
  cursor: string | null
}

export const insertExport = async (db: Writer, row: NewExport): Promise<EventExport> =>
  (
    await db<EventExport>`
      insert into event_exports (organization_id, id, name, endpoint, region, bucket, prefix, access_key_id, secret, cursor)
      values (${row.organizationId}, ${row.id}, ${row.name}, ${row.endpoint}, ${row.region}, ${row.bucket}, ${row.prefix},
        ${row.accessKeyId}, ${row.secret}, ${row.cursor})
      returning ${columns}`
  )[0]!

type ChangedExport = Settings & Pick<ExportToRun, 'organizationId' | 'id' | 'secret' | 'status'>

/** An export that was changed is tried again as if it had never failed. */
export const updateExport = async (tx: Tx, row: ChangedExport): Promise<EventExport> =>
  (
    await tx<EventExport>`
      update event_exports
      set name = ${row.name}, endpoint = ${row.endpoint}, region = ${row.region}, bucket = ${row.bucket},
        prefix = ${row.prefix}, access_key_id = ${row.accessKeyId}, secret = ${row.secret}, status = ${row.status},
        paused_reason = null, failures = 0, failing_since = null, last_error = null, updated_at = now()
      where organization_id = ${row.organizationId} and id = ${row.id}
      returning ${columns}`
  )[0]!

export const deleteExportRow = (tx: Tx, organizationId: OrganizationId, id: EventExportId) =>
  hasRows(tx`delete from event_exports where organization_id = ${organizationId} and id = ${id} returning true`)

type Key = { organizationId: OrganizationId; id: EventExportId }

/** Stores the end and name of the next file. Returns false if another worker has exported since `cursor` was read. */
export const planFile = (
  db: Writer,
  { organizationId, id, cursor }: Key & { cursor: string | null },
  { until, name }: { until: string; name: string },
) =>
  hasRows(db`
    update event_exports set pending_until = ${until}, pending_file = ${name}
    where organization_id = ${organizationId} and id = ${id} and cursor is not distinct from ${cursor}
      and pending_until is null and status = 'active'
    returning true`)

/** `file` is null if there were no events. */
export function recordExported(
  tx: Tx,
  { organizationId, id }: Key,
  { cursor, file, events, note }: { cursor: string | null; file: string | null; events: number; note: string | null },
): void {
  tx.send`
    update event_exports
    set cursor = ${cursor}, pending_until = null, pending_file = null, last_file = coalesce(${file}, last_file),
      last_exported_at = case when ${file}::text is null then last_exported_at else exported.now end,
      exported_events = exported_events + ${events}, failures = 0, failing_since = null, last_error = ${note}
    from (select now() as now) as exported
    where organization_id = ${organizationId} and id = ${id}`
}

/** Returns since when every attempt has failed, and how many have. */
export const recordFailure = async (tx: Tx, { organizationId, id }: Key, reason: string) =>
  (
    await tx<{ failingSince: Date; failures: number }>`
      update event_exports
      set failures = failures + 1, failing_since = least(failing_since, failed.now), last_error = ${reason}
      from (select now() as now) as failed
      where organization_id = ${organizationId} and id = ${id}
      returning failing_since, failures`
  )[0]

export const pauseExport = (tx: Tx, { organizationId, id }: Key, reason: string) =>
  tx`
    update event_exports set status = 'paused', paused_reason = ${reason}, updated_at = now()
    where organization_id = ${organizationId} and id = ${id}`
