import type { Tx } from '../db/db.ts'

/** Emails that are scheduled for later are kept. The jobs of the others are deleted when a worker reads them. */
export async function failQueuedMessages(tx: Tx, before: Date, reason: string): Promise<number> {
  const [row] = await tx<{ count: number }>`
    with failed as (
      update messages set status = 'failed', reason = ${reason}
      from jobs
      where jobs.kind = 'message.send' and (jobs.due_at <= now() or jobs.attempt > 0)
        and messages.organization_id = jobs.organization_id and messages.id = jobs.id
        and messages.status = 'queued' and messages.queued_at < ${before}
      returning 1
    )
    select count(*) from failed`
  return row!.count
}
