import { lockOrganization } from '../../platform/db/cluster/lock-organization.ts'
import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { allValues, first, hasRows } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { ResponseRules } from '../../platform/egress/response-rules.ts'
import { userOf } from '../../platform/values/actor.ts'
import type { WebhookEventName } from '../../platform/values/event-types.ts'
import type { OrganizationId, UserId, WebhookId } from '../../platform/values/ids.ts'
import type { RetrySchedule } from './retry-schedules.ts'

export type Webhook = ResponseRules & {
  organizationId: OrganizationId
  id: WebhookId
  name: string
  url: string
  allEvents: boolean
  eventTypes: WebhookEventName[]
  status: 'active' | 'paused'
  pausedReason: string | null
  retrySchedule: RetrySchedule
  previousSecretUntil: Date | null
  createdAt: Date
  updatedAt: Date
  /** The time of the last acknowledged delivery. */
  lastDeliveryAt: Date | null
  failingSince: Date | null
  createdBy: UserId | null
  /** Null if the creator is no longer a member. */
  createdByEmail: string | null
}

const columns = sql`organization_id, id, name, url, all_events, event_types, status, paused_reason, acknowledge,
  retry_4xx, retry_schedule, previous_secret_until, created_at, updated_at, last_delivery_at, failing_since, created_by,
  (select email from users where users.id = webhooks.created_by and users.organization_id = webhooks.organization_id)
    as created_by_email`

export const selectWebhooks = (db: Reader, organizationId: OrganizationId) =>
  db<Webhook>`select ${columns} from webhooks where organization_id = ${organizationId} order by id desc`

export const findWebhook = (db: Reader, organizationId: OrganizationId, id: WebhookId) =>
  first(db<Webhook>`select ${columns} from webhooks where organization_id = ${organizationId} and id = ${id}`)

/** Locks the webhook until the end of the transaction, so that concurrent changes are serialized. */
export const lockWebhook = (tx: Tx, organizationId: OrganizationId, id: WebhookId) =>
  first(
    tx<Webhook>`select ${columns} from webhooks where organization_id = ${organizationId} and id = ${id} for no key update`,
  )

/** Locks the organization until the end of the transaction, so that the limit also applies to concurrent requests. */
export async function countWebhooks(tx: Tx, organizationId: OrganizationId): Promise<number> {
  await lockOrganization(tx, organizationId)
  const [row] = await tx<{ count: number }>`select count(*) from webhooks where organization_id = ${organizationId}`
  return row!.count
}

export type NewWebhook = Pick<
  Webhook,
  'organizationId' | 'id' | 'name' | 'url' | 'allEvents' | 'eventTypes' | keyof ResponseRules | 'retrySchedule'
> & { secret: Buffer }

export async function insertWebhook(tx: Tx, webhook: NewWebhook): Promise<Webhook> {
  tx.send`
    insert into webhooks (organization_id, id, name, url, all_events, event_types, acknowledge, retry_4xx, retry_schedule,
      secret, created_by)
    values (${webhook.organizationId}, ${webhook.id}, ${webhook.name}, ${webhook.url}, ${webhook.allEvents},
      ${webhook.eventTypes}, ${webhook.acknowledge}, ${webhook.retry4xx}::int[], ${webhook.retrySchedule},
      ${webhook.secret}, ${userOf(tx.actor)})`
  const [row] = await tx<Webhook>`
    select ${columns} from webhooks where organization_id = ${webhook.organizationId} and id = ${webhook.id}`
  return row!
}

export const updateWebhook = (tx: Tx, webhook: Omit<NewWebhook, 'secret'> & Pick<Webhook, 'status'>) =>
  first(
    tx<Webhook>`
    update webhooks
    set name = ${webhook.name}, url = ${webhook.url}, all_events = ${webhook.allEvents}, event_types = ${webhook.eventTypes},
      acknowledge = ${webhook.acknowledge}, retry_4xx = ${webhook.retry4xx}::int[], retry_schedule = ${webhook.retrySchedule},
      -- Resuming resets the failure state.
      failing_since = case when status = 'paused' and ${webhook.status} = 'active' then null else failing_since end,
      paused_reason = case when ${webhook.status} = 'paused' then paused_reason end,
      status = ${webhook.status}, updated_at = now()
    where organization_id = ${webhook.organizationId} and id = ${webhook.id}
    returning ${columns}`,
  )

/** Returns the webhooks that were paused. */
export const pauseActiveWebhooksOf = (tx: Tx, organizationId: OrganizationId, userId: UserId) =>
  allValues(tx<{ id: WebhookId }>`
    update webhooks
    set status = 'paused', paused_reason = 'The person who created it was removed from the team.', updated_at = now()
    where organization_id = ${organizationId} and created_by = ${userId} and status = 'active'
    returning id`)

/** Returns false if the webhook does not exist. */
export const deleteWebhookRow = (tx: Tx, organizationId: OrganizationId, id: WebhookId) =>
  hasRows(tx`delete from webhooks where organization_id = ${organizationId} and id = ${id} returning id`)

/** The previous secret stays valid for `overlapHours`. */
export const rotateSecret = (
  db: Writer,
  key: { organizationId: OrganizationId; id: WebhookId },
  secret: Buffer,
  overlapHours: number,
) =>
  first(
    db<Webhook>`
    update webhooks
    set previous_secret = case when ${overlapHours}::float8 > 0 then secret end,
      previous_secret_until = now() + nullif(${overlapHours}::float8, 0) * interval '1 hour',
      secret = ${secret}, updated_at = now()
    where organization_id = ${key.organizationId} and id = ${key.id}
    returning ${columns}`,
  )

export type DeliveryStats = { webhookId: WebhookId; delivered: number; failed: number; pending: number }

/** Only this many deliveries are counted per webhook. */
const statsDeliveriesMax = 2_000

/** Counts the deliveries of the last 24 hours by status, without tests, among the newest of each webhook. */
export const selectDeliveryStats = (db: Reader, organizationId: OrganizationId, ids: WebhookId[]) =>
  db<DeliveryStats>`
    select webhook.id as webhook_id,
      count(*) filter (where recent.status = 'delivered') as delivered,
      count(*) filter (where recent.status = 'failed') as failed,
      count(*) filter (where recent.status = 'pending') as pending
    from unnest(${ids}::uuid[]) as webhook (id)
    left join lateral (
      select status, created_at, is_test from deliveries
      -- The range and the order make the planner use the index on webhooks. Walking down the log of the organization
      -- could read all of it for a webhook with few deliveries.
      where organization_id = ${organizationId} and webhook_id between webhook.id and webhook.id
      order by webhook_id desc, deliveries.id desc
      -- Limited before filtering by time: a webhook without deliveries today may have a long log.
      limit ${statsDeliveriesMax}
    ) recent on recent.created_at > now() - interval '24 hours' and not recent.is_test
    group by webhook.id`
