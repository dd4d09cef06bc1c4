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
import { Hints } from './queue/hints.ts'
import type { AppSecrets } from './secrets.ts'

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
      if (roles.includes('serve')) {
        keys.start()
        await server.listen({ port: config.PORT, host: config.HOST })
      }
    },
    stop: async () => {
      await server.close()
      keys.stop()
      await hints.stop()
    },
  }
}

/** Names the credential of a group of routes in the OpenAPI document. */
function withSecurity(api: Server, scheme: 'apiKey' | 'session'): void {
  api.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, security: [{ [scheme]: [] }] }
  })
}
