import { type Sql, sql } from '../db/sql.ts'
import { enqueueNewJobs } from '../queue/queue.ts'

/**
 * CTEs that follow a CTE `recorded (organization_id, id, event_name)`. They create one delivery and one job for each
 * webhook subscribed to the event, in the statement that records the event. Deliveries to a paused webhook are created
 * as failed, so that they can be replayed after it is resumed.
 */
export const fanOut: Sql = sql`
  new_deliveries as (
    insert into deliveries (organization_id, id, webhook_id, event_id, event_name, status, next_attempt_at, reason)
    select recorded.organization_id, delivery_id(recorded.id, webhooks.id), webhooks.id, recorded.id, recorded.event_name,
      case webhooks.status when 'active' then 'pending' else 'failed' end,
      case webhooks.status when 'active' then now() end,
      case webhooks.status when 'active' then null else 'not sent: the webhook was paused' end
    from recorded
    join webhooks on webhooks.organization_id = recorded.organization_id
      and (webhooks.all_events or recorded.event_name = any (webhooks.event_types))
    on conflict do nothing
    returning organization_id, id, webhook_id, status
  ),
  new_jobs as (
    select organization_id, 'webhook.deliver'::text as kind, webhook_id::text as lane, now() as due_at, id,
      null::jsonb as payload
    from new_deliveries
    where status = 'pending'
  ), ${enqueueNewJobs}`
