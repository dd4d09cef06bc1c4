import { type FastifyPluginAsyncTypebox, type Static, Type } from '@fastify/type-provider-typebox'
import { memberOf } from '../accounts/guards.ts'
import type { Db } from '../db/db.ts'
import { Nullable, oneOf, page, pages, Timestamp } from '../http/envelope.ts'
import { pageQuery, readPage, timePart, toPage, uuidPart } from '../http/paging.ts'
import { type EventId, toText } from '../ids.ts'
import { contactIdOf } from './contacts.routes.ts'
import { getContact } from './contacts.ts'
import { selectTimeline, type TimelineEntry } from './timeline.sql.ts'

const TimelineOut = Type.Object({
  at: Timestamp,
  kind: oneOf('message', 'event'),
  event_name: Nullable(Type.String()),
  event_id: Nullable(Type.String()),
  message_id: Nullable(Type.String()),
  flow_id: Nullable(Type.String()),
  flow_name: Nullable(Type.String()),
  subject: Nullable(Type.String()),
  status: Nullable(Type.String()),
  machine: Type.Boolean(),
  detail: Nullable(Type.String({ description: 'The clicked link, the reason of a bounce, the way of unsubscribing.' })),
})

export function timelineRoutes({ db }: { db: Db }): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get(
      '/contacts/:id/timeline',
      {
        schema: {
          tags: ['Contacts'],
          summary: 'What happened with a contact, newest first',
          params: Type.Object({ id: Type.String() }),
          querystring: Type.Object(pageQuery),
          response: pages(TimelineOut),
        },
      },
      async (request) => {
        const { organizationId } = memberOf(request)
        const id = contactIdOf(request.params.id)
        const { limit, cursor } = readPage(request.query, [timePart, uuidPart])
        await getContact(db, organizationId, id)
        const before = cursor && { at: new Date(cursor[0]!), id: cursor[1]! }
        const rows = await selectTimeline(db, organizationId, id, { limit, before })
        const { items, nextCursor } = toPage(rows, limit, (row) => [row.place.toISOString(), row.id])
        return page({ items: items.map(timelineOut), nextCursor })
      },
    )
  }
}

const timelineOut = (entry: TimelineEntry): Static<typeof TimelineOut> => ({
  at: entry.at.toISOString(),
  kind: entry.kind,
  event_name: entry.eventName,
  event_id: entry.kind === 'event' ? toText('evt', entry.id as EventId) : null,
  message_id: entry.messageId && toText('msg', entry.messageId),
  flow_id: entry.flowId && toText('flw', entry.flowId),
  flow_name: entry.flowName,
  subject: entry.subject,
  status: entry.status,
  machine: entry.machine,
  detail: entry.detail,
})
