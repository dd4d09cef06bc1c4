import type { Reader } from '../../platform/db/db.ts'
import { allValues } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { EventData, WebhookEventName } from '../../platform/values/event-types.ts'
import type { ContactId, EventId, FlowId, MessageId, OrganizationId } from '../../platform/values/ids.ts'
import type { Place } from './cursor.ts'

export type FeedRow = {
  position: string
  id: EventId
  eventName: WebhookEventName
  occurredAt: Date
  messageId: MessageId | null
  flowId: FlowId | null
  machine: boolean
  data: EventData
  contactId: ContactId
  contactEmail: string | null
  contactFirstName: string | null
}

const columns = sql`
  feed_position::text as position, id, event_name, occurred_at, message_id, flow_id, machine, data, contact_id,
  contact_email, contact_first_name`

/**
 * For the rest of the transaction, makes PostgreSQL read events in the order of the index: while it has no statistics of
 * recent events, it would read and sort all of them for each page.
 */
export const preferIndexOrder = (db: Reader) => db`select set_config('enable_sort', 'off', true)`

/** Returns events with a position, in order. */
export const selectEvents = (
  db: Reader,
  organizationId: OrganizationId,
  { after, horizon, limit }: { after: Place; horizon: bigint; limit: number },
) =>
  db<FeedRow>`
    select ${columns} from events
    where organization_id = ${organizationId} and feed_position > 0
      and feed_position >= ${after.position}::int8 and feed_position < ${horizon}::int8
      and (feed_position > ${after.position}::int8 or (occurred_at, id) > (${after.occurredAt}, ${after.id}))
    order by feed_position, occurred_at, id
    limit ${limit}`

/** Returns events that were recorded before events had positions, in the order of their ids. */
export const selectEarlyEvents = (
  db: Reader,
  organizationId: OrganizationId,
  { afterId, untilId, limit }: { afterId: EventId; untilId: EventId; limit: number },
) =>
  db<FeedRow>`
    select ${columns} from events
    where organization_id = ${organizationId} and feed_position = 0 and id > ${afterId} and id < ${untilId}
    order by id
    limit ${limit}`

export type Waiting = { organizationId: OrganizationId; position: bigint }

/** Returns the organizations with events at or after the position and before the horizon. */
export const findOrganizationsWithEvents = (db: Reader, waiting: readonly Waiting[], horizon: bigint) =>
  allValues(db<{ id: OrganizationId }>`
    select waiting.organization_id
    from unnest(
      ${waiting.map(({ organizationId }) => organizationId)}::uuid[],
      ${waiting.map(({ position }) => String(position))}::text[]
    ) as waiting (organization_id, position)
    cross join lateral (
      select from events
      where events.organization_id = waiting.organization_id and feed_position > 0
        and feed_position >= waiting.position::int8 and feed_position < ${horizon}::int8
      limit 1
    ) as event`)
