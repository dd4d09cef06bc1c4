import type { Registry } from 'prom-client'
import { apiKeyRoutes, tokenCheckRoutes } from './accounts/api-keys.routes.ts'
import { authRoutes, meRoutes } from './accounts/auth.routes.ts'
import { requireApiKey, requireMember } from './accounts/guards.ts'
import { acceptanceRoutes, invitationRoutes } from './accounts/invitations.routes.ts'
import { KeyCache } from './accounts/key-cache.ts'
import { organizationRoutes } from './accounts/organization.routes.ts'
import { Sessions } from './accounts/sessions.ts'
import { teamRoutes } from './accounts/team.routes.ts'
import { LoginThrottle } from './accounts/throttle.ts'
import type { Config } from './config.ts'
import { contactRoutes } from './contacts/contacts.routes.ts'
import { groupRoutes } from './contacts/groups.routes.ts'
import { importWorker } from './contacts/import.job.ts'
import { importRoutes } from './contacts/imports.routes.ts'
import { memberRoutes } from './contacts/members.routes.ts'
import { MemberAdder } from './contacts/members.ts'
import { suppressionRoutes } from './contacts/suppressions.routes.ts'
import { timelineRoutes } from './contacts/timeline.routes.ts'
import type { Db } from './db/db.ts'
import { isMigrated, isWritable } from './db/migrate.ts'
import { activityRoutes } from './events/activity.routes.ts'
import { eventTypeRoutes } from './events/event-types.routes.ts'
import { metricRoutes } from './events/metrics.routes.ts'
import { overviewRoutes } from './events/overview.routes.ts'
import { keepPartitions } from './events/partitions.ts'
import { EventRecorder } from './events/record.ts'
import { recordApiUnsubscription } from './events/unsubscription.ts'
import { flowRoutes } from './flows/flows.routes.ts'
import { previewRoutes } from './flows/preview.routes.ts'
import { TemplateCache } from './flows/template-cache.ts'
import { registerDocs } from './http/docs.ts'
import { healthRoutes } from './http/health.routes.ts'
import { createMetrics, registerMetrics } from './http/metrics.ts'
import { RateLimit } from './http/rate-limit.ts'
import { createServer, type Server } from './http/server.ts'
import { registerWebApp } from './http/web-app.ts'
import type { Log } from './log.ts'
import { Loop } from './loop.ts'
import { type BounceListener, startBounceListener } from './mail/bounce-listener.ts'
import { loadDkim } from './mail/dkim.ts'
import { openRelay } from './mail/relay.ts'
import { reportRelay } from './mail/relay-report.ts'
import { parseSmtpUrl } from './mail/smtp-url.ts'
import { Acceptor } from './messages/accept.ts'
import { inboxRoutes } from './messages/inbox.routes.ts'
import { messageRoutes } from './messages/messages.routes.ts'
import { mailNotices } from './messages/notice-mails.ts'
import { noticeRoutes } from './messages/notices.routes.ts'
import { recordPausedWebhook } from './messages/notices.ts'
import { parseMailbox } from './messages/outgoing.ts'
import { sendJob } from './messages/send.job.ts'
import { sendEmailRoutes, testSendRoutes } from './messages/send-email.routes.ts'
import { sendingRoutes } from './messages/sending.routes.ts'
import { Sending } from './messages/sending.ts'
import { forgetOldKeys, keepInboxSmall } from './messages/upkeep.ts'
import { Hints } from './queue/hints.ts'
import { Worker } from './queue/worker.ts'
import { type AppSecrets, SecretBox } from './secrets.ts'
import { bounceTlsOf, webhookAuthoritiesOf } from './setting-files.ts'
import { createTokens } from './tokens.ts'
import { AddressPolicy } from './tracking/address-policy.ts'
import { isOurAddress, takeBounceMail } from './tracking/bounce-mail.ts'
import { createHits } from './tracking/create-hits.ts'
import { createPageSender } from './tracking/page.ts'
import { idHeadersFor } from './tracking/providers/id-headers.ts'
import { providerRoutes } from './tracking/providers/providers.routes.ts'
import { sendgridReports } from './tracking/providers/sendgrid.ts'
import { trackingRoutes } from './tracking/tracking.routes.ts'
import { unsubscribeRoutes } from './tracking/unsubscribe.routes.ts'
import { deliverJob } from './webhooks/deliver.job.ts'
import { deliveryRoutes } from './webhooks/deliveries.routes.ts'
import { pauseDeadEndpoints, removeOldDeliveries, removeOrphanDeliveries } from './webhooks/health.ts'
import { deliveryMetrics } from './webhooks/metrics.ts'
import { createSafePost } from './webhooks/safe-post.ts'
import { webhookRoutes } from './webhooks/webhooks.routes.ts'

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
/** Mails under way at once while they only go into the inbox. */
const inboxInHandMax = 500

