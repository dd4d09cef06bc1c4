import type { Reader } from '../../platform/db/db.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import type { MessageId, OrganizationId } from '../../platform/values/ids.ts'
import { type Engagement, engagementOf } from './engagement.ts'
import { broadcastOf } from './message-out.ts'
import { type MessageEvent, selectEventsOf, selectMessages } from './messages.sql.ts'

/** An email with what happened to it. */
export type MessageCard = {
  engagement: Engagement | null
  broadcast: ReturnType<typeof broadcastOf>
  /** Oldest first. */
  events: MessageEvent[]
}

export async function findMessageCards(
  db: Reader,
  organizationId: OrganizationId,
  ids: readonly MessageId[],
): Promise<Map<MessageId, MessageCard>> {
  if (ids.length === 0) return new Map()
  const messages = await selectMessages(db, organizationId, { ids }, ids.length)
  const events = new Map(groupBy(await selectEventsOf(db, organizationId, messages), ({ messageId }) => messageId))
  return new Map(
    messages.map((message) => [
      message.id,
      { engagement: engagementOf(message), broadcast: broadcastOf(message), events: events.get(message.id) ?? [] },
    ]),
  )
}
