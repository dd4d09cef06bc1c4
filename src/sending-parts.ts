import { openRelay, type RelayState, type Transport } from '@waxwing/smtp-client'
import type { Registry } from 'prom-client'
import { getBrandValues } from './brands/brands.ts'
import { broadcastJob } from './broadcasts/broadcast.job.ts'
import type { Config } from './config/config.ts'
import { webhookAuthoritiesOf } from './config/setting-files.ts'
import type { Tuning } from './config/tuning.ts'
import { type Db, isConnectionFault, isQueryCanceled } from './db/db.ts'
import { domainKeyBox } from './domains/dkim-keys.ts'
import { openCachedDns } from './domains/dns.ts'
import { Senders } from './domains/senders.ts'
import { ContentStore } from './email-contents/content-store.ts'
import { findParts } from './flow-parts/flow-parts.ts'
import { TemplateCache } from './flows/template-cache.ts'
import { TemplateRunner } from './flows/template-runner.ts'
import { dkimOf } from './mail/dkim.ts'
import { countOutcomes, reportRelay } from './mail/relay-report.ts'
import { createSenderPolicy } from './mail/sender-policy.ts'
import { Connector } from './mail-servers/connector.ts'
import { mailServerBox } from './mail-servers/credentials.ts'
import { MailServers } from './mail-servers/mail-servers.ts'
import { openMailServer } from './mail-servers/open.ts'
import { recordState } from './mail-servers/states.ts'
import type { AttemptParts } from './messages/attempt.ts'
import { parseMailbox } from './messages/outgoing.ts'
import { recordMailServerChange } from './notices/mail-server-notices.ts'
import { recordExpiredBroadcast, recordPausedBroadcast } from './notices/notices.ts'
import type { Hints } from './queue/hints.ts'
import { Worker } from './queue/worker.ts'
import { ReceivingSites } from './receiving-sites/receiving-sites.ts'
import { SiteLookup } from './receiving-sites/site-lookup.ts'
import { FailureLog } from './runtime/failure-log.ts'
import type { Log } from './runtime/log.ts'
import { StageRegistry } from './runtime/stage-registry.ts'
import type { AppSecrets } from './secrets/secrets.ts'
import { createTokens } from './secrets/tokens.ts'
import { SendingLimits } from './sending-limits/sending-limits.ts'
import { createTaskPool } from './tasks/create-pool.ts'
import type { TaskChild } from './tasks/task-child.ts'
import { createIdHeaders } from './tracking/providers/id-headers.ts'

export type SendingPartsOptions = {
  config: Config
  limits: Pick<Tuning, 'taskProcesses' | 'templateCpuMs'>
  secrets: AppSecrets
  db: Db
  log: Log
  hints: Hints
  metrics: Registry
  spareTaskProcesses?: TaskChild[] | undefined
  onRelayState?: (state: RelayState) => void
  /** The start of links. It may change. */
  baseUrl: () => string
  /** The part of the connections to mail servers of organizations that this process may open. */
  connectionShare?: number | undefined
}

export type SendingParts = ReturnType<typeof createSendingParts>

/** The parts that compose and send emails, of the service and of its sending processes. */
export function createSendingParts(options: SendingPartsOptions) {
  const { config, limits, secrets, db, log, hints, metrics, baseUrl, spareTaskProcesses: spare } = options
  const connector = createConnector(options)
  const mail = createMailParts(options, connector)
  const stageRegistry = new StageRegistry()
  stageRegistry.measure(metrics)
  const tasks = createTaskPool({
    processes: limits.taskProcesses,
    spare,
    registry: metrics,
    stages: stageRegistry,
    log,
  })
  return {
    config,
    stageRegistry,
    db,
    log,
    hints,
    metrics,
    failures: new FailureLog({ log, isOutage: (error) => isConnectionFault(error) && !isQueryCanceled(error) }),
    templates: new TemplateCache(db),
    contents: new ContentStore(db, stageRegistry),
    sendingLimits: new SendingLimits(db, stageRegistry),
    sites: new ReceivingSites(db, new SiteLookup(db, stageRegistry, openCachedDns(config.DNS_SERVERS))),
    tasks,
    runner: new TemplateRunner({
      tasks,
      cpuMs: limits.templateCpuMs,
      baseUrl,
      findBrand: (organizationId) => getBrandValues(db, organizationId, baseUrl()),
      findParts: (organizationId, names) => findParts(db, organizationId, names),
    }),
    connector,
    tokens: createTokens({ current: secrets.current, previous: secrets.previous ? [secrets.previous] : [] }),
    ...mail,
  }
}

