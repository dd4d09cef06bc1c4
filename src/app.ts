import { organizationOf } from './accounts/people/guards.ts'
import { bulkActionWorker } from './audience/bulk-actions/bulk-action.job.ts'
import { importWorker } from './audience/imports/import.job.ts'
import { readImportTask, type SliceInput } from './audience/imports/import.task.ts'
import { undoWorker } from './audience/imports/undo.job.ts'
import { broadcastsOfMessages } from './broadcasts/sending/broadcast.job.ts'
import { stepWorker } from './broadcasts/sending/step.job.ts'
import { measureRelay } from './delivery/mail-servers/relay-report.ts'
import type { BounceListener } from './engagement/bounces/bounce-listener.ts'
import { isReturnAddress, processIncomingBounce } from './engagement/bounces/incoming-bounce.ts'
import { exportJob } from './events/exports/export.job.ts'
import { checkFeedEpoch } from './events/recording/feed-positions.ts'
import { maintainPartitions } from './events/recording/partitions.ts'
import { PendingCounter } from './events/recording/pending-counts.ts'
import { deliverJob } from './events/webhooks/deliver.job.ts'
import { createLoops, partitionsOf } from './loops.ts'
import { measureLastBackup } from './operations/backup/last-backup.ts'
import { describeApi } from './operations/documentation/api-document.ts'
import { recordFinishedImport, recordPausedExport } from './operations/notices/notices.ts'
import { eraseInTransaction, forgetContacts } from './operations/privacy/erase-contact.ts'
import { measurePause } from './operations/sending-status/sending-pause.ts'
import { createParts, type Parts, type PartsOptions, type Role } from './parts.ts'
import { bounceTlsOf } from './platform/config/setting-files.ts'
import type { Replica } from './platform/db/replica.ts'
import { registerMetrics } from './platform/http/metrics.ts'
import { measureRequests } from './platform/http/request-times.ts'
import { createServer, type Server } from './platform/http/server.ts'
import { Worker } from './platform/queue/worker.ts'
import type { WorkerSpec } from './platform/queue/worker-spec.ts'
import { monitorEventLoop } from './platform/runtime/event-loop.ts'
import { Loop } from './platform/runtime/loop.ts'
import { measure } from './platform/runtime/measure.ts'
import type { StageRegistry } from './platform/runtime/stage-registry.ts'
import { within } from './platform/runtime/within.ts'
import type { OrganizationId } from './platform/values/ids.ts'
import { registerOperatorRoutes, registerRoutes } from './routes.ts'
import { sendJob } from './sending/messages/send.job.ts'
import { answerUnsupported, isForResend } from './sending/resend/errors.ts'
import { listenForSubmission, type SubmissionListener } from './sending/submission/submission.ts'
import { attemptPartsOf, broadcastPartsOf, createBroadcaster, inFlightMaxOf } from './sending-parts.ts'

const secondMs = 1_000
/** How often counts that a killed process left are looked for. */
const countEveryMs = 10 * secondMs
/** At the start, the next worker or loop waits this long for the first queries of the one before. */
const firstRunMsMax = 250

export type AppOptions = PartsOptions & {
  roles: readonly Role[]
  /** For `documentOf`. */
  describesApi?: boolean
}

export type App = {
  server: Server
  /** The port of the bounce listener after `start`, or undefined if it is disabled. */
  bouncePort(): number | undefined
  /** What organizations share. */
  stages: StageRegistry
  /** The ports for submission after `start`, if they are enabled. */
  submissionPorts(): Pick<SubmissionListener, 'port' | 'tlsPort'>
  start(): Promise<void>
  /** Waits for work in progress, then stops. */
  stop(): Promise<void>
}

