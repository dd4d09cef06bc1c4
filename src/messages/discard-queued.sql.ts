import type { Tx } from '../db/db.ts'
import { onlyValue } from '../db/rows.ts'

/** Emails that are scheduled for later are kept. The jobs of the others are deleted when a worker reads them. */
export const failQueuedMessages = (tx: Tx, before: Date, reason: string) =>
  onlyValue(tx<{ count: number }>`
    with failed as (
      update messages set status = 'failed', reason = ${reason}
      from jobs
      where jobs.kind = 'message.send' and (jobs.due_at <= now() or jobs.attempt > 0)
        and messages.organization_id = jobs.organization_id and messages.id = jobs.id
        and messages.status = 'queued' and messages.queued_at < ${before}
      returning 1
    )
    select count(*) from failed`)
