import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { webhookBody } from '../../events/events.ts'
import { answers, Named, ok, oneOf } from '../../platform/http/envelope.ts'
import { EventDataOut } from '../../platform/http/event-data.ts'
import {
  eventTypes,
  hasFlow,
  isOrganizationEventName,
  isSelectedByName,
  type WebhookEventName,
  webhookEventNames,
} from '../../platform/values/event-types.ts'
import type { ContactId, EventId, FlowId, MessageId, OrganizationId } from '../../platform/values/ids.ts'

const EventTypeOut = Named('EventType', {
  event_name: oneOf(...webhookEventNames),
  description: Type.String(),
  in_all_events: Type.Boolean({
    description: 'Whether webhooks with `all_events` receive it. Other types have to be selected by name.',
  }),
  example: Type.Object({
    event_name: oneOf(...webhookEventNames),
    organization_id: Type.String(),
    timestamp: Type.Integer({ description: 'When the event occurred, in seconds since 1970.' }),
    data: EventDataOut,
  }),
})

export function eventTypeRoutes(): FastifyPluginAsyncTypebox {
  const list = webhookEventNames.map((name) => ({
    event_name: name,
    description: eventTypes[name].description,
    in_all_events: !isSelectedByName(name),
    example: exampleOf(name),
  }))
  return async (api) => {
    api.get('/event-types', {
      config: { permission: 'webhooks:read' },
      schema: {
        tags: ['Events'],
        operationId: 'listEventTypes',
        summary: 'List event types',
        description: 'Each with an example of the webhook payload. The same catalog as under Webhook events.',
        response: answers(Type.Array(EventTypeOut)),
      },
      handler: async () => ok(list),
    })
  }
}

const messageId = '01971c5e-6100-7000-8000-000000000003' as MessageId
const flowId = '01971c5e-5e00-7000-8000-000000000004' as FlowId
const contact = { id: '01971c5e-6000-7000-8000-000000000005' as ContactId, email: 'ada@example.com', firstName: 'Ada' }

/** Built by the same function as deliveries, so it cannot differ from them. */
function exampleOf(eventName: WebhookEventName) {
  const { machine = false, ...data } = eventTypes[eventName].example
  const body = webhookBody({
    organizationId: '01971c5e-5d00-7000-8000-000000000001' as OrganizationId,
    id: '01971c5e-6200-7000-8000-000000000002' as EventId,
    eventName,
    occurredAt: new Date('2026-05-29T12:00:00Z'),
    messageId: isSelectedByName(eventName) ? null : messageId,
    flowId: hasFlow(eventName) ? flowId : null,
    machine,
    data,
    contact: isOrganizationEventName(eventName) ? null : contact,
  })
  return JSON.parse(body)
}