/** Connects to mail servers of organizations. Their hosts are checked like those of webhooks. */
function createConnector({ config, secrets, db }: SendingPartsOptions): Connector {
  const egress = {
    allowPrivate: config.WEBHOOK_ALLOW_PRIVATE,
    proxyUrl: config.WEBHOOK_PROXY_URL,
    ca: webhookAuthoritiesOf(config),
  }
  return new Connector({ db, box: mailServerBox(secrets), egress })
}

/** The relay and what is needed to send through it. */
function createMailParts(options: SendingPartsOptions, connector: Connector) {
  const { config, secrets, db, log, metrics, baseUrl, onRelayState } = options
  const { SMTP_URL: url, SMTP_CONNECTIONS: connections } = config
  const report = reportRelay(log)
  const onState = (state: RelayState) => {
    report(state)
    onRelayState?.(state)
  }
  const counted = countOutcomes(metrics)
  const relay = url ? counted(openRelay(url, { connections, onState })) : undefined
  const dkim = dkimOf(config)
  const mail = {
    get baseUrl() {
      return baseUrl()
    },
    mailFrom: parseMailbox(config.MAIL_FROM),
    bounceDomain: config.BOUNCE_DOMAIN,
    idHeaders: createIdHeaders(config),
  }
  const policy = createSenderPolicy({
    isEnforced: config.REQUIRE_VERIFIED_DOMAINS,
    allowedDomains: config.ALLOWED_SENDER_DOMAINS,
    defaultSender: mail.mailFrom.email,
    dkimDomain: dkim?.domain,
  })
  const senders = new Senders({
    ...{ db, policy, dkim },
    box: domainKeyBox(secrets),
    hosts: mail,
    defaultSender: mail.mailFrom,
  })
  return { relay, servers: createServers(options, connector, relay, counted), dkim, mail, policy, senders }
}

function createServers(
  { config, db, log, secrets, connectionShare: share = 1 }: SendingPartsOptions,
  connector: Connector,
  relay: Transport | undefined,
  counted: (transport: Transport) => Transport,
): MailServers {
  const opening = { box: mailServerBox(secrets), connector, share }
  return new MailServers({
    db,
    relay,
    shapeByReceiver: config.SMTP_SHAPING,
    open: (row, onState) => counted(openMailServer(opening, row, onState)),
    onState: (row, state) => void recordState({ db, log, onChange: recordMailServerChange }, row, state),
  })
}

/** Emails in flight at once while they are only stored in the inbox. */
const inboxInFlightMax = 500

export const inFlightMaxOf = ({ relay }: Pick<SendingParts, 'relay'>): number => relay?.capacity() ?? inboxInFlightMax

export const attemptPartsOf = (parts: SendingParts): AttemptParts => ({
  runner: parts.runner,
  tokens: parts.tokens,
  settings: parts.mail,
  servers: parts.servers,
  limits: parts.sendingLimits,
  sites: parts.sites,
  senders: parts.senders,
  contents: parts.contents,
  retryDelays: parts.config.MAIL_RETRY_DELAYS,
})

/** What the steps and the parts of broadcasts have in common. */
export const broadcastPartsOf = ({ db, log, failures, servers, senders }: SendingParts, isPaused: () => boolean) => ({
  db,
  log,
  failures,
  senders,
  isOpen: () => !isPaused() && servers.isOpen(),
  onPaused: recordPausedBroadcast,
  onExpired: recordExpiredBroadcast,
})

/** Creates the worker that sends the parts of broadcasts. */
export function createBroadcaster(parts: SendingParts, isPaused: () => boolean) {
  const { db, log, failures, hints, templates, stageRegistry } = parts
  let isStopping = false
  const broadcasting = broadcastJob({
    ...attemptPartsOf(parts),
    ...broadcastPartsOf(parts, isPaused),
    hints,
    templates,
    stageRegistry,
    inFlightMax: inFlightMaxOf(parts),
    isStopping: () => isStopping,
  })
  const worker = new Worker({ db, log, failures, hints, spec: broadcasting.spec })
  return {
    start: () => worker.start(),
    get firstRun() {
      return worker.firstRun
    },
    get running() {
      return worker.running
    },
    stop: () => {
      isStopping = true
      broadcasting.stop()
      return worker.stop()
    },
  }
}
