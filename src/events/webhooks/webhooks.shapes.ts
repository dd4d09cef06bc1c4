import { Type } from 'typebox'
import { CreatorOut, creatorOut } from '../../accounts/accounts.ts'
import { acknowledgements, type Retryable4xx, retryable4xx } from '../../platform/egress/response-rules.ts'
import { Named, Nullable, oneOf, Timestamp } from '../../platform/http/envelope.ts'
import { etagOf } from '../../platform/http/etag.ts'
import { fieldsIn, outOf } from '../../platform/http/out-of.ts'
import { webhookEventNames } from '../../platform/values/event-types.ts'
import { nameMax } from '../../platform/values/names.ts'
import { type RetrySchedule, retrySchedules, scheduleInWords } from './retry-schedules.ts'
import type { DeliveryStats, Webhook } from './webhooks.sql.ts'

// The shapes of webhooks in requests and responses.

const RetryableStatus = Type.Unsafe<Retryable4xx>({ type: 'integer', enum: retryable4xx })

export const WebhookOut = Named('Webhook', {
  id: Type.String(),
  name: Type.String(),
  url: Type.String(),
  event_types: Type.Array(oneOf(...webhookEventNames)),
  all_events: Type.Boolean(),
  status: oneOf('active', 'paused'),
  paused_reason: Nullable(Type.String()),
  acknowledge: oneOf(...acknowledgements),
  retry_4xx: Type.Array(RetryableStatus),
  retry_schedule: oneOf(...retrySchedules),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_delivery_at: Nullable({
    ...Timestamp,
    description: 'Time of the last acknowledged delivery. Tests do not count.',
  }),
  failing_since: Nullable(Timestamp),
  secret_rotation_ends_at: Nullable(Timestamp),
  created_by: CreatorOut,
  stats_24h: Named(
    'DeliveryStats',
    { delivered: Type.Integer(), failed: Type.Integer(), pending: Type.Integer() },
    { description: 'Deliveries of the last 24 hours, excluding tests.' },
  ),
})
export const WithSecret = Named('WebhookWithSecret', {
  ...WebhookOut.properties,
  signing_secret: Type.String({ description: 'Only returned here.' }),
})

// URLs are validated later, with specific messages.
const fields = {
  name: Type.String({ minLength: 1, maxLength: nameMax }),
  url: Type.String({ maxLength: 5000 }),
  event_types: Type.Optional(Type.Array(oneOf(...webhookEventNames), { maxItems: 100 })),
  all_events: Type.Optional(Type.Boolean()),
  acknowledge: Type.Optional({
    ...oneOf(...acknowledgements),
    description: 'The statuses that acknowledge a delivery: only 200 (default), or any from 200 to 299.',
  }),
  retry_4xx: Type.Optional(
    Type.Array(RetryableStatus, {
      uniqueItems: true,
      maxItems: retryable4xx.length,
      description:
        'The 4xx statuses that are retried. By default none: a 4xx response is final. After a 429 with `Retry-After`, the next attempt waits at least that long, up to an hour.',
    }),
  ),
  retry_schedule: Type.Optional({
    ...oneOf(...retrySchedules),
    description:
      '`standard` (default): retries after 30, 60 and 120 seconds, unless the operator has configured other delays. `extended`: 7 retries over about 28 hours.',
  }),
}
export const RetryScheduleOut = Named('RetrySchedule', {
  name: oneOf(...retrySchedules),
  delays_seconds: Type.Array(Type.Number(), { description: 'Before the second attempt, the third, and so on.' }),
  in_words: Type.String({ description: 'For example "3 times over 3.5 minutes".' }),
})

export const WebhookIn = Type.Object(fields)
export const WebhookChangesIn = Type.Partial(
  Type.Object({ ...fields, status: { ...oneOf('active', 'paused'), description: 'Pauses or resumes the webhook.' } }),
)
export const toInput = fieldsIn(WebhookIn)
export const toChanges = fieldsIn(WebhookChangesIn)

export const tagOf = ({ name, url, eventTypes, allEvents, status, acknowledge, retry4xx, retrySchedule }: Webhook) =>
  etagOf(name, url, eventTypes, allEvents, status, acknowledge, retry4xx, retrySchedule)

export const scheduleOut = (name: RetrySchedule, delays: readonly number[]) => ({
  name,
  delays_seconds: [...delays],
  in_words: scheduleInWords(delays),
})

const noDeliveries = { delivered: 0, failed: 0, pending: 0 }

const toWebhookOut = outOf(
  WebhookOut,
  { id: 'whk' },
  {
    retry_4xx: ({ retry4xx }: Webhook) => [...retry4xx],
    secret_rotation_ends_at: ({ previousSecretUntil }: Webhook) => previousSecretUntil?.toISOString() ?? null,
    created_by: ({ createdBy, createdByEmail }: Webhook) => creatorOut(createdBy, createdByEmail),
  },
)
export const webhookOut = (webhook: Webhook, stats24h: Omit<DeliveryStats, 'webhookId'> = noDeliveries) =>
  toWebhookOut({ ...webhook, stats24h })