/** Builds all parts and connects them. Workers that are not listed here, and loops that are not in `loops.ts`, do not run. */
export async function createApp({ roles, describesApi = false, ...options }: AppOptions): Promise<App> {
  const { config, log } = options
  const parts = createParts(options)
  const { failures } = parts
  const server = createServer({
    log,
    baseUrl: parts.baseUrl,
    trustProxy: config.TRUST_PROXY,
    connectionsMax: parts.limits.httpConnectionsMax,
    organizationOf,
    unknownRouteAnswerOf: (request) => (isForResend(request) ? answerUnsupported : undefined),
  })
  measureRequests(server, parts.metrics)
  if (parts.replica) noteWrites(server, parts.replica)
  if (describesApi) await describeApi(server)
  await (roles.includes('serve') ? registerRoutes(server, parts, roles) : registerOperatorRoutes(server, parts, roles))
  await server.ready()
  if (roles.includes('work')) measurePause(parts.pause, parts.metrics)
  if (roles.includes('work')) measureMailServers(parts)
  measureLastBackup(parts.metrics, parts.db)
  const { METRICS_PORT: metricsPort, METRICS_HOST: metricsHost } = config
  const metricsServer = metricsPort === undefined ? undefined : createMetricsServer(parts)
  const { workers, stop: stopWorkers } = createWorkers(parts)
  const loops = createLoops(parts)
  let stopMonitor = () => {}
  let bounces: BounceListener | undefined
  let submission: SubmissionListener | undefined
  const counts = new PendingCounter(parts.db)
  const counting = new Loop({ name: 'add counts', everyMs: countEveryMs, run: () => counts.run(), failures })
  const { publicAddress } = parts
  const addressCheck = new Loop({
    name: 'look for a new public address',
    everyMs: parts.limits.addressCheckMs,
    run: async () => {
      await publicAddress.refresh()
      parts.sendingProcesses?.passOnBaseUrl()
    },
    failures,
  })
  const replaying = new Loop({ name: 'replay hits', everyMs: secondMs, run: () => parts.hits.replay(), failures })

  let stopping = false
  const startWorking = async () => {
    parts.sendingProcesses?.start()
    for (const part of [...workers, ...loops]) {
      if (stopping) return
      part.start()
      // Each begins with a query. Together, they would open all connections of the pool at once.
      await within(firstRunMsMax, part.firstRun)
    }
  }
  const stopWorking = async () => {
    stopping = true
    if (!roles.includes('work')) return
    await Promise.all([stopWorkers(), parts.sendingProcesses?.stop(), ...loops.map((loop) => loop.stop())])
  }
  const stopServing = async () => {
    parts.feedReaders.close()
    await Promise.all([server.close(), metricsServer?.close(), bounces?.close(), submission?.close()])
    parts.keys.stop()
    await parts.apiRequests.stop()
    await parts.replica?.stop()
    await replaying.stop()
    await parts.hits.close()
    await parts.events.drained()
  }

  return {
    server,
    stages: parts.stageRegistry,
    bouncePort: () => bounces?.port,
    submissionPorts: () => ({ port: submission?.port, tlsPort: submission?.tlsPort }),
    start: async () => {
      stopMonitor = monitorEventLoop({ log, registry: parts.metrics })
      await parts.hints.start()
      // Before any write, because a partition cannot be created while events of its month are being inserted. If it
      // cannot be created now, for example during a dump, events are stored in the default partition.
      await maintainPartitions(partitionsOf(parts)).catch((error) =>
        log.warn({ err: error }, 'Creating partitions failed; retrying later'),
      )
      await checkFeedEpoch(parts.db, log)
      counting.start()
      await parts.pause.refresh()
      if (publicAddress.source !== 'environment') {
        addressCheck.start()
        await addressCheck.firstRun
      }
      if (roles.includes('serve')) {
        bounces = await listenForBounces(parts)
        submission = await listenForSubmission(parts)
        parts.keys.start()
        parts.replica?.start()
        await parts.hits.checkSpool()
        replaying.start()
      }
      const port = roles.includes('serve') ? config.PORT : config.WORK_PORT
      if (port !== undefined) await server.listen({ port, host: config.HOST })
      if (metricsPort !== undefined) await metricsServer?.listen({ port: metricsPort, host: metricsHost })
      if (roles.includes('work')) await startWorking()
    },
    stop: async () => {
      // In parallel, so that emails and deliveries in flight get the full time limit.
      await Promise.all([stopWorking(), stopServing()])
      await Promise.all([counting.stop(), addressCheck.stop()])
      await counts.run().catch((error) => log.warn({ err: error }, 'Counts are left for the next start'))
      parts.tasks.stop()
      parts.safePost.close()
      parts.storage.close()
      parts.linkChecker.close()
      parts.connector.close()
      await parts.servers.close()
      await parts.hints.stop()
      stopMonitor()
    },
  }
}

