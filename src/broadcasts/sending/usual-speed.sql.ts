import type { Reader } from '../../platform/db/db.ts'
import { firstValue } from '../../platform/db/rows.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'

/** Broadcasts that are considered, and the recipients that one must have had: small ones say little about the speed. */
const recentMax = 50
const recipientsMin = 500

/**
 * Returns how many emails per second the fastest of the recent broadcasts sent, until its last part was done: deferred emails
 * may follow hours later. Broadcasts with a rate or sending hours of their own do not count. Others may have been slowed down
 * by a pause or a limit of their mail server, which is not stored, so the fastest is taken. Undefined if there is none.
 */
export const findUsualSpeed = (db: Reader, organizationId: OrganizationId): Promise<number | undefined> =>
  firstValue(db<{ perSecond: number }>`
    select (recipients / greatest(1, extract(epoch from sent_at - started_at)))::float8 as per_second
    from (
      select recent.*,
        coalesce(
          (select max(done_at) from broadcast_parts as part
            where part.organization_id = ${organizationId} and part.broadcast_id = recent.id),
          finished_at) as sent_at
      from (
        select * from broadcasts where organization_id = ${organizationId} order by id desc limit ${recentMax}
      ) as recent
    ) as recent
    where status = 'sent' and round = 0 and recipients >= ${recipientsMin} and messages_per_hour is null
      and variants = '[]' and schedule ->> 'window' is null and schedule ->> 'per_recipient' = 'false'
      and sent_at > started_at
    order by 1 desc
    limit 1`)
