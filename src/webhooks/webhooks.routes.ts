import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { organizationIdOf, userIdOf } from '../accounts/guards.ts'
import { CreatorOut, creatorOut } from '../accounts/shapes.ts'
import type { BoundedRead } from '../db/bounded-read.ts'
import type { Reader } from '../db/db.ts'
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
  Timestamp,
} from '../http/envelope.ts'
import { checkIfMatch, editedSince, etagOf } from '../http/etag.ts'
import { outOf } from '../http/out-of.ts'
import { tagRoutes } from '../http/tags.ts'
import type { NamedShares } from '../runtime/shares.ts'
import { type WebhookEventName, webhookEventNames } from '../values/event-types.ts'
import { parseIdParam } from '../values/id-params.ts'
import { toText } from '../values/ids.ts'
import { nameMax } from '../values/names.ts'
import { AttemptOut, attemptOut } from './deliveries.routes.ts'
import { type Acknowledgement, acknowledgements, type Retryable4xx, retryable4xx } from './response-rules.ts'
import { type RetryDelays, type RetrySchedule, retrySchedules, scheduleInWords } from './retry-schedules.ts'
import { sendTestEvent, type TestParts } from './test-event.ts'
import { type DeliveryStats, selectDeliveryStats, selectWebhooks } from './webhooks.sql.ts'
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

const WebhookOut = Named('Webhook', {
  id: Type.String(),
  name: Type.String(),
  url: Type.String(),
  event_types: Type.Array(oneOf(...webhookEventNames)),
  all_events: Type.Boolean(),
  status: oneOf('active', 'paused'),
  paused_reason: Nullable(Type.String()),
  acknowledge: oneOf(...acknowledgements),
  retry_4xx: Type.Array(Type.Unsafe<Retryable4xx>({ type: 'integer', enum: retryable4xx })),
  retry_schedule: oneOf(...retrySchedules),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_delivery_at: Nullable(
    Type.String({ format: 'date-time', description: 'Time of the last acknowledged delivery. Tests do not count.' }),
  ),
  failing_since: Nullable(Timestamp),
  secret_rotation_ends_at: Nullable(Timestamp),
  created_by: CreatorOut,
  stats_24h: Named(
    'DeliveryStats',
    { delivered: Type.Integer(), failed: Type.Integer(), pending: Type.Integer() },
    { description: 'Deliveries of the last 24 hours, excluding tests.' },
  ),
})
const WithSecret = Named('WebhookWithSecret', {
  ...WebhookOut.properties,
  signing_secret: Type.String({ description: 'Only returned here.' }),
})

const RetryScheduleName = Type.Unsafe<RetrySchedule>({
  type: 'string',
  enum: retrySchedules,
  description:
    '`standard` (default): retries after 30, 60 and 120 seconds, unless the operator has configured other delays. `extended`: 7 retries over about 28 hours.',
})

// URLs are validated later, with specific messages.
const fields = {
  name: Type.String({ minLength: 1, maxLength: nameMax }),
  url: Type.String({ maxLength: 5000 }),
  event_types: Type.Optional(Type.Array(oneOf(...webhookEventNames), { maxItems: 100 })),
  all_events: Type.Optional(Type.Boolean()),
  acknowledge: Type.Optional(
    Type.Unsafe<Acknowledgement>({
      type: 'string',
      enum: acknowledgements,
      description: 'The statuses that acknowledge a delivery: only 200 (default), or any from 200 to 299.',
    }),
  ),
  retry_4xx: Type.Optional(
    Type.Array(Type.Unsafe<Retryable4xx>({ type: 'integer', enum: retryable4xx }), {
      uniqueItems: true,
      maxItems: retryable4xx.length,
      description:
        'The 4xx statuses that are retried. By default none: a 4xx response is final. After a 429 with `Retry-After`, the next attempt waits at least that long, up to an hour.',
    }),
  ),
  retry_schedule: Type.Optional(RetryScheduleName),
}
const RetryScheduleOut = Named('RetrySchedule', {
  name: oneOf(...retrySchedules),
  delays_seconds: Type.Array(Type.Number(), { description: 'Before the second attempt, the third, and so on.' }),
  in_words: Type.String({ description: 'For example "3 times over 3.5 minutes".' }),
})

export type WebhookRouteParts = WebhookParts &
  TestParts & { read: BoundedRead; shares: Pick<NamedShares, 'webhookTests'>; retryDelays: RetryDelays }

