import { readFileSync } from 'node:fs'
import { rootCertificates } from 'node:tls'
import { apiKeyRoutes, tokenCheckRoutes } from './accounts/api-keys.routes.ts'
import { authRoutes, meRoutes } from './accounts/auth.routes.ts'
import { requireApiKey, requireMember } from './accounts/guards.ts'
import { KeyCache } from './accounts/key-cache.ts'
import { Sessions } from './accounts/sessions.ts'
import { LoginThrottle } from './accounts/throttle.ts'
import type { Config } from './config.ts'
import type { Db } from './db/db.ts'
import { isMigrated } from './db/migrate.ts'
import { registerDocs } from './http/docs.ts'
import { healthRoutes } from './http/health.routes.ts'
import { createMetrics, registerMetrics } from './http/metrics.ts'
import { RateLimit } from './http/rate-limit.ts'
import { createServer, type Server } from './http/server.ts'
import { registerWebApp } from './http/web-app.ts'
import type { Log } from './log.ts'
import { Loop } from './loop.ts'
import { Hints } from './queue/hints.ts'
import { Worker } from './queue/worker.ts'
import { type AppSecrets, SecretBox } from './secrets.ts'
import { deliverJob } from './webhooks/deliver.job.ts'
import { deliveryRoutes } from './webhooks/deliveries.routes.ts'
import { pauseDeadEndpoints, removeOldDeliveries } from './webhooks/health.ts'
import { deliveryMetrics } from './webhooks/metrics.ts'
import { createSafePost } from './webhooks/safe-post.ts'
import { webhookRoutes } from './webhooks/webhooks.routes.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

export type Role = 'serve' | 'work'
export type AppOptions = { config: Config; secrets: AppSecrets; db: Db; log: Log; roles: readonly Role[] }

export type App = {
  server: Server
  start(): Promise<void>
  /** Finishes what is under way, within ten seconds. */
  stop(): Promise<void>
}

/** Builds every part and ties them together: what is not named here does not run. */
export async function createApp({ config, secrets, db, log, roles }: AppOptions): Promise<App> {
  const sessions = new Sessions(secrets)
  const keys = new KeyCache(db, log)
  const hints = new Hints(db)
  const metrics = createMetrics()
  const rateLimit = new RateLimit(config.RATE_LIMIT_PER_SECOND)
  const box = new SecretBox(secrets, 'webhook secrets')
  const safePost = createSafePost({
    timeoutMs: config.WEBHOOK_TIMEOUT_MS,
    allowPrivate: config.WEBHOOK_ALLOW_PRIVATE,
    proxyUrl: config.WEBHOOK_PROXY_URL,
    ca: config.WEBHOOK_CA_FILE && withUsualAuthorities(config.WEBHOOK_CA_FILE),
  })
  const webhooks = {
    db,
    hints,
    box,
    safePost,
    metrics: deliveryMetrics(metrics, db),
    allowPrivate: config.WEBHOOK_ALLOW_PRIVATE,
  }
  const delivering = deliverJob({
    ...webhooks,
    retryDelays: config.WEBHOOK_RETRY_DELAYS,
    laneWidthMax: config.WEBHOOK_CONCURRENCY,
  })
  const deliverer = new Worker({ db, log, hints, spec: delivering })
  webhooks.metrics.watchInFlight(() => deliverer.inFlight)
  const health = { db, hints, log, logDays: config.WEBHOOK_LOG_DAYS, onPaused: async () => {} }
  const workers = [deliverer]
  const loops = [
    new Loop({ name: 'pause dead endpoints', everyMs: minuteMs, run: () => pauseDeadEndpoints(health), log }),
    new Loop({ name: 'remove old deliveries', everyMs: hourMs, run: () => removeOldDeliveries(health), log }),
  ]
  const auth = {
    db,
    sessions,
    throttle: new LoginThrottle(),
    signup: config.SIGNUP,
    mailTransport: config.SMTP_URL ? ('smtp' as const) : ('inbox' as const),
  }

  const server = createServer({ log, baseUrl: config.BASE_URL, trustProxy: config.TRUST_PROXY })
  server.decorateRequest('apiKey', null)
  server.decorateRequest('member', null)
  await registerDocs(server, config.BASE_URL)
  registerMetrics(server, metrics)
  await server.register(healthRoutes({ isReady: () => isMigrated(db) }))

  await server.register(
    async (api) => {
      api.addHook('onRequest', requireApiKey({ keys, rateLimit }))
      withSecurity(api, 'apiKey')
      await api.register(tokenCheckRoutes())
    },
    { prefix: '/public/api/v1' },
  )

  await server.register(authRoutes(auth), { prefix: '/api/v1' })
  await server.register(
    async (api) => {
      api.addHook('onRequest', requireMember({ db, sessions }))
      withSecurity(api, 'session')
      await api.register(meRoutes(auth))
      await api.register(
        async (organization) => {
          await organization.register(apiKeyRoutes({ db, keys }))
          await organization.register(webhookRoutes(webhooks))
          await organization.register(deliveryRoutes(webhooks))
        },
        { prefix: '/organization' },
      )
    },
    { prefix: '/api/v1' },
  )
  await registerWebApp(server, config.BASE_URL)
  await server.ready()

  return {
    server,
    start: async () => {
      await hints.start()
      if (roles.includes('work')) for (const part of [...workers, ...loops]) part.start()
      if (roles.includes('serve')) {
        keys.start()
        await server.listen({ port: config.PORT, host: config.HOST })
      }
    },
    stop: async () => {
      await server.close()
      keys.stop()
      if (roles.includes('work')) await Promise.all([...workers, ...loops].map((part) => part.stop()))
      safePost.close()
      await hints.stop()
    },
  }
}

/** The file's authorities beside those that Node trusts anyway. */
const withUsualAuthorities = (file: string) => [...rootCertificates, readFileSync(file, 'utf8')].join('\n')

/** Names the credential of a group of routes in the OpenAPI document. */
function withSecurity(api: Server, scheme: 'apiKey' | 'session'): void {
  api.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, security: [{ [scheme]: [] }] }
  })
}