function measureMailServers({ relay, servers, metrics }: Parts): void {
  if (relay) measureRelay(relay, metrics)
  const help = 'Mail servers of organizations that do not accept email, as far as this process uses them.'
  measure(metrics, 'waxwing_mail_servers_failing', help, () => servers.down)
}

function createMetricsServer({ config, log, metricsText, baseUrl }: Parts): Server {
  const server = createServer({ log, baseUrl, trustProxy: false })
  registerMetrics(server, { text: metricsText, token: config.METRICS_TOKEN, isAllowed: () => true })
  return server
}

/** After a request that may have written, its organization reads from the primary until the replica has caught up. */
function noteWrites(server: Server, replica: Replica): void {
  server.addHook('onSend', async (request) => {
    const organizationId = request.method === 'GET' ? undefined : organizationOf(request)
    if (organizationId) replica.noteWrite(organizationId)
  })
}

/** All workers of the queue. */
function createWorkers(parts: Parts) {
  const { db, log, failures, hints, templates, work, pause } = parts
  const worker = <Work>(spec: WorkerSpec<Work>) => new Worker({ db, log, failures, hints, spec })
  const inFlightMax = inFlightMaxOf(parts)
  const broadcasts = broadcastsOfMessages(db)
  const sending = sendJob({
    ...attemptPartsOf(parts),
    db,
    stageRegistry: parts.stageRegistry,
    templates,
    inFlightMax,
    broadcasts,
  })
  const isPaused = () => pause.isPaused
  const delivering = deliverJob({
    db,
    stageRegistry: parts.stageRegistry,
    log,
    box: parts.box,
    safePost: parts.safePost,
    metrics: parts.deliveryMetrics,
    retryDelays: parts.retryDelays,
    laneWidthMax: parts.limits.webhookConcurrency,
  })
  const sender = worker(unlessPaused(parts, sending))
  const deliverer = worker(unlessPaused(parts, delivering))
  const readSlice = (organizationId: OrganizationId, input: SliceInput) =>
    parts.tasks.run(readImportTask, { organizationId, input, whenFull: 'wait' })
  const importer = worker(importWorker({ db, log, readSlice, onFinished: recordFinishedImport }))
  const bulkActions = worker(bulkActionWorker({ db, work, erase: eraseInTransaction }))
  const undoer = worker(undoWorker({ db, work, forgetContacts }))
  const exporter = worker(
    exportJob({
      db,
      log,
      read: parts.read,
      box: parts.exportBox,
      storage: parts.storage,
      everyMs: parts.limits.eventExportEveryMs,
      slowMs: parts.limits.eventExportSlowMs,
      onPaused: recordPausedExport,
    }),
  )
  parts.deliveryMetrics.watchInFlight(() => deliverer.running)
  let isStopping = false
  const steps = worker(stepWorker({ ...broadcastPartsOf(parts, isPaused), work, isStopping: () => isStopping }))
  const broadcaster = parts.sendingProcesses ? [] : [createBroadcaster(parts, isPaused)]
  const workers = [sender, deliverer, importer, bulkActions, undoer, exporter, ...broadcaster, steps]
  return {
    workers,
    stop: async () => {
      isStopping = true
      await Promise.all(workers.map((each) => each.stop()))
    },
  }
}

/** While sending is paused, jobs stay queued. */
const unlessPaused = <Work>({ pause }: Parts, spec: WorkerSpec<Work>): WorkerSpec<Work> => ({
  ...spec,
  isOpen: () => !pause.isPaused && (spec.isOpen?.() ?? true),
})

async function listenForBounces(parts: Parts): Promise<BounceListener | undefined> {
  const { config, db, tokens, senders, events, tasks, log } = parts
  const { BOUNCE_SMTP_PORT: port, BOUNCE_DOMAIN: bounceDomain } = config
  if (port === undefined || !bounceDomain) return undefined
  const tls = bounceTlsOf(config)
  const { startBounceListener } = await import('./engagement/bounces/bounce-listener.ts')
  return startBounceListener({
    host: config.BOUNCE_SMTP_HOST,
    port,
    domain: bounceDomain,
    verify: (address) => isReturnAddress({ tokens, senders, bounceDomain }, address),
    onEmail: (mail) =>
      processIncomingBounce({ db, tokens, events, tasks, log, onSoftBounce: parts.onSoftBounce }, mail),
    ...(tls && { tls }),
    log,
  })
}