export type Role = 'serve' | 'work'
export type AppOptions = {
  config: Config
  secrets: AppSecrets
  db: Db
  log: Log
  roles: readonly Role[]
  /** Asked for the DNS records of sending instead of the machine's own. */
  nameServers?: readonly string[]
}

export type App = {
  server: Server
  /** Where bounces are listened for, once started; undefined when they are not. */
  bouncePort(): number | undefined
  start(): Promise<void>
  /** Finishes what is under way, within ten seconds. */
  stop(): Promise<void>
}

/** Looks at all that the settings name, so that faults in it are told before a database is started. Throws a SetupFault. */
export function checkSettings(config: Config): void {
  if (config.SMTP_URL) parseSmtpUrl(config.SMTP_URL)
  if (config.PROVIDER_SENDGRID_KEY) sendgridReports(config.PROVIDER_SENDGRID_KEY)
  parseMailbox(config.MAIL_FROM)
  dkimOf(config)
  bounceTlsOf(config)
  webhookAuthoritiesOf(config)
}

/** Builds every part and ties them together: what is not named here does not run. */
export async function createApp({ config, secrets, db, log, roles, nameServers }: AppOptions): Promise<App> {
  const parts = createParts({ config, secrets, db, log, nameServers })
  const server = createServer({ log, baseUrl: config.BASE_URL, trustProxy: config.TRUST_PROXY })
  await registerRoutes(server, config, parts)
  await server.ready()
  const workers = createWorkers(parts)
  const loops = createLoops(parts)
  let bounces: BounceListener | undefined
  const replaying = new Loop({ name: 'replay hits', everyMs: secondMs, run: () => parts.hits.replay(), log })

  return {
    server,
    bouncePort: () => bounces?.port,
    start: async () => {
      await parts.hints.start()
      // Before anything is written: a month's partition cannot be made while events of that month come in beside it.
      // Where it cannot be made now, say while a dump is being taken, events go to the default one until it can.
      await keepPartitions(partitionsOf(parts)).catch((error) =>
        log.warn({ error }, 'Partitions could not be made yet'),
      )
      if (roles.includes('work')) for (const part of [...workers, ...loops]) part.start()
      if (roles.includes('serve')) {
        bounces = await listenForBounces(parts)
        parts.keys.start()
        replaying.start()
        await server.listen({ port: config.PORT, host: config.HOST })
      }
    },
    stop: async () => {
      await server.close()
      await bounces?.close()
      parts.keys.stop()
      await replaying.stop()
      await parts.hits.close()
      await parts.events.drained()
      if (roles.includes('work')) await Promise.all([...workers, ...loops].map((part) => part.stop()))
      parts.safePost.close()
      await parts.relay?.close()
      await parts.hints.stop()
    },
  }
}

type Parts = ReturnType<typeof createParts>
type PartsOptions = Omit<AppOptions, 'roles' | 'nameServers'> & { nameServers: readonly string[] | undefined }

