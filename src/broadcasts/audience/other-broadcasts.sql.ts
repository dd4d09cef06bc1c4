import type { Reader } from '../../platform/db/db.ts'
import { firstValue } from '../../platform/db/rows.ts'
import { dayMs } from '../../platform/values/durations.ts'
import type { Broadcast } from '../broadcasts.sql.ts'

/** A broadcast that starts earlier than this before another one is expected to be sent by then. */
const durationMs = dayMs

/**
 * Counts the other broadcasts that may be sent between these times. How many recipients a scheduled one has is known when it
 * starts, so a plan cannot say how much they delay it.
 */
export const countOtherBroadcasts = (
  db: Reader,
  { organizationId, id, now }: Broadcast,
  { from, until }: { from: Date; until: Date },
) =>
  firstValue(db<{ count: number }>`
    select count(*) from broadcasts
    where organization_id = ${organizationId} and id <> ${id}
      and ((status in ('preparing', 'sending') and ${+from - +now < durationMs})
        or (status = 'scheduled' and starts_at between ${new Date(+from - durationMs)} and ${until}))`)
