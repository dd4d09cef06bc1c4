import { otherValue } from '../../events/events.ts'
import type { Reader } from '../../platform/db/db.ts'
import type { MessageId } from '../../platform/values/ids.ts'
import { eventsFrom, idRangeOf, type SentBroadcast } from './sent-emails.sql.ts'

/** A link with more clicks is found soon enough among the recipients that clicked any link. */
const clicksMax = 1_000
const quarterMs = 15 * 60_000

/**
 * Returns the emails in which a link was clicked by people, or undefined if there are many. The counters of the flow show which
 * quarter-hours contain such clicks, and only these are read; those of the last minutes may not be counted yet. Without
 * this, a link that nobody clicked is looked for in the events of every recipient that clicked another one.
 */
export async function findClickers(
  db: Reader,
  broadcast: SentBroadcast,
  link: string,
): Promise<MessageId[] | undefined> {
  const { organizationId, flowId, startedAt } = broadcast
  const range = idRangeOf(broadcast)
  if (!range || !startedAt) return []
  const countedFrom = new Date(eventsFrom(startedAt).getTime() - quarterMs)
  const recent = new Date(Date.now() - quarterMs)
  const rows = await db<{ messageId: MessageId }>`
    select click.message_id
    from (
      select starts_at, starts_at + interval '15 minutes' as ends_at
      from flow_counters
      where organization_id = ${organizationId} and flow_id = ${flowId} and grain = 'quarter' and kind = 'link'
        and value in (${link}, ${otherValue}) and event_name = 'emailClick' and total > machine
        and starts_at >= ${countedFrom} and starts_at < ${recent}
      union
      select ${recent}::timestamptz, 'infinity'
    ) as quarter
    cross join lateral (
      select message_id from events
      where organization_id = ${organizationId} and event_name = 'emailClick' and flow_id = ${flowId}
        and occurred_at >= quarter.starts_at and occurred_at < quarter.ends_at
        and message_id between ${range.from} and ${range.until} and link = ${link} and not machine
      limit ${clicksMax + 1}
    ) as click
    limit ${clicksMax + 1}`
  return rows.length > clicksMax ? undefined : [...new Set(rows.map(({ messageId }) => messageId))]
}
