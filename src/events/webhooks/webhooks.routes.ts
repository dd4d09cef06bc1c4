import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { callerOf, organizationIdOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Reader } from '../../platform/db/db.ts'
import {
  answers,
  created,
  creates,
  IdParams,
  Named,
  Nothing,
  Nullable,
  ok,
  oneOf,
} from '../../platform/http/envelope.ts'
import { checkIfMatch, editedSince } from '../../platform/http/etag.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import type { Stage } from '../../platform/runtime/stage.ts'
import { type WebhookEventName, webhookEventNames } from '../../platform/values/event-types.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import { type OrganizationId, toText } from '../../platform/values/ids.ts'
import { AttemptOut, attemptOut } from './deliveries.routes.ts'
import { type RetryDelays, retrySchedules } from './retry-schedules.ts'
import { sendTestEvent, type TestParts } from './test-event.ts'
import {
  RetryScheduleOut,
  scheduleOut,
  tagOf,
  toChanges,
  toInput,
  WebhookChangesIn,
  WebhookIn,
  WebhookOut,
  WithSecret,
  webhookOut,
} from './webhooks.shapes.ts'
import { selectDeliveryStats, selectWebhooks } from './webhooks.sql.ts'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  getWebhook,
  overlapHoursMax,
  rotateWebhookSecret,
  type Webhook,
  type WebhookParts,
} from './webhooks.ts'

export type WebhookRouteParts = WebhookParts & TestParts & { read: BoundedRead; tests: Stage; retryDelays: RetryDelays }

