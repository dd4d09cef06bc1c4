import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { targetOf } from '../../accounts/accounts.ts'
import { actorIdText, actorTypes, changes, getContact } from '../../audience/audience.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import { IdParams, Named, Nullable, oneOf, page, pages, Timestamp } from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { pageQuery, readPage, timePart, toPage, uuidPart } from '../../platform/http/paging.ts'
import { type EventId, toText } from '../../platform/values/ids.ts'
import { EventOut, engagements, eventOut } from '../../sending/sending.ts'
import type { TimelineCard } from './timeline.sql.ts'
import { listTimeline } from './timeline.ts'

const TimelineOut = Named('TimelineEntry', {
  at: Timestamp,
  kind: oneOf('message', 'event', 'change'),
  event_name: Nullable(Type.String()),
  event_id: Nullable(Type.String()),
  message_id: Nullable(Type.String()),
  flow_id: Nullable(Type.String()),
  flow_name: Nullable(Type.String()),
  subject: Nullable(Type.String()),
  status: Nullable(Type.String()),
  machine: Type.Boolean(),
  detail: Nullable(Type.String({ description: 'The clicked link, the bounce reason or the unsubscribe method.' })),
  evidence: Nullable(
    Type.String({ description: 'The line of the SMTP reply or bounce email that determined the classification.' }),
  ),
  engagement: Nullable({
    ...oneOf(...engagements),
    description: 'How far the email of a message got. Only with `by_message`.',
  }),
  broadcast: Nullable(
    Type.Object(
      { id: Type.String(), name: Type.String() },
      { description: 'The broadcast of a message. Only with `by_message`.' },
    ),
  ),
  events: Type.Array(EventOut, {
    description: 'The events of a message, oldest first, at most 200. Empty without `by_message`.',
  }),
  change: Nullable(oneOf(...changes)),
  subscribed: Nullable(
    Type.Boolean({ description: 'Whether the contact was subscribed when it was created. Null for other changes.' }),
  ),
  fields: Nullable(Type.Array(Type.String(), { description: 'The fields that an edit changed.' })),
  reasons: Nullable(Type.Array(Type.String(), { description: 'The reasons of a suppression.' })),
  group: Nullable(
    Type.Object({ id: Type.String(), name: Nullable(Type.String({ description: 'Null if the group was deleted.' })) }),
  ),
  actor: Nullable(
    Type.Object(
      {
        type: oneOf(...actorTypes),
        id: Nullable(Type.String()),
        name: Nullable(
          Type.String({ description: 'The email of a user, the name of an API key, the file of an import.' }),
        ),
        ip: Nullable(
          Type.String({ description: 'The address of the client. Only kept if the organization stores addresses.' }),
        ),
      },
      { description: 'Who made the change or unsubscribed the contact. Null if unknown.' },
    ),
  ),
})

export function timelineRoutes({ db, read }: { db: Db; read: BoundedRead }): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get('/contacts/:id/timeline', {
      config: { permission: 'contacts:read' },
      schema: {
        tags: ['Contacts'],
        operationId: 'getContactTimeline',
        summary: 'List the timeline of a contact',
        description:
          'Messages, events and changes, newest first. `kind` is `message`, `event` or `change`; fields of other kinds are null.',
        params: IdParams,
        querystring: Type.Object({
          ...pageQuery,
          by_message: Type.Optional(
            Type.Boolean({
              description:
                'With true, there is one entry for each email: its events are in `events`, not entries of their own. Unsubscriptions are both. Defaults to false.',
            }),
          ),
        }),
        response: pages(TimelineOut),
      },
      handler: async (request) => {
        const [organizationId, id] = targetOf(request, 'con')
        const { limit, cursor } = readPage(request.query, [timePart, uuidPart])
        await getContact(db, organizationId, id)
        const before = cursor && { at: new Date(cursor[0]!), id: cursor[1]! }
        // One more than the limit, to know whether there are others.
        const byMessage = request.query.by_message ?? false
        const wanted = { organizationId, contactId: id, limit: limit + 1, before, byMessage }
        const rows = await read(organizationId, (tx) => listTimeline(tx, wanted))
        const { items, nextCursor } = toPage(rows, limit, (row) => [row.sortedAt.toISOString(), row.id])
        return page({ items: items.map(timelineOut), nextCursor })
      },
    })
  }
}

const timelineOut = outOf(
  TimelineOut,
  { message_id: 'msg', flow_id: 'flw' },
  {
    engagement: ({ card }: TimelineCard) => card?.engagement ?? null,
    broadcast: ({ card }: TimelineCard) => card?.broadcast ?? null,
    events: ({ card }: TimelineCard) => (card?.events ?? []).map(eventOut),
    event_id: ({ kind, id }: TimelineCard) => (kind === 'event' ? toText('evt', id as EventId) : null),
    subscribed: ({ isSubscribed }: TimelineCard) => isSubscribed,
    group: ({ groupId, groupName }: TimelineCard) => groupId && { id: toText('grp', groupId), name: groupName },
    actor: ({ actorType: type, actorId, actorName, actorIp }: TimelineCard) =>
      type && { type, id: actorIdText(type, actorId), name: actorName, ip: actorIp },
  },
)
