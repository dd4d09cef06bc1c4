import type { Tx } from '../db/db.ts'
import type { OrganizationId, WebhookId } from '../values/ids.ts'
import type { RetrySchedule } from './retry-schedules.ts'

export type PausedWebhook = { organizationId: OrganizationId; id: WebhookId; name: string; failingSince: Date }

export type FailingWebhook = PausedWebhook & { retrySchedule: RetrySchedule; lastReason: string | null }

/**
 * Marks webhooks that have been failing for `minutes` as reported and returns them, at most `limit`. Each failing period is
 * reported once, and an endpoint that keeps recovering and failing at most once in `hours`.
 */
export async function markFailingReported(
  tx: Tx,
  { minutes, hours, limit }: { minutes: number; hours: number; limit: number },
): Promise<FailingWebhook[]> {
  return tx<FailingWebhook>`
    with failing as (
      select organization_id, id from webhooks
      where status = 'active' and failing_since <= now() - ${minutes} * interval '1 minute'
        and (failing_notified_at is null
          or (failing_notified_at < failing_since and failing_notified_at < now() - ${hours} * interval '1 hour'))
      order by failing_since
      limit ${limit}
      for no key update skip locked
    )
    update webhooks
    set failing_notified_at = now()
    from failing
    where webhooks.organization_id = failing.organization_id and webhooks.id = failing.id
    returning webhooks.organization_id, webhooks.id, name, failing_since, retry_schedule, (
      select reason from deliveries
      where deliveries.organization_id = webhooks.organization_id
        and deliveries.webhook_id between webhooks.id and webhooks.id and attempt_count > 0 and not is_test
      order by webhook_id desc, deliveries.id desc
      limit 1) as last_reason`
}

/** Pauses webhooks whose attempts have failed for `days`, including one after that time, and returns them. */
export async function pauseFailing(tx: Tx, days: number, reason: string): Promise<PausedWebhook[]> {
  return tx<PausedWebhook>`
    update webhooks
    set status = 'paused', paused_reason = ${reason}, updated_at = now()
    where status = 'active' and failing_since is not null and last_attempt_at >= failing_since + ${days} * interval '1 day'
    returning organization_id, id, name, failing_since`
}
