import { insertRows } from '../../platform/db/cluster/insert-rows.ts'
import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { sql } from '../../platform/db/sql.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import type { Limit } from './limit.ts'
import type { LimitUse } from './open-limit.ts'

export type LimitKey = Pick<Limit, 'organizationId' | 'key'>
export type LockedUse = LimitKey & { use: LimitUse; now: number }
type Row = LimitKey &
  Pick<LimitUse, 'day' | 'days' | 'used' | 'nextAt'> & { urgent: number; waited: number; bulk: number; now: number }

const columns = sql`uses.organization_id, uses.key, day::text, days, used,
  (extract(epoch from next_at) * 1000)::float8 as next_at,
  (extract(epoch from urgent_until) * 1000)::float8 as urgent,
  (extract(epoch from waited_until) * 1000)::float8 as waited,
  (extract(epoch from bulk_until) * 1000)::float8 as bulk,
  (extract(epoch from clock_timestamp()) * 1000)::float8 as now`

/** Locks the rows of these limits in the order of their keys, and returns those that exist. */
export async function lockUses(tx: Tx, keys: readonly LimitKey[]): Promise<LockedUse[]> {
  const rows = await tx<Row>`
    select ${columns}
    from unnest(
      ${keys.map(({ organizationId }) => organizationId)}::uuid[],
      ${keys.map(({ key }) => key)}::text[]
    ) as asked (organization_id, key)
    join sending_limit_uses as uses on uses.organization_id = asked.organization_id and uses.key = asked.key
    order by uses.organization_id, uses.key
    for no key update of uses`
  return rows.map(toUse)
}

const toUse = ({ organizationId, key, day, days, used, nextAt, urgent, waited, bulk, now }: Row): LockedUse => ({
  organizationId,
  key,
  use: { day, days, used, nextAt, queues: { urgent, waited, bulk } },
  now,
})

export async function findUse(db: Reader, { organizationId, key }: LimitKey): Promise<LimitUse | undefined> {
  const [row] = await db<Row>`
    select ${columns} from sending_limit_uses as uses where organization_id = ${organizationId} and key = ${key}`
  return row && toUse(row).use
}

export const deleteUse = (db: Writer, organizationId: OrganizationId, key: string) =>
  db`delete from sending_limit_uses where organization_id = ${organizationId} and key = ${key}`

/** Limits that exist are not changed. */
export const insertUses = (db: Writer, keys: readonly LimitKey[]) =>
  db`
    insert into sending_limit_uses (organization_id, key, day)
    ${insertRows(
      db,
      {
        organization_id: ['uuid', keys.map(({ organizationId }) => organizationId)],
        key: ['text', keys.map(({ key }) => key)],
      },
      "organization_id, key, (now() at time zone 'utc')::date",
    )}
    on conflict (organization_id, key) do nothing`

export const updateUses = (tx: Tx, uses: readonly (LimitKey & { use: LimitUse })[]) =>
  tx.send`
    update sending_limit_uses as uses
    set day = change.day, days = change.days, used = change.used,
      next_at = to_timestamp(change.next_at / 1000),
      urgent_until = to_timestamp(change.urgent / 1000),
      waited_until = to_timestamp(change.waited / 1000),
      bulk_until = to_timestamp(change.bulk / 1000)
    from unnest(
      ${uses.map(({ organizationId }) => organizationId)}::uuid[],
      ${uses.map(({ key }) => key)}::text[],
      ${uses.map(({ use }) => use.day)}::date[],
      ${uses.map(({ use }) => use.days)}::int[],
      ${uses.map(({ use }) => use.used)}::int[],
      ${uses.map(({ use }) => use.nextAt)}::float8[],
      ${uses.map(({ use }) => use.queues.urgent)}::float8[],
      ${uses.map(({ use }) => use.queues.waited)}::float8[],
      ${uses.map(({ use }) => use.queues.bulk)}::float8[]
    ) as change (organization_id, key, day, days, used, next_at, urgent, waited, bulk)
    where uses.organization_id = change.organization_id and uses.key = change.key`

/** Those of plans are kept, because they count days. */
export const deleteOldUses = (db: Writer, prefix: string, keptDays: number) =>
  db`
    delete from sending_limit_uses
    where day < (now() at time zone 'utc')::date - ${keptDays}::int and not starts_with(key, ${prefix})`
