import { type Area, loopsOf } from '../platform/area.ts'
import { createSafePost } from '../platform/egress/safe-post.ts'
import type { Platform } from '../platform/platform.ts'
import { Worker } from '../platform/queue/worker.ts'
import { Loop } from '../platform/runtime/loop.ts'
import type { Stage, StageLimits } from '../platform/runtime/stage.ts'
import { SecretBox } from '../platform/secrets/secrets.ts'
import { hourMs, minuteMs } from '../platform/values/durations.ts'
import type { OrganizationId } from '../platform/values/ids.ts'
import { type ExportJobParts, exportJob } from './exports/export.job.ts'
import { eventExportRoutes } from './exports/exports.routes.ts'
import { exportSecrets } from './exports/exports.ts'
import { Storage } from './exports/storage.ts'
import { feedRoutes } from './feed/feed.routes.ts'
import { measureFeedDelay } from './feed/feed-delay.ts'
import { WaitingReaders } from './feed/waiting-readers.ts'
import { checkFeedEpoch } from './recording/feed-positions.ts'
import { maintainPartitions } from './recording/partitions.ts'
import { PendingCounter } from './recording/pending-counts.ts'
import { createEventCounter, EventRecorder } from './recording/record.ts'
import { deliverJob } from './webhooks/deliver.job.ts'
import { deliveryRoutes } from './webhooks/deliveries.routes.ts'
import {
  type HealthParts,
  pauseDeadEndpoints,
  removeOldDeliveries,
  removeOrphanDeliveries,
  reportFailingEndpoints,
} from './webhooks/health.ts'
import { deliveryMetrics } from './webhooks/metrics.ts'
import { retryDelaysOf } from './webhooks/retry-schedules.ts'
import { webhookSecretBox } from './webhooks/signing-secrets.ts'
import { webhookRoutes } from './webhooks/webhooks.routes.ts'

const secondMs = 1_000
/** How often counts that a killed process left are looked for. */
const countEveryMs = 10 * secondMs

/** What areas above provide. */
export type EventsHooks = {
  isPaused: () => boolean
  onWebhookPaused: HealthParts['onPaused']
  onWebhookFailing: HealthParts['onFailing']
  onExportPaused: ExportJobParts['onPaused']
  /** Called when a delivery is given up because of internal errors. */
  onDeliveryGivenUp: (organizationId: OrganizationId) => void
}

export type Events = ReturnType<typeof createEvents>

/** Recording of events. */
export function createEvents({ db, stageRegistry, metrics }: Platform) {
  const counter = createEventCounter(metrics)
  measureFeedDelay(metrics, db)
  return { counter, recorder: new EventRecorder({ db, stages: stageRegistry, counter }) }
}

/** Tests of webhooks and exports: each holds a socket for up to WEBHOOK_TIMEOUT_MS. */
const testLimits = (perOrganization: number): StageLimits => ({
  perOrganization: Math.min(3, perOrganization),
  overall: 30,
  waitingPerOrganization: 5,
  waitMs: 5_000,
})

export function eventsArea(platform: Platform, { recorder }: Events, hooks: EventsHooks): Area {
  const { config, db, log, failures, read, stageRegistry } = platform
  const partitions = { db, log, retentionMonths: config.EVENT_RETENTION_MONTHS }
  const health = {
    db,
    log,
    logDays: config.WEBHOOK_LOG_DAYS,
    onPaused: hooks.onWebhookPaused,
    onFailing: hooks.onWebhookFailing,
  }
  const counts = new PendingCounter(db)
  const counting = new Loop({ name: 'add counts', everyMs: countEveryMs, run: () => counts.run(), failures })
  const waiting = new WaitingReaders(db, failures)
  const testing = stageRegistry.stage('webhook tests', 'peer', testLimits(platform.limits.webhookConcurrency))
  const webhooks = webhooksOf(platform, hooks, testing)
  const exports = exportsOf(platform, hooks, testing)
  const loop = loopsOf(platform)
  return {
    routes: {
      publicApi: [
        feedRoutes({ read: platform.readMetrics, waiting, stageRegistry, streamLimits: platform.limits.eventStreams }),
      ],
      organization: [webhooks.routes, deliveryRoutes({ db, read }), exports.routes],
    },
    background: [
      webhooks.deliverer,
      exports.exporter,
      loop('keep partitions', hourMs, () => maintainPartitions(partitions)),
      loop('report failing endpoints', minuteMs, () => reportFailingEndpoints(health)),
      loop('pause dead endpoints', minuteMs, () => pauseDeadEndpoints(health)),
      loop('remove old deliveries', hourMs, () => removeOldDeliveries(health)),
      loop('remove deliveries of deleted webhooks', minuteMs, () => removeOrphanDeliveries(health)),
    ],
    start: async () => {
      // Before any write, because a partition cannot be created while events of its month are being inserted. If it
      // cannot be created now, for example during a dump, events are stored in the default partition.
      await maintainPartitions(partitions).catch((error) =>
        log.warn({ err: error }, 'Creating partitions failed; retrying later'),
      )
      await checkFeedEpoch(db, log)
      counting.start()
    },
    stop: {
      withRequests: () => waiting.close(),
      afterRequests: () => recorder.drained(),
      last: async () => {
        await counting.stop()
        await counts.run().catch((error) => log.warn({ err: error }, 'Counts are left for the next start'))
        webhooks.close()
        exports.close()
      },
    },
  }
}

function webhooksOf(platform: Platform, { isPaused, onDeliveryGivenUp: onGivenUp }: EventsHooks, tests: Stage) {
  const { config, limits, secrets, db, log, failures, hints, metrics: registry, stageRegistry, egress } = platform
  const box = webhookSecretBox(secrets)
  const safePost = createSafePost({ ...egress, timeoutMs: config.WEBHOOK_TIMEOUT_MS })
  const metrics = deliveryMetrics(registry, db)
  const retryDelays = retryDelaysOf(config.WEBHOOK_RETRY_DELAYS)
  const parts = { db, box, safePost, metrics, retryDelays }
  const spec = deliverJob({ ...parts, stageRegistry, log, laneWidthMax: limits.webhookConcurrency })
  const deliverer = new Worker({ db, log, failures, hints, spec: { ...spec, onGivenUp, isOpen: () => !isPaused() } })
  metrics.watchInFlight(() => deliverer.running)
  return {
    routes: webhookRoutes({
      ...parts,
      read: platform.read,
      allowPrivate: egress.allowPrivate,
      tests,
    }),
    deliverer,
    close: () => safePost.close(),
  }
}

function exportsOf(platform: Platform, { onExportPaused: onPaused }: EventsHooks, tests: Stage) {
  const { limits, secrets, db, log, failures, hints, read, egress } = platform
  const storage = new Storage(egress)
  const box = new SecretBox(secrets, exportSecrets.purpose)
  const spec = exportJob({
    db,
    log,
    read,
    box,
    storage,
    everyMs: limits.eventExportEveryMs,
    slowMs: limits.eventExportSlowMs,
    onPaused,
  })
  return {
    routes: eventExportRoutes({ db, read, box, allowPrivate: egress.allowPrivate, storage, tests }),
    exporter: new Worker({ db, log, failures, hints, spec }),
    close: () => storage.close(),
  }
}
