import type { Reader } from '../db/db.ts'
import { firstValue } from '../db/rows.ts'
import type { Broadcast } from './broadcasts.sql.ts'

/**
 * Counts the other broadcasts that are being sent, or will start until this time. How many recipients a scheduled one has is
 * known when it starts, so a plan cannot say how much they delay it.
 */
export const countOtherBroadcasts = (db: Reader, { organizationId, id }: Broadcast, until: Date) =>
  firstValue(db<{ count: number }>`
    select count(*) from broadcasts
    where organization_id = ${organizationId} and id <> ${id}
      and (status in ('preparing', 'sending') or (status = 'scheduled' and starts_at <= ${until}))`)
