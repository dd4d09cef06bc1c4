import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { version } from '../config/package-root.ts'
import { kept } from '../runtime/cache.ts'
import { Refusal } from '../values/errors.ts'
import type { Server } from './server.ts'

/** Writing the metrics takes milliseconds of the main thread, so requests within this time share one text. */
const textKeptMs = 1_000

/** How often the delay of the event loop is sampled. Each sample wakes an idle process. Blocks are counted without it. */
const loopDelayEveryMs = 250

/** Gauges with the name of a counter. `nodejs_active_resources` and the like have the same values by type. */
const misnamedGauges = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/** Creates the Prometheus registry with the default metrics. */
export function createMetrics(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: loopDelayEveryMs })
  for (const name of misnamedGauges) registry.removeSingleMetric(name)
  new Gauge({
    name: 'waxwing_build_info',
    help: 'Always 1; the label is the version of Waxwing.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version }, 1)
  return registry
}

export type MetricsText = { contentType: string; read: () => Promise<string> }

export const metricsTextOf = (registry: Registry): MetricsText => ({
  contentType: registry.contentType,
  read: kept(textKeptMs, async () => withoutMissing(await registry.metrics())),
})

/** The delay of the event loop has no value until it was sampled. */
const withoutMissing = (text: string) => text.replace(/^.* Nan$\n/gim, '')

type MetricsOptions = {
  text: MetricsText
  /** METRICS_TOKEN. If it is set, every request needs it. */
  token: string | undefined
  /** Decides if no token is set. */
  isAllowed: (request: FastifyRequest) => boolean
}

export function registerMetrics(server: Server, { text, token, isAllowed }: MetricsOptions): void {
  const onRequest: onRequestHookHandler = (request, _reply, done) => {
    if (token === undefined && !isAllowed(request))
      done(new Refusal('not_found', 'Metrics are not served on this port. Set METRICS_PORT or METRICS_TOKEN.'))
    else if (token !== undefined && !sendsToken(request, token))
      done(new Refusal('unauthorized', 'Send METRICS_TOKEN in the header: Authorization: Bearer TOKEN.'))
    else done()
  }
  server.get('/metrics', {
    config: { permission: 'public' },
    schema: { hide: true },
    onRequest,
    handler: async (_request, reply) => reply.type(text.contentType).send(await text.read()),
  })
}

function sendsToken({ headers }: FastifyRequest, token: string): boolean {
  const [sent, expected] = [Buffer.from(headers.authorization ?? ''), Buffer.from(`Bearer ${token}`)]
  return sent.length === expected.length && timingSafeEqual(sent, expected)
}

const isLoopback = (address = '') => /^(127\.|::1$|::ffff:127\.)/.test(address)
const forwardingHeaders = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via']

/**
 * Returns true for a request from this machine to a service that only this machine uses. If its address is public, requests
 * from this machine can come from a proxy on it, which not always says so.
 */
export const isLocalUse =
  (baseUrl: () => string) =>
  ({ headers, socket }: FastifyRequest): boolean =>
    /^(localhost|.*\.localhost|127\..*|\[::1\])$/.test(new URL(baseUrl()).hostname) &&
    isLoopback(socket.remoteAddress) &&
    !forwardingHeaders.some((name) => name in headers)