export function webhookRoutes(parts: WebhookRouteParts): FastifyPluginAsyncTypebox {
  const { db, read } = parts
  const withStats = async (db: Reader, webhooks: Webhook[]) => {
    const [first] = webhooks
    const stats = first
      ? await selectDeliveryStats(
          db,
          first.organizationId,
          webhooks.map(({ id }) => id),
        )
      : []
    const byId = new Map(stats.map((each) => [each.webhookId, each]))
    return webhooks.map((webhook) => webhookOut(webhook, byId.get(webhook.id)))
  }

  return async (api) => {
    tagRoutes(api, 'Webhooks')
    api.get('/webhooks', {
      schema: {
        operationId: 'listWebhooks',
        summary: 'List webhooks',
        description: 'All webhooks, in one response. Signing secrets are never included.',
        response: answers(Type.Array(WebhookOut)),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        return ok(await read(organizationId, async (tx) => withStats(tx, await selectWebhooks(tx, organizationId))))
      },
    })

    api.post('/webhooks', {
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
        body: Type.Object(fields),
        response: creates(WithSecret),
      },
      handler: async (request, reply) => {
        const {
          name,
          url,
          event_types: eventTypes,
          all_events: allEvents,
          acknowledge,
          retry_4xx: retry4xx,
          retry_schedule: retrySchedule,
        } = request.body
        const { webhook, secret } = await createWebhook(parts, creatorOf(request), {
          name,
          url,
          eventTypes,
          allEvents,
          acknowledge,
          retry4xx,
          retrySchedule,
        })
        return reply.status(201).send(created({ ...webhookOut(webhook), signing_secret: secret }))
      },
    })

    api.get('/webhooks/retry-schedules', {
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
        reply.header('etag', tagOf(webhook))
        return ok((await withStats(db, [webhook]))[0]!)
      },
    })

    api.patch('/webhooks/:id', {
      schema: {
        operationId: 'updateWebhook',
        summary: 'Update a webhook',
        description:
          'Set `status` to pause or resume the webhook. Omitted fields keep their value. A paused webhook collects deliveries and sends them when it is resumed.',
        errors: {
          precondition_failed: editedSince,
        },
        params: IdParams,
        body: Type.Partial(
          Type.Object({
            ...fields,
            status: { ...oneOf('active', 'paused'), description: 'Pauses or resumes the webhook.' },
          }),
        ),
        response: answers(WebhookOut),
      },
      handler: async (request, reply) => {
        const {
          name,
          url,
          event_types: eventTypes,
          all_events: allEvents,
          status,
          acknowledge,
          retry_4xx: retry4xx,
          retry_schedule: retrySchedule,
        } = request.body
        const changes = {
          ...(name === undefined ? {} : { name }),
          ...(url === undefined ? {} : { url }),
          eventTypes,
          allEvents,
          acknowledge,
          retry4xx,
          retrySchedule,
          status,
          checkUnchanged: checkIfMatch(request, tagOf),
        }
        const webhook = await changeWebhook(
          parts,
          organizationIdOf(request),
          parseIdParam('whk', request.params.id),
          changes,
        )
        reply.header('etag', tagOf(webhook))
        return ok((await withStats(db, [webhook]))[0]!)
      },
    })

    api.delete('/webhooks/:id', {
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
        const organizationId = organizationIdOf(request)
        const { webhook, secret } = await rotateWebhookSecret(
          parts,
          organizationId,
          parseIdParam('whk', request.params.id),
          request.body?.overlap_hours,
        )
        return ok({ ...webhookOut(webhook), signing_secret: secret })
      },
    })

    api.post('/webhooks/:id/test', {
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
        const { deliveryId, attempt } = await parts.shares.webhookTests.run(organizationId, () =>
          sendTestEvent(parts, organizationId, webhookId, eventName),
        )
        return ok({
          delivery_id: toText('dlv', deliveryId),
          attempt: attemptOut(attempt, deliveryId, eventName),
        })
      },
    })
  }
}

const tagOf = ({ name, url, eventTypes, allEvents, status, acknowledge, retry4xx, retrySchedule }: Webhook) =>
  etagOf(name, url, eventTypes, allEvents, status, acknowledge, retry4xx, retrySchedule)

function creatorOf(request: FastifyRequest) {
  const organizationId = organizationIdOf(request)
  const userId = userIdOf(request)
  return { organizationId, userId }
}

const scheduleOut = (name: RetrySchedule, delays: readonly number[]) => ({
  name,
  delays_seconds: [...delays],
  in_words: scheduleInWords(delays),
})

const noDeliveries = { delivered: 0, failed: 0, pending: 0 }

const withStats = outOf(
  WebhookOut,
  { id: 'whk' },
  {
    retry_4xx: ({ retry4xx }: Webhook) => [...retry4xx],
    secret_rotation_ends_at: ({ previousSecretUntil }: Webhook) => previousSecretUntil?.toISOString() ?? null,
    created_by: ({ createdBy, createdByEmail }: Webhook) => creatorOut(createdBy, createdByEmail),
  },
)
const webhookOut = (webhook: Webhook, stats24h: Omit<DeliveryStats, 'webhookId'> = noDeliveries) =>
  withStats({ ...webhook, stats24h })
