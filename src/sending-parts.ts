import { openRelay, type RelayState, type Transport } from '@waxwing/smtp-client'
import type { Registry } from 'prom-client'
import { broadcastJob } from './broadcasts/sending/broadcast.job.ts'
import { ContentStore } from './content/attachments/content-store.ts'
import { getBrandValues } from './content/brands/brands.ts'
import { TemplateCache } from './content/flows/template-cache.ts'
import { TemplateRunner } from './content/flows/template-runner.ts'
import { findParts } from './content/parts/flow-parts.ts'
import { dkimOf } from './delivery/dkim/dkim.ts'
import { createSenderPolicy } from './delivery/dkim/sender-policy.ts'
import { domainKeyBox } from './delivery/domains/dkim-keys.ts'
import { openCachedDns } from './delivery/domains/dns.ts'
import { Senders } from './delivery/domains/senders.ts'
import { SendingLimits } from './delivery/limits/sending-limits.ts'
import { Connector } from './delivery/mail-servers/connector.ts'
import { mailServerBox } from './delivery/mail-servers/credentials.ts'
import { MailServers } from './delivery/mail-servers/mail-servers.ts'
import { openMailServer } from './delivery/mail-servers/open.ts'
import { countOutcomes, reportRelay } from './delivery/mail-servers/relay-report.ts'
import { recordState } from './delivery/mail-servers/states.ts'
import { ReceivingSites } from './delivery/receiving-sites/receiving-sites.ts'
import { SiteLookup } from './delivery/receiving-sites/site-lookup.ts'
import { createIdHeaders } from './engagement/bounces/providers/id-headers.ts'
import { recordMailServerChange } from './operations/notices/mail-server-notices.ts'
import { recordExpiredBroadcast, recordPausedBroadcast } from './operations/notices/notices.ts'
import type { Config } from './platform/config/config.ts'
import { webhookAuthoritiesOf } from './platform/config/setting-files.ts'
import type { Tuning } from './platform/config/tuning.ts'
import { type Db, isConnectionFault, isQueryCanceled } from './platform/db/db.ts'
import type { Hints } from './platform/queue/hints.ts'
import { Worker } from './platform/queue/worker.ts'
import { FailureLog } from './platform/runtime/failure-log.ts'
import type { Log } from './platform/runtime/log.ts'
import { StageRegistry } from './platform/runtime/stage-registry.ts'
import type { AppSecrets } from './platform/secrets/secrets.ts'
import { createTokens } from './platform/secrets/tokens.ts'
import { createTaskPool } from './platform/tasks/create-pool.ts'
import type { TaskChild } from './platform/tasks/task-child.ts'
import type { AttemptParts } from './sending/messages/attempt.ts'
import { parseMailbox } from './sending/messages/outgoing.ts'

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