function createParts({ config, secrets, db, log, nameServers }: PartsOptions) {
  const hints = new Hints(db)
  const templates = new TemplateCache(db)
  const metrics = createMetrics()
  const events = new EventRecorder({ db, hints })
  return {
    config,
    db,
    log,
    hints,
    templates,
    metrics,
    keys: new KeyCache(db, log),
    sessions: new Sessions(secrets),
    throttle: new LoginThrottle(),
    rateLimit: new RateLimit(config.RATE_LIMIT_PER_SECOND),
    members: new MemberAdder(db),
    events,
    acceptor: new Acceptor({ db, templates, hints }),
    tokens: createTokens({ current: secrets.current, previous: secrets.previous ? [secrets.previous] : [] }),
    ...createMailParts({ config, log, nameServers }, metrics),
    addresses: new AddressPolicy(db),
    hits: createHits({ db, hints, events, log, metrics, dataDir: config.DATA_DIR }),
    pages: createPageSender(),
    box: new SecretBox(secrets, 'webhook secrets'),
    allowPrivate: config.WEBHOOK_ALLOW_PRIVATE,
    deliveryMetrics: deliveryMetrics(metrics, db),
    safePost: createSafePost({
      timeoutMs: config.WEBHOOK_TIMEOUT_MS,
      allowPrivate: config.WEBHOOK_ALLOW_PRIVATE,
      proxyUrl: config.WEBHOOK_PROXY_URL,
      ca: webhookAuthoritiesOf(config),
    }),
  }
}

/** Everything between the service and the relay. */
function createMailParts({ config, log, nameServers }: Omit<PartsOptions, 'secrets' | 'db'>, metrics: Registry) {
  const { SMTP_URL: url, SMTP_CONNECTIONS: connections } = config
  const relay = url ? openRelay(url, { connections, onState: reportRelay(log, metrics) }) : undefined
  const dkim = dkimOf(config)
  const mail = {
    baseUrl: config.BASE_URL,
    mailFrom: parseMailbox(config.MAIL_FROM),
    bounceDomain: config.BOUNCE_DOMAIN,
    idHeaders: idHeadersFor(config),
  }
  const sending = new Sending({ relay, relayUrl: config.SMTP_URL, dkim, settings: mail, nameServers })
  return { relay, dkim, mail, sending }
}

/** Every route there is. */
async function registerRoutes(server: Server, config: Config, parts: Parts): Promise<void> {
  const { db, hints, keys, acceptor } = parts
  const auth = { ...parts, signup: config.SIGNUP, mailTransport: parts.relay ? ('smtp' as const) : ('inbox' as const) }
  const webhooks = { ...parts, metrics: parts.deliveryMetrics }
  server.decorateRequest('apiKey', null)
  server.decorateRequest('member', null)
  await registerDocs(server, config.BASE_URL)
  registerMetrics(server, parts.metrics)
  await server.register(healthRoutes({ isReady: async () => (await isMigrated(db)) && (await isWritable(db)) }))

  await server.register(
    async (api) => {
      api.addHook('onRequest', requireApiKey(parts))
      withSecurity(api, 'apiKey')
      await api.register(tokenCheckRoutes())
      await api.register(memberRoutes({ members: parts.members }))
      await api.register(sendEmailRoutes({ acceptor }))
      await api.register(metricRoutes({ db }))
    },
    { prefix: '/public/api/v1' },
  )

  await server.register(authRoutes(auth), { prefix: '/api/v1' })
  await server.register(acceptanceRoutes(parts), { prefix: '/api/v1' })
  await server.register(
    async (api) => {
      api.addHook('onRequest', requireMember(parts))
      withSecurity(api, 'session')
      await api.register(meRoutes(auth))
      await api.register(eventTypeRoutes())
      await api.register(
        async (organization) => {
          await organization.register(organizationRoutes({ db }))
          await organization.register(teamRoutes({ db }))
          await organization.register(invitationRoutes({ db, baseUrl: config.BASE_URL }))
          await organization.register(apiKeyRoutes({ db, keys }))
          await organization.register(contactRoutes({ db, onUnsubscribed: recordApiUnsubscription }))
          await organization.register(timelineRoutes({ db }))
          await organization.register(groupRoutes({ db }))
          await organization.register(importRoutes({ db, hints }))
          await organization.register(suppressionRoutes({ db }))
          await organization.register(flowRoutes({ db }))
          await organization.register(previewRoutes({ db }))
          await organization.register(testSendRoutes({ acceptor }))
          await organization.register(messageRoutes({ db, templates: parts.templates, mailFrom: parts.mail.mailFrom }))
          await organization.register(inboxRoutes({ db }))
          await organization.register(sendingRoutes({ ...parts, settings: parts.mail }))
          await organization.register(noticeRoutes({ db }))
          await organization.register(activityRoutes({ db }))
          await organization.register(overviewRoutes({ db }))
          await organization.register(webhookRoutes(webhooks))
          await organization.register(deliveryRoutes({ db, hints }))
        },
        { prefix: '/organization' },
      )
    },
    { prefix: '/api/v1' },
  )
  await server.register(providerRoutes(parts))
  await server.register(trackingRoutes(parts))
  await server.register(unsubscribeRoutes({ ...parts, baseUrl: config.BASE_URL }))
  await registerWebApp(server, config.BASE_URL)
}

