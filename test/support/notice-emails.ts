import { Hints } from '../../src/platform/queue/hints.ts'
import { Worker } from '../../src/platform/queue/worker.ts'
import { noticeEmailJob } from '../../src/sending/system-emails/notice-emails.ts'
import type { SystemEmailParts } from '../../src/sending/system-emails/system-email.job.ts'
import { failureLog } from './failure-log.ts'
import { until } from './until.ts'

/** Sends emails about notices until it is disposed. */
export function startNoticeEmails(parts: SystemEmailParts): AsyncDisposable {
  const { db, log } = parts
  const worker = new Worker({
    ...{ db, log },
    failures: failureLog(log),
    hints: new Hints(db),
    spec: noticeEmailJob(parts),
  })
  worker.start()
  return { [Symbol.asyncDispose]: () => worker.stop() }
}

/** Sends the emails about notices that are due, once. */
export async function sendNoticeEmails(parts: SystemEmailParts): Promise<void> {
  await using _worker = startNoticeEmails(parts)
  await until('the due emails to be sent or postponed', async () => {
    const due = await parts.db`select from jobs where kind = 'notice.email' and due_at <= now()`
    return due.length === 0
  })
}

/** The ids of the emails about notices that are queued. */
export const queuedNoticeEmails = (db: SystemEmailParts['db']) =>
  db<{ id: string }>`select id from jobs where kind = 'notice.email' order by id`
