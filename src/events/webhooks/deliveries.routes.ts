import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { organizationIdOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import { attemptOutcomes } from '../../platform/egress/post-outcome.ts'
import { answers, IdParams, Named, Nullable, ok, oneOf, page, pages, Timestamp } from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { pageQuery, readPage, toPage, uuidPart } from '../../platform/http/paging.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { invalid, notFound, Refusal } from '../../platform/values/errors.ts'
import { type WebhookEventName, webhookEventNames } from '../../platform/values/event-types.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import { type DeliveryId, toText } from '../../platform/values/ids.ts'
import { parseTimestamp, timestampProblem } from '../../platform/values/timestamp.ts'
import { bodyOf } from './deliver.job.ts'
import { findDeliveriesToSend } from './deliver.sql.ts'
import {
  type Attempt,
  findDelivery,
  replayDelivery,
  replayFailed,
  selectAttempts,
  selectDeliveries,
} from './deliveries.sql.ts'
import { deliveryStatuses } from './event-deliveries.ts'
import { getWebhook } from './webhooks.ts'

const DeliveryOut = Named('Delivery', {
  id: Type.String(),
  webhook_id: Type.String(),
  event_id: Type.String(),
  event_name: oneOf(...webhookEventNames),
  contact_email: Nullable(
    Type.String({ description: 'The contact of the event. Null for tests, and after the contact was erased.' }),
  ),
  is_test: Type.Boolean({ description: 'Whether this is a test with a sample event.' }),
  status: oneOf(...deliveryStatuses),
  attempt_count: Type.Integer(),
  next_attempt_at: Nullable(Timestamp),
  reason: Nullable(Type.String()),
  created_at: Timestamp,
  delivered_at: Nullable(Timestamp),
})
export const AttemptOut = Named('Attempt', {
  number: Type.Integer(),
  at: Timestamp,
  duration_ms: Type.Integer(),
  status_code: Nullable(Type.Integer()),
  outcome: oneOf(...attemptOutcomes),
  reason: Type.String(),
  response_body: Nullable(Type.String()),
  request_headers: Type.Record(Type.String(), Type.String()),
})
const DetailOut = Named('DeliveryDetails', {
  ...DeliveryOut.properties,
  payload: Nullable(Type.String({ description: 'The exact request body.' })),
  attempts: Type.Array(AttemptOut),
})
const Replayed = Named('Replay', { replayed: Type.Integer() })
const replayBatchMax = 2_000

export function deliveryRoutes({ db, read }: { db: Db; read: BoundedRead }): FastifyPluginAsyncTypebox {
  return async (api) => {
    tagRoutes(api, 'Deliveries')
    api.get('/webhooks/:id/deliveries', {
      config: { permission: 'webhooks:read' },
      schema: {
        operationId: 'listWebhookDeliveries',
        summary: 'List the deliveries of a webhook',
        description: 'Newest first. Deliveries are kept for 30 days (`WEBHOOK_LOG_DAYS`).',
        params: IdParams,
        querystring: Type.Object({
          ...pageQuery,
          status: Type.Optional(oneOf(...deliveryStatuses)),
          event_name: Type.Optional(oneOf(...webhookEventNames)),
        }),
        response: pages(DeliveryOut),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const webhook = await getWebhook(db, organizationId, parseIdParam('whk', request.params.id))
        const { status, event_name: eventName } = request.query
        const { limit, cursor } = readPage(request.query, [uuidPart])
        const filter = {
          status,
          eventName: eventName as WebhookEventName | undefined,
          before: cursor?.[0] as DeliveryId | undefined,
          limit: limit + 1,
        }
        const rows = await read(organizationId, (tx) => selectDeliveries(tx, organizationId, webhook.id, filter))
        const { items, nextCursor } = toPage(rows, limit, ({ id }) => [id])
        return page({ items: items.map(deliveryOut), nextCursor })
      },
    })

    api.get('/deliveries/:id', {
      config: { permission: 'webhooks:read' },
      schema: {
        operationId: 'getDelivery',
        summary: 'Get a delivery',
        description:
          'Includes all attempts. `payload` is the exact body that was signed. `response_body` has at most 16 KiB.',
        params: IdParams,
        response: answers(DetailOut),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const delivery = await findDelivery(db, organizationId, parseIdParam('dlv', request.params.id))
        if (!delivery) throw notFound('delivery')
        const attempts = await selectAttempts(db, organizationId, delivery.id)
        // Not attempted yet: shows the body as it would be sent now.
        const [unsent] =
          delivery.body === null
            ? await findDeliveriesToSend(db, [{ organizationId, id: delivery.id }], ['pending', 'failed'])
            : []
        return ok({
          ...deliveryOut(delivery),
          payload: delivery.body ?? (unsent && bodyOf(unsent)) ?? null,
          attempts: attempts.map((attempt) => attemptOut(attempt, delivery.id, delivery.eventName)),
        })
      },
    })

    api.post('/deliveries/:id/replay', {
      config: { permission: 'webhooks:write' },
      schema: {
        operationId: 'replayDelivery',
        summary: 'Replay a delivery',
        description: 'Sends the same body again, with the same `webhook-id`. It starts with a new series of attempts.',
        errors: { conflict: 'The delivery is already pending, or its webhook was deleted.' },
        params: IdParams,
        response: answers(Replayed),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const delivery = await findDelivery(db, organizationId, parseIdParam('dlv', request.params.id))
        if (!delivery) throw notFound('delivery')
        const replayed = await db.begin((tx) => replayDelivery(tx, organizationId, delivery.id))
        if (!replayed) throw new Refusal('conflict', 'This delivery is already pending, or its webhook was deleted.')
        return ok({ replayed: 1 })
      },
    })

    api.post('/webhooks/:id/replay', {
      config: { permission: 'webhooks:write' },
      schema: {
        operationId: 'replayWebhookDeliveries',
        summary: 'Replay failed deliveries of a webhook',
        description:
          'Replays all deliveries that failed since the given time. `since` is a date or a time in ISO 8601. Deliveries that fail while this runs are not included.',
        params: IdParams,
        body: Type.Object({ since: Type.String() }),
        response: answers(Replayed),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const webhook = await getWebhook(db, organizationId, parseIdParam('whk', request.params.id))
        const since = parseTimestamp(request.body.since)
        if (!since) throw invalid({ path: 'since', problem: timestampProblem })
        // Bounded by the current time and in order of id, so that an endpoint that keeps failing cannot make this
        // endless.
        const range = { since, until: new Date(), limit: replayBatchMax }
        let replayed = 0
        for (let after: DeliveryId | undefined; ; ) {
          const ids = await db.begin((tx) => replayFailed(tx, organizationId, webhook.id, { ...range, after }))
          if (ids.length === 0) break
          replayed += ids.length
          after = ids.at(-1)
        }
        return ok({ replayed })
      },
    })
  }
}

const deliveryOut = outOf(DeliveryOut, { id: 'dlv', webhook_id: 'whk', event_id: 'evt' })

export const attemptOut = (attempt: Attempt, deliveryId: DeliveryId, eventName: WebhookEventName) => ({
  number: attempt.number,
  at: attempt.at.toISOString(),
  duration_ms: attempt.durationMs,
  status_code: attempt.statusCode,
  outcome: attempt.outcome,
  reason: attempt.reason,
  response_body: attempt.responseBody,
  request_headers: {
    'Content-Type': 'application/json',
    'X-Service-Event': eventName,
    'X-Service-Signature': attempt.signature,
    'webhook-id': toText('dlv', deliveryId),
    'webhook-timestamp': String(Math.floor(attempt.at.getTime() / 1000)),
    ...(attempt.standardSignature !== null && { 'webhook-signature': attempt.standardSignature }),
  },
})
