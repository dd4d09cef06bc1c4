import type { Tx } from '../../platform/db/db.ts'
import { onlyValue } from '../../platform/db/rows.ts'

/**
 * Emails that are scheduled for later are kept, and those whose lanes a worker has, because it may be sending them. The jobs of
 * the others are deleted when a worker reads them.
 */
export const failQueuedMessages = (tx: Tx, before: Date, reason: string) =>
  onlyValue(tx<{ count: number }>`
    with failed as (
      update messages set status = 'failed', reason = ${reason}
      from jobs
      where jobs.kind = 'message.send' and (jobs.due_at <= now() or jobs.attempt > 0)
        and messages.organization_id = jobs.organization_id and messages.id = jobs.id
        and messages.status = 'queued' and messages.queued_at < ${before}
        and not exists (
          select from lanes
          where lanes.organization_id = jobs.organization_id and lanes.kind = 'message.send' and lanes.lane = jobs.lane
            and lanes.leased_until >= now())
      returning 1
    )
    select count(*) from failed`)
