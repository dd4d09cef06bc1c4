import type { Db, Tx } from '../db/db.ts'
import type { OrganizationId, WebhookId } from '../ids.ts'

/** How long the oldest lane of webhook deliveries has been due. */
export async function findLagSeconds(db: Db): Promise<number> {
  const [row] = await db<{ lag: number }>`
    select coalesce(extract(epoch from now() - min(next_due_at)), 0)::float8 as lag
    from lanes
    where kind = 'webhook.deliver' and next_due_at <= now() and not held`
  return row!.lag
}

export type PausedWebhook = { organizationId: OrganizationId; id: WebhookId; name: string; failingSince: Date }

/** Pauses webhooks whose attempts have failed for so long, the last of them after that time. */
export async function pauseFailing(tx: Tx, days: number, reason: string): Promise<PausedWebhook[]> {
  return tx<PausedWebhook>`
    update webhooks
    set status = 'paused', paused_reason = ${reason}, updated_at = now()
    where status = 'active' and failing_since is not null and last_delivery_at >= failing_since + ${days} * interval '1 day'
    returning organization_id, id, name, failing_since`
}
