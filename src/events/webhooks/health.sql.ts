import type { Reader, Tx } from '../../platform/db/db.ts'
import { type Sql, sql } from '../../platform/db/sql.ts'
import type { OrganizationId, WebhookId } from '../../platform/values/ids.ts'
import type { RetrySchedule } from './retry-schedules.ts'

export type PausedWebhook = { organizationId: OrganizationId; id: WebhookId; name: string; failingSince: Date }

export type FailingWebhook = PausedWebhook & { retrySchedule: RetrySchedule; lastReason: string | null }

export type ReportAfter = { minutes: number; hours: number }

/** Each failing period is reported once, after `minutes`, and each endpoint at most once in `hours`. */
const isUnreported = ({ minutes, hours }: ReportAfter): Sql => sql`
  status = 'active' and failing_since <= now() - ${minutes} * interval '1 minute'
  and (failing_notified_at is null
    or (failing_notified_at < failing_since and failing_notified_at < now() - ${hours} * interval '1 hour'))`

/** Returns the webhooks of all organizations whose failure should be reported, at most `limit`. */
export const findFailing = (db: Reader, { limit, ...after }: ReportAfter & { limit: number }) =>
  db<{ organizationId: OrganizationId; id: WebhookId }>`
    select organization_id, id from webhooks
    where ${isUnreported(after)}
    order by failing_since
    limit ${limit}`

/** Marks webhooks of one organization as reported, and returns those that no other process has marked. */
export const markFailingReported = (
  tx: Tx,
  organizationId: OrganizationId,
  ids: readonly WebhookId[],
  after: ReportAfter,
) =>
  tx<FailingWebhook>`
    update webhooks
    set failing_notified_at = now()
    where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and ${isUnreported(after)}
    returning webhooks.organization_id, webhooks.id, name, failing_since, retry_schedule, (
      select reason from deliveries
      where deliveries.organization_id = ${organizationId}
        and deliveries.webhook_id between webhooks.id and webhooks.id and attempt_count > 0 and not is_test
      order by webhook_id desc, deliveries.id desc
      limit 1) as last_reason`

/** Pauses webhooks whose attempts have failed for `days`, including one after that time, and returns them. */
export const pauseFailing = (tx: Tx, days: number, reason: string) =>
  tx<PausedWebhook>`
    update webhooks
    set status = 'paused', paused_reason = ${reason}, updated_at = now()
    where status = 'active' and failing_since is not null and last_attempt_at - failing_since >= ${days} * interval '1 day'
    returning organization_id, id, name, failing_since`
