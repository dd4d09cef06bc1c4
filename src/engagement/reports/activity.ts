import type { Reader } from '../../platform/db/db.ts'
import { type Page, type PageRequest, timePart, toPage, uuidPart } from '../../platform/http/paging.ts'
import { type EventId, type OrganizationId, timeOfId } from '../../platform/values/ids.ts'
import {
  type ActivityFilter,
  type ActivityRow,
  findEventPosition,
  type Position,
  selectActivity,
} from './activity.sql.ts'

export const activityCursor = [timePart, uuidPart]

export type ActivityQuery = Pick<ActivityFilter, 'eventName' | 'flowId' | 'contactId' | 'machine'> & {
  /** Only events that occurred later than this one. */
  after: EventId | undefined
}

/** Returns a page of events, newest first. */
export async function listActivity(
  db: Reader,
  organizationId: OrganizationId,
  { after, ...filter }: ActivityQuery,
  { limit, cursor }: PageRequest,
): Promise<Page<ActivityRow>> {
  const rows = await selectActivity(db, {
    ...filter,
    organizationId,
    before: cursor && { occurredAt: new Date(cursor[0]!), id: cursor[1] as EventId },
    after: after && (await positionOf(db, organizationId, after)),
    limit,
  })
  return toPage(rows, limit, ({ occurredAt, id }) => [occurredAt.toISOString(), id])
}

/** The id of a deleted event still contains its time. */
const positionOf = async (db: Reader, organizationId: OrganizationId, id: EventId): Promise<Position> =>
  (await findEventPosition(db, organizationId, id)) ?? { occurredAt: new Date(timeOfId(id)), id }
