import { deleteExpiredApiRequests } from './accounts/api-requests/api-request-log.ts'
import { deleteExpiredCredentials } from './accounts/people/accounts.ts'
import { forgetExpiredChanges } from './audience/imports/undo.ts'
import { removeUnusedObjects } from './content/attachments/bucket-cleanup.ts'
import { removeExpiredContents } from './content/attachments/retention.ts'
import { moveImages } from './content/images/move-images.ts'
import { checkDueDomains } from './delivery/domains/checking.ts'
import { resealDomainKeys } from './delivery/domains/dkim-keys.ts'
import { deleteUnusedLimits } from './delivery/limits/sending-limits.ts'
import { resealMailServers } from './delivery/mail-servers/credentials.ts'
import { tryForgottenServers } from './delivery/mail-servers/states.ts'
import { copyDefaults } from './delivery/receiving-sites/list-sites.ts'
import { deleteOldSites } from './delivery/receiving-sites/receiving-sites.ts'
import { forgetExpiredSignatures } from './engagement/bounces/providers/signatures.ts'
import { maintainPartitions } from './events/recording/partitions.ts'
import {
  pauseDeadEndpoints,
  removeOldDeliveries,
  removeOrphanDeliveries,
  reportFailingEndpoints,
} from './events/webhooks/health.ts'
import { SecretCheck } from './events/webhooks/signing-secrets.ts'
import { recordFailingWebhook, recordPausedWebhook } from './operations/notices/notices.ts'
import { reportHighRates, reportRelayOutage } from './operations/notices/watch.ts'
import { eraseDeletedOrganizations } from './operations/privacy/erase-organization.ts'
import type { Parts } from './parts.ts'
import { Loop } from './platform/runtime/loop.ts'
import { hourMs, minuteMs } from './platform/values/durations.ts'
import { trimInbox } from './sending/inbox/inbox.ts'
import { deleteExpiredKeys } from './sending/messages/idempotency.ts'
import { deleteExpiredAccountEmails, sendAccountEmails } from './sending/system-emails/account-emails.ts'
import { sendNoticeEmails } from './sending/system-emails/notice-emails.ts'

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
  const { config, db, log, failures, relay, servers, carriers, bucketFiles } = parts
  const { bucket } = bucketFiles
  const systemEmails = { db, log, carriers, settings: parts.mail }
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
