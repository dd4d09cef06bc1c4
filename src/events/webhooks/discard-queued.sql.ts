import type { Tx } from '../../platform/db/db.ts'
import { onlyValue } from '../../platform/db/rows.ts'

/** The jobs are deleted when a worker reads them. */
export const failQueuedDeliveries = (tx: Tx, before: Date, reason: string) =>
  onlyValue(tx<{ count: number }>`
    with failed as (
      update deliveries set status = 'failed', reason = ${reason}, next_attempt_at = null
      from jobs
      where jobs.kind = 'webhook.deliver'
        and deliveries.organization_id = jobs.organization_id and deliveries.id = jobs.id
        and deliveries.status = 'pending' and deliveries.created_at < ${before}
      returning 1
    )
    select count(*) from failed`)
