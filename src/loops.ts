import { deleteExpiredCredentials } from './accounts/accounts.ts'
import { deleteExpiredApiRequests } from './api-requests/api-request-log.ts'
import { checkDueDomains } from './domains/checking.ts'
import { resealDomainKeys } from './domains/dkim-keys.ts'
import { removeUnusedObjects } from './email-contents/bucket-cleanup.ts'
import { removeExpiredContents } from './email-contents/retention.ts'
import { maintainPartitions } from './events/partitions.ts'
import { moveImages } from './images/move-images.ts'
import { forgetExpiredChanges } from './imports/undo.ts'
import { trimInbox } from './inbox/inbox.ts'
import { resealMailServers } from './mail-servers/credentials.ts'
import { tryForgottenServers } from './mail-servers/states.ts'
import { deleteExpiredKeys } from './messages/idempotency.ts'
import { recordFailingWebhook, recordPausedWebhook } from './notices/notices.ts'
import { reportHighRates, reportRelayOutage } from './notices/watch.ts'
import type { Parts } from './parts.ts'
import { eraseDeletedOrganizations } from './privacy/erase-organization.ts'
import { copyDefaults } from './receiving-sites/list-sites.ts'
import { deleteOldSites } from './receiving-sites/receiving-sites.ts'
import { Loop } from './runtime/loop.ts'
import { deleteUnusedLimits } from './sending-limits/sending-limits.ts'
import { deleteExpiredAccountEmails, sendAccountEmails } from './system-emails/account-emails.ts'
import { sendNoticeEmails } from './system-emails/notice-emails.ts'
import { forgetExpiredSignatures } from './tracking/providers/signatures.ts'
import { hourMs, minuteMs } from './values/durations.ts'
import {
  pauseDeadEndpoints,
  removeOldDeliveries,
  removeOrphanDeliveries,
  reportFailingEndpoints,
} from './webhooks/health.ts'
import { SecretCheck } from './webhooks/signing-secrets.ts'

const secondMs = 1_000
const pauseCheckMs = 2 * secondMs
/** Short, because users wait for these emails. */
const accountEmailsEveryMs = 2 * secondMs

export const partitionsOf = ({ config, db, log }: Parts) => ({
  db,
  log,
  retentionMonths: config.EVENT_RETENTION_MONTHS,
})

/** All periodic tasks. */
export function createLoops(parts: Parts): Loop[] {
  const { config, db, log, failures, relay, servers, dkim, policy, bucketFiles } = parts
  const { bucket } = bucketFiles
  const systemEmails = { db, log, servers, dkim, senders: policy, settings: parts.mail }
  const health = {
    db,
    log,
    logDays: config.WEBHOOK_LOG_DAYS,
    onPaused: recordPausedWebhook,
    onFailing: recordFailingWebhook,
  }
  const secretCheck = new SecretCheck(parts)
  const loop = (name: string, everyMs: number, run: () => Promise<void>) => new Loop({ name, everyMs, run, failures })
  return [
    loop('look for a pause of sending', pauseCheckMs, async () => {
      await parts.pause.refresh()
      parts.sendingProcesses?.pauseIfPaused()
    }),
    loop('keep partitions', hourMs, () => maintainPartitions(partitionsOf(parts))),
    loop('report failing endpoints', minuteMs, () => reportFailingEndpoints(health)),
    loop('pause dead endpoints', minuteMs, () => pauseDeadEndpoints(health)),
    loop('report relay outages', minuteMs, () => reportRelayOutage({ db, log, relay })),
    loop('try failing mail servers', minuteMs, () => tryForgottenServers(db, servers)),
    loop('report high rates', 10 * minuteMs, () => reportHighRates({ db, log })),
    loop('send notice emails', minuteMs, async () => {
      if (!parts.pause.isPaused) await sendNoticeEmails(systemEmails)
    }),
    loop('send account emails', accountEmailsEveryMs, () =>
      sendAccountEmails({ ...systemEmails, accountEmails: parts.accountEmails }),
    ),
    loop('delete expired sessions and links', hourMs, async () => {
      await deleteExpiredCredentials(db)
      await deleteExpiredAccountEmails(db.statement)
    }),
    loop('delete expired idempotency keys', hourMs, () => deleteExpiredKeys(db)),
    loop('delete old API requests', hourMs, () => deleteExpiredApiRequests(db)),
    loop('delete expired signatures', hourMs, () => forgetExpiredSignatures(db)),
    loop('delete unused sending limits', hourMs, () => deleteUnusedLimits(db)),
    loop('forget receiving domains', hourMs, () => deleteOldSites(db)),
    loop('copy limits of the operator', minuteMs, () => copyDefaults(db)),
    loop('erase deleted organizations', minuteMs, () => eraseDeletedOrganizations({ db, log, bucket })),
    loop('forget changes of imports', hourMs, () => forgetExpiredChanges(db)),
    loop('remove expired contents of emails', hourMs, () => removeExpiredContents(db)),
    ...(bucket
      ? [
          loop('delete unused objects', minuteMs, () => removeUnusedObjects(db, bucket)),
          loop('move images to the bucket', hourMs, () => moveImages(db, bucketFiles)),
        ]
      : []),
    loop('trim the inbox', hourMs, () => trimInbox(db)),
    loop('check domains', minuteMs, () => checkDueDomains({ ...parts.domains, log })),
    loop('check webhook secrets', 10 * minuteMs, () => secretCheck.run()),
    loop('check domain keys', 10 * minuteMs, async () => {
      if (await parts.isRotating()) await resealDomainKeys(parts.domains)
    }),
    loop('check credentials of mail servers', 10 * minuteMs, async () => {
      if (await parts.isRotating()) await resealMailServers({ db, box: parts.mailServerBox })
    }),
    loop('remove old deliveries', hourMs, () => removeOldDeliveries(health)),
    loop('remove deliveries of deleted webhooks', minuteMs, () => removeOrphanDeliveries(health)),
  ]
}
