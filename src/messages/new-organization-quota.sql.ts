import type { Reader } from '../db/db.ts'
import { onShardsOf } from '../db/distributed.ts'
import { sql } from '../db/sql.ts'
import { leastId, type OrganizationId } from '../values/ids.ts'

export type NewOrganization = { id: OrganizationId; used: number }

/**
 * Returns which of these organizations registered themselves within `newForDays`, with the number of messages accepted
 * since `since`. Counts up to `countMax`, along the primary key.
 */
export async function findNewOrganizations(
  db: Reader,
  ids: readonly OrganizationId[],
  { newForDays, since, countMax }: { newForDays: number; since: Date; countMax: number },
): Promise<NewOrganization[]> {
  return db<NewOrganization>`
    select organizations.id, (
        select count(*) from (
          select from messages
          where messages.organization_id = organizations.id and messages.id >= ${leastId('msg', since.getTime())}
            ${onShardsOf(
              db,
              ids.map((organizationId) => ({ organizationId })),
              sql`messages.organization_id`,
            )}
          limit ${countMax}
        ) as accepted
      ) as used
    from organizations
    where id = any (${ids}::uuid[]) and self_registered and created_at > now() - ${newForDays} * interval '1 day'`
}
