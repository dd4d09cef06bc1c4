import type { Reader } from '../../platform/db/db.ts'
import { leastId, type MessageId, type OrganizationId } from '../../platform/values/ids.ts'

/** `oldest`: the first message that counts. */
export type NewOrganization = { id: OrganizationId; used: number; oldest: MessageId | null }

/**
 * Returns which of these organizations registered themselves within `newForDays`, with the messages accepted since
 * `since`. Counts up to `countMax`, along the primary key.
 */
export const findNewOrganizations = (
  db: Reader,
  ids: readonly OrganizationId[],
  { newForDays, since, countMax }: { newForDays: number; since: Date; countMax: number },
) =>
  db<NewOrganization>`
    select organizations.id, (
        select count(*) from (
          select from messages
          where messages.organization_id = key.organization_id and messages.id >= ${leastId('msg', since.getTime())}
          limit ${countMax}
        ) as accepted
      ) as used, (
        select id from messages
        where messages.organization_id = key.organization_id and messages.id >= ${leastId('msg', since.getTime())}
        order by id
        limit 1
      ) as oldest
    from unnest(${ids}::uuid[]) as key (organization_id)
    join organizations on organizations.id = key.organization_id
    where self_registered and created_at > now() - ${newForDays} * interval '1 day'`
