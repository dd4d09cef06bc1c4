import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { organizationIdOf, targetOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { answers, IdParams, Named, Nullable, ok, oneOf, page, pages, Timestamp } from '../../platform/http/envelope.ts'
import { EventDataOut } from '../../platform/http/event-data.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { pageQuery, readPage } from '../../platform/http/paging.ts'
import { existing, invalid } from '../../platform/values/errors.ts'
import { eventNames, webhookEventNames } from '../../platform/values/event-types.ts'
import { type EventId, parseId, toText } from '../../platform/values/ids.ts'
import { type ActivityRow, findEvent } from './activity.sql.ts'
import { activityCursor, listActivity } from './activity.ts'

export const EventContactOut = Named('EventRecipient', {
  id: Type.String(),
  email: Type.String(),
  first_name: Nullable(Type.String()),
})
const EventOut = Named('Event', {
  id: Type.String(),
  event_name: oneOf(...eventNames),
  occurred_at: Timestamp,
  machine: Type.Boolean({ description: 'Whether the event is automated: made by a scanner or privacy proxy.' }),
  machine_reason: Nullable(Type.String()),
  message_id: Nullable(Type.String()),
  flow_id: Nullable(Type.String()),
  flow_name: Nullable(Type.String()),
  contact: Nullable(EventContactOut),
  data: EventDataOut,
})

export function activityRoutes({ read }: { read: BoundedRead }): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get('/events', {
      config: { permission: 'metrics:read' },
      schema: {
        tags: ['Events'],
        operationId: 'listEvents',
        summary: 'List events',
        description:
          'Newest first. Events are kept as long as `EVENT_RETENTION_MONTHS` says (by default without limit); counts are always kept.',
        querystring: Type.Object({
          event_name: Type.Optional(oneOf(...eventNames)),
          flow_id: Type.Optional(Type.String()),
          contact_id: Type.Optional(Type.String()),
          machine: Type.Optional(Type.Boolean({ description: 'Only automated ones, or only those by people.' })),
          after: Type.Optional(
            Type.String({
              description: 'The id of an event. Only returns events that occurred later, for live lists.',
            }),
          ),
          ...pageQuery,
        }),
        response: pages(EventOut),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const { event_name: eventName, flow_id: flowText, contact_id: contactText, machine, after } = request.query
        const asked = readPage(request.query, activityCursor)
        const query = {
          eventName,
          flowId: flowText ? parseId('flw', flowText) : undefined,
          contactId: contactText ? parseId('con', contactText) : undefined,
          machine,
          after: after ? parseEventId(after) : undefined,
        }
        // A malformed id matches no events.
        if ((flowText && !query.flowId) || (contactText && !query.contactId))
          return page({ items: [], nextCursor: null })
        const { items, nextCursor } = await read(organizationId, (tx) => listActivity(tx, organizationId, query, asked))
        return page({ items: items.map(eventOut), nextCursor })
      },
    })

    api.get('/events/:id', {
      config: { permission: 'metrics:read' },
      schema: {
        tags: ['Events'],
        operationId: 'getEvent',
        summary: 'Get an event',
        description: 'Also returns changes of contacts, which are not listed.',
        params: IdParams,
        response: answers(Named('AnyEvent', { ...EventOut.properties, event_name: oneOf(...webhookEventNames) })),
      },
      handler: async (request) => {
        const [organizationId, id] = targetOf(request, 'evt')
        const event = await read(organizationId, (tx) => existing('event', findEvent(tx, organizationId, id)))
        return ok({ ...eventOut(event as ActivityRow), event_name: event.eventName })
      },
    })
  }
}

function parseEventId(text: string): EventId {
  const id = parseId('evt', text)
  if (!id) throw invalid({ path: 'after', problem: 'must be the id of an event, such as evt_…' })
  return id
}

type ContactRow = Pick<ActivityRow, 'contactId' | 'email' | 'firstName'>

/** Null if the contact was erased. */
export const eventContactOut = ({ contactId, email, firstName }: ContactRow) =>
  email === null ? null : { id: toText('con', contactId), email, first_name: firstName }

const eventOut = outOf(
  EventOut,
  { id: 'evt', message_id: 'msg', flow_id: 'flw' },
  { contact: eventContactOut, data: ({ data }: ActivityRow) => data as Record<string, unknown> },
)
