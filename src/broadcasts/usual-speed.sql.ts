import type { Reader } from '../db/db.ts'
import { firstValue } from '../db/rows.ts'
import type { OrganizationId } from '../values/ids.ts'

/** Broadcasts that are considered, and the recipients that one must have had: small ones say little about the speed. */
const recentMax = 50
const recipientsMin = 500

/**
 * Returns how many emails per second the fastest of the recent broadcasts sent, among those that nothing but the mail server
 * limited. Undefined if there is none. The others may have been paused for a while.
 */
export const findUsualSpeed = (db: Reader, organizationId: OrganizationId): Promise<number | undefined> =>
  firstValue(db<{ perSecond: number }>`
    select (recipients / greatest(1, extract(epoch from finished_at - started_at)))::float8 as per_second
    from (
      select * from broadcasts where organization_id = ${organizationId} order by id desc limit ${recentMax}
    ) as recent
    where status = 'sent' and round = 0 and recipients >= ${recipientsMin} and messages_per_hour is null
      and variants = '[]' and schedule ->> 'window' is null and schedule ->> 'per_recipient' = 'false'
      and finished_at > started_at
    order by 1 desc
    limit 1`)