/** Everything that works off the queue. */
function createWorkers(parts: Parts) {
  const { config, db, log, hints, relay } = parts
  const sending = sendJob({
    ...parts,
    settings: parts.mail,
    retryDelays: config.MAIL_RETRY_DELAYS,
    inHandMax: relay?.capacity() ?? inboxInHandMax,
  })
  const delivering = deliverJob({
    ...parts,
    metrics: parts.deliveryMetrics,
    retryDelays: config.WEBHOOK_RETRY_DELAYS,
    laneWidthMax: config.WEBHOOK_CONCURRENCY,
  })
  const sender = new Worker({ db, log, hints, spec: sending })
  const deliverer = new Worker({ db, log, hints, spec: delivering })
  const importer = new Worker({ db, log, hints, spec: importWorker({ db, log }) })
  parts.deliveryMetrics.watchInFlight(() => deliverer.inFlight)
  return [sender, deliverer, importer]
}

const partitionsOf = ({ config, db, log }: Parts) => ({ db, log, retentionMonths: config.EVENT_RETENTION_MONTHS })

/** Everything that is done again and again. */
function createLoops(parts: Parts): Loop[] {
  const { config, db, hints, log } = parts
  const health = { db, hints, log, logDays: config.WEBHOOK_LOG_DAYS, onPaused: recordPausedWebhook }
  return [
    new Loop({ name: 'keep partitions', everyMs: hourMs, run: () => keepPartitions(partitionsOf(parts)), log }),
    new Loop({ name: 'pause dead endpoints', everyMs: minuteMs, run: () => pauseDeadEndpoints(health), log }),
    new Loop({
      name: 'mail notices',
      everyMs: minuteMs,
      run: () => mailNotices({ ...parts, settings: parts.mail }),
      log,
    }),
    new Loop({ name: 'forget old idempotency keys', everyMs: hourMs, run: () => forgetOldKeys(db), log }),
    new Loop({ name: 'keep the inbox small', everyMs: hourMs, run: () => keepInboxSmall(db), log }),
    new Loop({ name: 'remove old deliveries', everyMs: hourMs, run: () => removeOldDeliveries(health), log }),
    new Loop({
      name: 'remove deliveries of deleted webhooks',
      everyMs: minuteMs,
      run: () => removeOrphanDeliveries(health),
      log,
    }),
  ]
}

async function listenForBounces(parts: Parts): Promise<BounceListener | undefined> {
  const { config, tokens, log } = parts
  if (config.BOUNCE_SMTP_PORT === undefined || !config.BOUNCE_DOMAIN) return undefined
  const tls = bounceTlsOf(config)
  return startBounceListener({
    host: config.BOUNCE_SMTP_HOST,
    port: config.BOUNCE_SMTP_PORT,
    domain: config.BOUNCE_DOMAIN,
    verify: (address) => isOurAddress(tokens, address),
    onMail: (mail) => takeBounceMail(parts, mail),
    ...(tls && { tls }),
    log,
  })
}

function dkimOf({ DKIM_DOMAIN: domain, DKIM_SELECTOR: selector, DKIM_PRIVATE_KEY_FILE: privateKeyFile }: Config) {
  return domain && selector && privateKeyFile ? loadDkim({ domain, selector, privateKeyFile }) : undefined
}

/** Names the credential of a group of routes in the OpenAPI document. */
function withSecurity(api: Server, scheme: 'apiKey' | 'session'): void {
  api.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, security: [{ [scheme]: [] }] }
  })
}
