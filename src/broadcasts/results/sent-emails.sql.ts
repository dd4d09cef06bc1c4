import { type Sql, sql } from '../../platform/db/sql.ts'
import { leastId, type MessageId } from '../../platform/values/ids.ts'
import type { Broadcast } from '../broadcasts.sql.ts'

export type SentBroadcast = Pick<Broadcast, 'organizationId' | 'id' | 'flowId' | 'startedAt' | 'finishedAt'>

/** Emails may be sent again for some time after the end, if failed recipients are tried again. */
const marginMs = 60_000

/** The events of a broadcast that started then are not older than this. */
export const eventsFrom = (startedAt: Date) => new Date(startedAt.getTime() - marginMs)

/** Returns the range of the ids of its messages, which contain their time, or undefined if it has not started. */
export function idRangeOf({ startedAt, finishedAt }: SentBroadcast): { from: MessageId; until: MessageId } | undefined {
  if (!startedAt) return undefined
  const until = leastId('msg', (finishedAt?.getTime() ?? Date.now()) + marginMs)
  return { from: leastId('msg', startedAt.getTime() - marginMs), until }
}

/** A condition on `events`: human clicks on the email of `recipient`, a row of the ledger. */
export const clicksOf = ({ organizationId }: Pick<Broadcast, 'organizationId'>, from: Date): Sql => sql`
  events.organization_id = ${organizationId} and events.contact_id = recipient.contact_id
  and events.occurred_at >= ${from} and events.id >= ${leastId('evt', from.getTime())}
  and events.message_id = recipient.message_id and not events.machine and events.link is not null
  -- Written so that no index on event_name can be used, as in events/recording/bursts.sql.ts.
  and (events.event_name = 'emailClick') is true`