export function webhookRoutes(parts: WebhookRouteParts): FastifyPluginAsyncTypebox {
  const { db, read } = parts
  const listOut = async (db: Reader, organizationId: OrganizationId, webhooks: Webhook[]) => {
    const ids = webhooks.map(({ id }) => id)
    const stats = await selectDeliveryStats(db, organizationId, ids)
    const byId = new Map(stats.map((each) => [each.webhookId, each]))
    return webhooks.map((webhook) => webhookOut(webhook, byId.get(webhook.id)))
  }
  const answer = async (reply: FastifyReply, webhook: Webhook) => {
    reply.header('etag', tagOf(webhook))
    const [data] = await listOut(db, webhook.organizationId, [webhook])
    return ok(data!)
  }

  return async (api) => {
    tagRoutes(api, 'Webhooks')
    api.get('/webhooks', {
      config: { permission: 'webhooks:read' },
      schema: {
        operationId: 'listWebhooks',
        summary: 'List webhooks',
        description: 'All webhooks, in one response. Signing secrets are never included.',
        response: answers(Type.Array(WebhookOut)),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        return read(organizationId, async (tx) =>
          ok(await listOut(tx, organizationId, await selectWebhooks(tx, organizationId))),
        )
      },
    })

    api.post('/webhooks', {
      config: { permission: 'webhooks:write' },
      schema: {
        operationId: 'createWebhook',
        summary: 'Create a webhook',
        description: `The \`signing_secret\` is only returned in this response.

Send either \`event_types\` or \`all_events: true\`: all email events and unsubscribes, including types that are added later. Contact changes and broadcast events are selected by name. An organization can have 50 webhooks.

The URL must be https and must not contain credentials or name a private, loopback or link-local address. This is checked again at each delivery, for the address that the name resolves to.`,
        errors: {
          conflict: 'The organization already has 50 webhooks.',
          validation_failed: 'The URL, the name or the list of events is invalid.',
        },
        body: WebhookIn,
        response: creates(WithSecret),
      },
      handler: async (request, reply) => {
        const organizationId = organizationIdOf(request)
        const { webhook, secret } = await createWebhook(parts, organizationId, callerOf(request), toInput(request.body))
        return reply.status(201).send(created({ ...webhookOut(webhook), signing_secret: secret }))
      },
    })

    api.get('/webhooks/retry-schedules', {
      config: { permission: 'webhooks:read' },
      schema: {
        operationId: 'listRetrySchedules',
        summary: 'List retry schedules',
        description:
          'A delivery is retried after these delays unless it is acknowledged with 200 or rejected with a 4xx status.',
        response: answers(Type.Array(RetryScheduleOut)),
      },
      handler: async () => ok(retrySchedules.map((name) => scheduleOut(name, parts.retryDelays[name]))),
    })

    api.get('/webhooks/:id', {
      config: { permission: 'webhooks:read' },
      schema: {
        operationId: 'getWebhook',
        summary: 'Get a webhook',
        description:
          '`failing_since` is the time of the first of the latest failures in a row. A webhook that fails for three days is paused, and the owners are notified.',
        params: IdParams,
        response: answers(WebhookOut),
      },
      handler: async (request, reply) => {
        const webhook = await getWebhook(db, organizationIdOf(request), parseIdParam('whk', request.params.id))
        return answer(reply, webhook)
      },
    })

    api.patch('/webhooks/:id', {
      config: { permission: 'webhooks:write' },
      schema: {
        operationId: 'updateWebhook',
        summary: 'Update a webhook',
        description:
          'Set `status` to pause or resume the webhook. Omitted fields keep their value. A paused webhook collects deliveries and sends them when it is resumed.',
        errors: { precondition_failed: editedSince },
        params: IdParams,
        body: WebhookChangesIn,
        response: answers(WebhookOut),
      },
      handler: async (request, reply) => {
        const id = parseIdParam('whk', request.params.id)
        const changes = { ...toChanges(request.body), checkUnchanged: checkIfMatch(request, tagOf) }
        const webhook = await changeWebhook(parts, organizationIdOf(request), id, changes)
        return answer(reply, webhook)
      },
    })

    api.delete('/webhooks/:id', {
      config: { permission: 'webhooks:write' },
      schema: {
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook',
        description: 'Pending deliveries are dropped, and the delivery log is deleted. This cannot be undone.',
        params: IdParams,
        response: answers(Nothing),
      },
      handler: async (request) => {
        await deleteWebhook(parts, organizationIdOf(request), parseIdParam('whk', request.params.id))
        return ok(null, 'Webhook deleted')
      },
    })

    api.post('/webhooks/:id/rotate-secret', {
      config: { permission: 'webhooks:write' },
      schema: {
        operationId: 'rotateWebhookSecret',
        summary: 'Rotate the signing secret',
        description:
          'Returns a new `signing_secret`. Deliveries are signed with both secrets for `overlap_hours` (default 24; 0 drops the previous secret immediately). During the overlap, `X-Service-Signature` has one `v1` for each secret, so that a receiver can switch without losing deliveries. The overlap is at most 720 hours.',
        params: IdParams,
        body: Type.Optional(
          Nullable(
            Type.Object({
              overlap_hours: Type.Optional(Type.Number({ minimum: 0, maximum: overlapHoursMax, default: 24 })),
            }),
          ),
        ),
        response: answers(WithSecret),
      },
      handler: async (request) => {
        const id = parseIdParam('whk', request.params.id)
        const overlapHours = request.body?.overlap_hours
        const { webhook, secret } = await rotateWebhookSecret(parts, organizationIdOf(request), id, overlapHours)
        return ok({ ...webhookOut(webhook), signing_secret: secret })
      },
    })

    api.post('/webhooks/:id/test', {
      config: { permission: 'webhooks:write' },
      schema: {
        operationId: 'testWebhook',
        summary: 'Send a test event',
        description:
          'Sends a sample event and returns the attempt. The sample event has `"test": true` in its `data`. It is sent once, without retries, and appears in the delivery log. The response arrives when the endpoint has answered, within 10 seconds.',
        errors: {
          conflict: 'The signing secret cannot be decrypted. Rotate it.',
          rate_limited: 'Too many requests, or too many tests of the organization are in progress.',
        },
        params: IdParams,
        body: Type.Object({ event_name: oneOf(...webhookEventNames) }),
        response: answers(Named('WebhookTest', { delivery_id: Type.String(), attempt: AttemptOut })),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const webhookId = parseIdParam('whk', request.params.id)
        const eventName = request.body.event_name as WebhookEventName
        const { deliveryId, attempt } = await parts.tests.run(organizationId, () =>
          sendTestEvent(parts, organizationId, webhookId, eventName),
        )
        return ok({ delivery_id: toText('dlv', deliveryId), attempt: attemptOut(attempt, deliveryId, eventName) })
      },
    })
  }
}
