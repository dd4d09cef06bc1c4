import { join } from 'node:path'
import type { Area, Role, Stop } from './area.ts'
import type { Config } from './config/config.ts'
import { add } from './http/add-routes.ts'
import { isOnThisMachine } from './http/connections-per-network.ts'
import { healthRoutes } from './http/health.routes.ts'
import { isLocalUse, metricsTextOf, registerMetrics } from './http/metrics.ts'
import { findProblems, findWarnings, measureReadiness } from './http/readiness.ts'
import { measureRequests } from './http/request-times.ts'
import { createServer, type Server, type ServerOptions } from './http/server.ts'
import type { Platform } from './platform.ts'
import type { SendingProcesses } from './processes/sending-processes.ts'
import { monitorEventLoop } from './runtime/event-loop.ts'
import { Loop } from './runtime/loop.ts'
import type { StageRegistry } from './runtime/stage-registry.ts'
import { within } from './runtime/within.ts'

/** At the start, the next worker or loop waits this long for the first queries of the one before. */
const firstRunMsMax = 250

/**
 * Connections that wait to be accepted. Node.js accepts one in each turn of the event loop, so a client that opens a thousand
 * at once fills the usual queue of 511, and those of others would be tried again after 1, 3 and 7 seconds.
 */
const connectionsWaitingMax = 4_096

export type ProcessOptions = {
  platform: Platform
  /** From the bottom to the top. */
  areas: readonly Area[]
  processes: SendingProcesses | undefined
  serverOptions: Pick<ServerOptions, 'organizationOf' | 'unknownRouteAnswerOf'>
  /** Prepares the server of a process that serves, and registers all routes, among them the operational ones. */
  mount: (server: Server, addOperatorRoutes: () => Promise<void>) => Promise<void>
  /** What operators should know, for /ready. */
  findWarnings: () => Promise<string[]>
}

export type ServiceProcess = {
  server: Server
  /** What organizations share. */
  stages: StageRegistry
  start(): Promise<void>
  /** Waits for work in progress, then stops. */
  stop(): Promise<void>
}

/** Starts and stops the areas in a process, and serves their routes. */
export async function createProcess(options: ProcessOptions): Promise<ServiceProcess> {
  const { platform, areas, processes } = options
  const { config, log, failures, formats, hints, metrics, publicAddress, roles } = platform
  const [serves, works] = [roles.includes('serve'), roles.includes('work')]
  const metricsText = metricsTextOf(metrics)
  const server = await createMainServer(options, metricsText)
  const { METRICS_PORT: metricsPort, METRICS_HOST: metricsHost } = config
  const metricsServer = metricsPort === undefined ? undefined : createMetricsServer(platform, metricsText)
  const background = areas.flatMap((area) => area.background ?? [])
  const addressCheck = new Loop({
    name: 'look for a new public address',
    everyMs: platform.limits.addressCheckMs,
    run: async () => {
      await publicAddress.refresh()
      processes?.passOnBaseUrl()
    },
    failures,
  })
  const formatCheck = new Loop({
    name: 'look for older processes',
    everyMs: platform.limits.formatCheckMs,
    run: () => formats.check(),
    failures,
  })
  let stopMonitor = () => {}
  let isStopping = false

  const startWorking = async () => {
    processes?.start()
    for (const part of background) {
      if (isStopping) return
      part.start()
      // Each begins with a query. Together, they would open all connections of the pool at once.
      await within(firstRunMsMax, part.firstRun)
    }
  }
  const stopWorking = async () => {
    isStopping = true
    if (works) await Promise.all([processes?.stop(), ...background.map((part) => part.stop())])
  }
  const stopAreas = async (point: keyof Stop) => {
    for (const area of areas.toReversed()) await area.stop?.[point]?.()
  }
  const stopServing = async () => {
    await Promise.all([...areas.map((area) => area.stop?.withRequests?.()), server.close(), metricsServer?.close()])
    await stopAreas('afterRequests')
  }
  return {
    server,
    stages: platform.stageRegistry,
    start: async () => {
      stopMonitor = monitorEventLoop({ log, registry: metrics })
      await hints.start()
      formatCheck.start()
      await formatCheck.firstRun
      if (publicAddress.source !== 'environment') {
        addressCheck.start()
        await addressCheck.firstRun
      }
      for (const area of areas) await area.start?.({ serves, works })
      const port = serves ? config.PORT : config.WORK_PORT
      if (port !== undefined) await server.listen({ port, host: config.HOST, backlog: connectionsWaitingMax })
      if (metricsPort !== undefined) await metricsServer?.listen({ port: metricsPort, host: metricsHost })
      if (works) await startWorking()
    },
    stop: async () => {
      // In parallel, so that emails and deliveries in flight get the full time limit.
      await Promise.all([stopWorking(), stopServing()])
      await addressCheck.stop()
      await formatCheck.stop()
      await stopAreas('last')
      await platform.close()
      stopMonitor()
    },
  }
}

type MetricsText = ReturnType<typeof metricsTextOf>

async function createMainServer(options: ProcessOptions, metricsText: MetricsText): Promise<Server> {
  const { platform, serverOptions } = options
  const { config, limits, log, baseUrl, metrics, roles } = platform
  const server = createServer({
    log,
    baseUrl,
    trustProxy: config.TRUST_PROXY,
    connectionsMax: limits.httpConnectionsMax,
    connectionLimit: {
      perNetworkMax: limits.httpConnectionsPerNetwork,
      isProxy: config.TRUST_PROXY ? () => true : isOnThisMachine,
    },
    ...serverOptions,
  })
  measureRequests(server, metrics)
  const addRoutes = () => addOperatorRoutes(server, options, metricsText)
  await (roles.includes('serve') ? options.mount(server, addRoutes) : addRoutes())
  await server.ready()
  return server
}

function createMetricsServer({ config, log, baseUrl }: Platform, text: MetricsText): Server {
  const server = createServer({ log, baseUrl, trustProxy: false })
  registerMetrics(server, { text, token: config.METRICS_TOKEN, isAllowed: () => true })
  return server
}

/** The operational routes of every process. */
async function addOperatorRoutes(
  server: Server,
  { platform, processes, findWarnings: findMore }: ProcessOptions,
  metricsText: MetricsText,
): Promise<void> {
  const { config, limits, db, metrics, baseUrl, roles } = platform
  const readiness = { db, directories: writtenDirectories(config, roles), freeMibMin: limits.diskFreeMibMin }
  measureReadiness(metrics, readiness)
  registerMetrics(server, {
    text: metricsText,
    token: config.METRICS_TOKEN,
    // WORK_PORT is only for operators.
    isAllowed: roles.includes('serve') ? isLocalUse(baseUrl) : () => true,
  })
  const findAllWarnings = async () => [
    ...(await findWarnings(db)),
    ...(await findMore()),
    ...(processes?.problems ?? []),
  ]
  await add(server, healthRoutes({ findProblems: () => findProblems(readiness), findWarnings: findAllWarnings }))
}

/** The embedded database may be on another disk than DATA_DIR, to which it is linked then. */
const writtenDirectories = ({ DATA_DIR: dataDir, DATABASE_URL: url }: Config, roles: readonly Role[]): string[] => [
  ...(roles.includes('serve') ? [dataDir] : []),
  ...(url === undefined ? [join(dataDir, 'postgres')] : []),
]
