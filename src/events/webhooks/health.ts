import { organizationsToVisit } from '../../platform/db/cluster/batches.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { setLanePaused } from '../../platform/queue/queue.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { dayMs } from '../../platform/values/durations.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import { deleteOldDeliveries, deleteOrphanDeliveries } from './deliveries.sql.ts'
import { deliverKind } from './fan-out.ts'
import {
  type FailingWebhook,
  findFailing,
  markFailingReported,
  type PausedWebhook,
  pauseFailing,
} from './health.sql.ts'

const pauseAfterDays = 3
const reason = `Paused automatically: every delivery failed for ${pauseAfterDays} days.`
/** Long enough for the usual retries: an endpoint that restarts is not reported. */
const reportAfterMinutes = 5
const reportEveryHours = 24
const reportBatchMax = 100
const deleteBatchMax = 1_000

export type HealthParts = {
  db: Db
  log: Log
  logDays: number
  /** Notifies the organization, in the transaction that pauses the webhook. */
  onPaused: (tx: Tx, webhook: PausedWebhook) => Promise<void>
  /** Notifies the organization that an endpoint started failing. */
  onFailing: (tx: Tx, webhook: FailingWebhook) => Promise<void>
}

/** Reports endpoints that started failing, once per failing period. */
export async function reportFailingEndpoints({ db, log, onFailing }: Pick<HealthParts, 'db' | 'log' | 'onFailing'>) {
  const after = { minutes: reportAfterMinutes, hours: reportEveryHours }
  const found = await findFailing(db, { ...after, limit: reportBatchMax })
  for (const [organizationId, webhooks] of groupBy(found, (webhook) => webhook.organizationId)) {
    const ids = webhooks.map(({ id }) => id)
    const failing = await db.begin(async (tx) => {
      const marked = await markFailingReported(tx, organizationId, ids, after)
      for (const webhook of marked) await onFailing(tx, webhook)
      return marked
    })
    for (const { id } of failing) log.warn({ webhook: id }, 'A webhook is failing')
  }
}

/** Pauses endpoints that have failed for days. */
export async function pauseDeadEndpoints({ db, log, onPaused }: Pick<HealthParts, 'db' | 'log' | 'onPaused'>) {
  const paused = await db.begin(async (tx) => {
    const webhooks = await pauseFailing(tx, pauseAfterDays, reason)
    for (const webhook of webhooks) {
      await setLanePaused(tx, webhook.organizationId, deliverKind, webhook.id, true)
      await onPaused(tx, webhook)
    }
    return webhooks
  })
  for (const { id } of paused) log.warn({ webhook: id }, 'A webhook was paused after days of failures')
}

/** Deletes deliveries older than the retention period, in batches. */
export async function removeOldDeliveries({ db, logDays }: Pick<HealthParts, 'db' | 'logDays'>, now = Date.now()) {
  const before = new Date(now - logDays * dayMs)
  for (const organizationId of await organizationsToVisit(db))
    while ((await deleteOldDeliveries(db.statement, { before, limit: deleteBatchMax, organizationId })) > 0);
}

/** Deletes the deliveries of deleted webhooks: they may contain personal data that an erasure would not find. */
export async function removeOrphanDeliveries({ db }: Pick<HealthParts, 'db'>): Promise<void> {
  for (const organizationId of await organizationsToVisit(db))
    while ((await deleteOrphanDeliveries(db.statement, { limit: deleteBatchMax, organizationId })) > 0);
}
