import { onShardsOf } from '../../platform/db/cluster/shards.ts'
import type { Reader, Writer } from '../../platform/db/db.ts'
import { allValues } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'

export type DeletedOrganization = { id: OrganizationId; isDue: boolean }

/** `isDue`: deleted at least `keepMs` ago. */
export const selectDeletedOrganizations = (db: Reader, keepMs: number) =>
  db<DeletedOrganization>`
    select id, deleted_at <= now() - ${keepMs} * interval '1 ms' as is_due
    from organizations
    where deleted_at is not null
    order by deleted_at`

/**
 * Returns the quoted names of all tables with tenant rows, read from the catalog, so that new tables are included; for
 * a partitioned table, its partitions. Jobs and messages come first: without them, nothing new is sent or recorded.
 */
export const selectTenantTables = (db: Reader) =>
  allValues(db<{ name: string }>`
    select format('%I.%I', pg_namespace.nspname, pg_class.relname) as name
    from pg_class
    join pg_namespace on pg_namespace.oid = relnamespace and nspname = current_schema()
    join pg_attribute on attrelid = pg_class.oid and attname = 'organization_id' and not attisdropped
    where relkind = 'r'
    order by array_position(array['jobs', 'messages']::name[], relname) nulls last, relname`)

/**
 * Deletes up to `limit` rows of the organization. Returns how many. `table` must come from `selectTenantTables`. Files in the
 * bucket are skipped: their rows are deleted after their objects.
 */
export async function deleteRows(db: Writer, table: string, organizationId: OrganizationId, limit: number) {
  // By ctid alone: while statistics are out of date, the index of the organization would be read whole for each batch.
  const name = sql([table] as unknown as TemplateStringsArray)
  const skipped = table.endsWith('.stored_files') ? sql`and not in_bucket` : sql``
  const [row] = await db.run<{ count: number }>(sql`
    with deleted as (
      delete from ${name}
      where ctid = any (array(select ctid from ${name} where organization_id = ${organizationId} ${skipped} limit ${limit}))
        ${onShardsOf(db, [{ organizationId }], sql`organization_id`)}
      returning 1
    )
    select count(*) from deleted`)
  return row!.count
}

export const deleteOrganizationRow = (db: Writer, id: OrganizationId) =>
  db`delete from organizations where id = ${id} and deleted_at is not null`
