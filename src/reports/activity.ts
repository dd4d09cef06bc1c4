import type { Reader } from '../db/db.ts'
import { timeOfId } from '../events/id-time.ts'
import { type Page, readPage, timePart, toPage, uuidPart } from '../http/paging.ts'
import { invalid } from '../values/errors.ts'
import type { EventName } from '../values/event-types.ts'
import { type EventId, type OrganizationId, parseId } from '../values/ids.ts'
import { type ActivityRow, findEventPosition, type Position, selectActivity } from './activity.sql.ts'

export type ActivityQuery = {
  event_name?: EventName
  flow_id?: string
  contact_id?: string
  machine?: 'true' | 'false'
  after?: string
  cursor?: string
  limit?: string
}

/** Returns a page of events, newest first. */
export async function listActivity(
  db: Reader,
  organizationId: OrganizationId,
  query: ActivityQuery,
): Promise<Page<ActivityRow>> {
  const { limit, cursor } = readPage(query, [timePart, uuidPart])
  const after = query.after ? await readAfter(db, organizationId, query.after) : undefined
  const flowId = query.flow_id ? parseId('flw', query.flow_id) : undefined
  const contactId = query.contact_id ? parseId('con', query.contact_id) : undefined
  // An invalid id matches no events.
  if ((query.flow_id && !flowId) || (query.contact_id && !contactId)) return { items: [], nextCursor: null }
  const rows = await selectActivity(db, {
    organizationId,
    eventName: query.event_name,
    flowId,
    contactId,
    machine: query.machine === undefined ? undefined : query.machine === 'true',
    before: cursor && { occurredAt: new Date(cursor[0]!), id: cursor[1] as EventId },
    after,
    limit,
  })
  return toPage(rows, limit, ({ occurredAt, id }) => [occurredAt.toISOString(), id])
}

async function readAfter(db: Reader, organizationId: OrganizationId, text: string): Promise<Position> {
  const id = parseId('evt', text)
  if (!id) throw invalid({ path: 'after', problem: 'must be the id of an event, such as evt_…' })
  // The id of a deleted event still contains its time.
  return (await findEventPosition(db, organizationId, id)) ?? { occurredAt: new Date(timeOfId(id)), id }
}
