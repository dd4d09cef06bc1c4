import type { Reader } from '../../platform/db/db.ts'
import { timeOfId } from '../../platform/values/ids.ts'
import { findMessageCards } from '../../sending/sending.ts'
import {
  findActorNames,
  selectCreation,
  selectEvents,
  selectHistory,
  selectMemberships,
  selectMessages,
  type TimelineCard,
  type TimelineEntry,
  type TimelinePage,
} from './timeline.sql.ts'

const blank: Omit<TimelineEntry, 'kind' | 'id' | 'sortedAt' | 'at'> = {
  eventName: null,
  messageId: null,
  flowId: null,
  flowName: null,
  subject: null,
  status: null,
  machine: false,
  detail: null,
  evidence: null,
  change: null,
  isSubscribed: null,
  fields: null,
  reasons: null,
  groupId: null,
  groupName: null,
  actorType: null,
  actorId: null,
  actorName: null,
  actorIp: null,
}

/** Returns messages, events and changes, newest first. */
export async function listTimeline(db: Reader, page: TimelinePage): Promise<TimelineCard[]> {
  const [messages, events, changes, memberships, creation] = await Promise.all([
    selectMessages(db, page),
    selectEvents(db, page),
    selectHistory(db, page),
    selectMemberships(db, page),
    selectCreation(db, page),
  ])
  const entries: TimelineEntry[] = [
    ...messages.map((row) => {
      const messageId = row.id as TimelineEntry['messageId']
      return { ...blank, ...row, kind: 'message' as const, messageId, sortedAt: new Date(timeOfId(row.id)) }
    }),
    ...events.map((row) => ({
      ...blank,
      ...row,
      kind: 'event' as const,
      sortedAt: row.at,
      actorType: actorTypeOf(row),
    })),
    ...changes.map((row) => ({ ...blank, ...row, kind: 'change' as const, sortedAt: row.at })),
    ...memberships.map((row) => ({ ...blank, ...row, kind: 'change' as const, change: 'group_added' as const })),
    ...creation.map((row) => ({ ...blank, ...row, kind: 'change' as const, change: 'created' as const })),
  ]
  const newest = entries.sort(newestFirst).slice(0, page.limit)
  const actorIds = newest.flatMap(({ actorId }) => actorId ?? [])
  const names = actorIds.length === 0 ? new Map() : await findActorNames(db, page.organizationId, actorIds)
  const messageIds = page.byMessage
    ? newest.flatMap(({ kind, messageId }) => (kind === 'message' ? messageId! : []))
    : []
  const cards = await findMessageCards(db, page.organizationId, messageIds)
  return newest.map((entry) => ({
    ...entry,
    actorName: names.get(entry.actorId) ?? null,
    card: (entry.kind === 'message' && cards.get(entry.messageId!)) || null,
  }))
}

/** Recipients that unsubscribe themselves are not in the history. */
function actorTypeOf({ actorType, eventName, detail }: Pick<TimelineEntry, 'actorType' | 'eventName' | 'detail'>) {
  if (actorType || eventName !== 'contactUnsubscribe') return actorType
  return detail === 'one_click' || detail === 'page' ? 'recipient' : null
}

const newestFirst = (a: TimelineEntry, b: TimelineEntry) => +b.sortedAt - +a.sortedAt || (a.id < b.id ? 1 : -1)
