import { parseSmtpUrl } from '@waxwing/smtp-client'
import type { Registry } from 'prom-client'
import { ApiRequestLog } from './accounts/api-requests/api-request-log.ts'
import { createEmailChangeLimit } from './accounts/people/email-changes.ts'
import { createInvitationEmailLimit } from './accounts/people/invitations.ts'
import { KeyCache } from './accounts/people/key-cache.ts'
import { ResetLimit } from './accounts/people/password-resets.ts'
import { Sessions } from './accounts/people/sessions.ts'
import { LoginThrottle } from './accounts/people/throttle.ts'
import { MemberAdder } from './audience/contacts/members.ts'
import { broadcastKind, stepKind } from './broadcasts/ledger/lanes.ts'
import { BucketFiles } from './content/attachments/bucket-files.ts'
import { Uploads } from './content/attachments/uploads.ts'
import { BuiltInFlows } from './content/flows/built-in-flows.ts'
import { ServedImages } from './content/images/served-images.ts'
import { LinkChecker } from './content/link-checks/link-checker.ts'
import { spfSource } from './delivery/dkim/dns-records.ts'
import { domainKeyBox } from './delivery/domains/dkim-keys.ts'
import type { DomainParts } from './delivery/domains/domains.ts'
import { TrackingHosts } from './delivery/domains/tracking-hosts.ts'
import { Carriers } from './delivery/mail-servers/carriers.ts'
import { mailServerBox } from './delivery/mail-servers/credentials.ts'
import { WebhookAddresses } from './delivery/mail-servers/webhook-addresses.ts'
import type { VerdictParts } from './engagement/bounces/verdicts.ts'
import { AddressPolicy } from './engagement/tracking/address-policy.ts'
import { createHits } from './engagement/tracking/create-hits.ts'
import { HitLimit } from './engagement/tracking/hit-limit.ts'
import { createPageSender } from './engagement/tracking/page.ts'
import { Storage } from './events/exports/storage.ts'
import { measureFeedDelay } from './events/feed/feed-delay.ts'
import { WaitingReaders } from './events/feed/waiting-readers.ts'
import { createEventCounter, EventRecorder } from './events/recording/record.ts'
import { deliveryMetrics } from './events/webhooks/metrics.ts'
import { retryDelaysOf } from './events/webhooks/retry-schedules.ts'
import { webhookSecretBox } from './events/webhooks/signing-secrets.ts'
import { Confirmations } from './operations/mcp/confirmations.ts'
import { recordDomainChange } from './operations/notices/domain-notices.ts'
import { SendingPause } from './operations/sending-status/sending-pause.ts'
import { SendingStatus } from './operations/sending-status/sending-status.ts'
import type { Config } from './platform/config/config.ts'
import { sendingSharesOf } from './platform/config/sending-processes.ts'
import { webhookAuthoritiesOf } from './platform/config/setting-files.ts'
import { type Tuning, tuning } from './platform/config/tuning.ts'
import { createBoundedRead } from './platform/db/bounded-read.ts'
import { createBoundedWork } from './platform/db/bounded-work.ts'
import type { Database } from './platform/db/connect.ts'
import type { Db } from './platform/db/db.ts'
import { measurePool, measureReplica } from './platform/db/pool-metrics.ts'
import { Replica } from './platform/db/replica.ts'
import { isMarked } from './platform/db/secret-mark.ts'
import { createSafePost } from './platform/egress/safe-post.ts'
import { createMetrics, metricsTextOf } from './platform/http/metrics.ts'
import { PublicAddress } from './platform/installation/public-address.ts'
import { bucketOf } from './platform/object-storage/bucket.ts'
import { SendingProcesses } from './platform/processes/sending-processes.ts'
import { measureBacklog } from './platform/queue/backlog-metrics.ts'
import { Hints } from './platform/queue/hints.ts'
import type { FailureLog } from './platform/runtime/failure-log.ts'
import type { Log } from './platform/runtime/log.ts'
import { createStages } from './platform/runtime/named-stages.ts'
import { RateLimit } from './platform/runtime/rate-limit.ts'
import { type AppSecrets, SecretBox } from './platform/secrets/secrets.ts'
import type { TaskChild } from './platform/tasks/task-child.ts'
import { hostOf } from './platform/values/domain.ts'
import { Acceptor } from './sending/messages/accept.ts'
import { EmailAcceptor } from './sending/messages/accept-emails.ts'
import { reportSoftBounce } from './sending/messages/email-limits.ts'
import { NewOrganizationQuota } from './sending/messages/new-organization-quota.ts'
import { createAccountEmails } from './sending/system-emails/account-emails.ts'
import { createSendingParts, type SendingParts } from './sending-parts.ts'

/** Lists of contacts that take longer are read in another way. */
const firstTimeoutMs = 700
/** Counts of contacts that take longer are estimated; the second applies if the exact number is requested. */
const quickTimeoutMs = 200
const countTimeoutMs = 5_000
/** Slices of an audience that is composed are smaller if they take longer. */
const audienceTimeoutMs = 1_000

const emailBacklog = {
  queued: 'waxwing_emails_queued',
  postponed: 'waxwing_emails_deferred',
  lag: 'waxwing_email_lag_seconds',
  title: 'Emails',
}

/** Tests of connections that may follow each other directly. */
const mailServerTestsBurst = 20

export type Role = 'serve' | 'work'

/** The input from which all parts are built. */
export type PartsOptions = {
  config: Config
  secrets: AppSecrets
  db: Db
  replica?: Db | undefined
  log: Log
  /** Idle task processes of stopped services in the same process, as in tests. */
  spareTaskProcesses?: TaskChild[] | undefined
  /** Where sending processes find the database. Without it, the service sends broadcasts itself. */
  databaseAddress?: Database['address'] | undefined
  /** Other limits than the usual ones, in tests. */
  tuning?: Partial<Tuning> | undefined
}

export type Parts = ReturnType<typeof createParts>

/** The parts from which routes and workers are built. */
export function createParts(options: PartsOptions) {
  const { config, secrets, db, replica: replicaDb, log } = options
  const limits: Tuning = { ...tuning, ...options.tuning }
  const metrics = createMetrics()
  const hints = new Hints(db)
  const publicAddress = new PublicAddress(db, config)
  const baseUrl = () => publicAddress.url
  const sendingParts = createSendingParts({
    ...options,
    limits,
    hints,
    metrics,
    baseUrl,
    connectionShare: connectionShareOf(options),
  })
  const { stageRegistry } = sendingParts
  const stages = createStages(stageRegistry, {
    databaseConnections: config.DATABASE_CONNECTIONS,
    webhookConcurrency: limits.webhookConcurrency,
  })
  const { failures, relay, servers, dkim, mail, policy, senders, templates, tasks, runner } = sendingParts
  const carriers = new Carriers({ db, servers, senders, policy, dkim, mailFrom: mail.mailFrom })
  const pause = new SendingPause(db)
  measurePool(db, metrics)
  const replica = replicaDb && createReplica({ limits, db, replicaDb, log, failures, metrics })
  measureBacklog(metrics, db, 'message.send', emailBacklog)
  const counter = createEventCounter(metrics)
  const events = new EventRecorder({ db, stages: stageRegistry, counter })
  measureFeedDelay(metrics, db)
  const egress = {
    allowPrivate: config.WEBHOOK_ALLOW_PRIVATE,
    proxyUrl: config.WEBHOOK_PROXY_URL,
    ca: webhookAuthoritiesOf(config),
  }
  const quota = quotaOf(config, db)
  const bucketFiles = new BucketFiles({ db, failures, bucket: bucketOf(config) })
  const trackingHosts = new TrackingHosts(db, baseUrl)
  return {
    ...sendingParts,
    publicAddress,
    baseUrl,
    limits,
    metricsText: metricsTextOf(metrics),
    sending: new SendingStatus({
      relay,
      relayUrl: config.SMTP_URL,
      dkim,
      settings: mail,
      nameServers: config.DNS_SERVERS,
    }),
    sendingProcesses: createSendingProcesses(options, { hints, relay, servers, metrics, pause, baseUrl }),
    keys: new KeyCache(db, stageRegistry, failures),
    confirmations: new Confirmations(db),
    apiRequests: new ApiRequestLog({ db, failures }),
    sessions: new Sessions(secrets),
    throttle: new LoginThrottle(),
    carriers,
    accountEmails: createAccountEmails(new SecretBox(secrets, 'account email'), carriers),
    resetLimit: new ResetLimit(),
    emailChangeLimit: createEmailChangeLimit(),
    invitationEmailLimit: createInvitationEmailLimit(),
    ...createRateLimits(config, limits),
    stages,
    replica,
    read: createBoundedRead(db, stages.queries, { replica }),
    work: createBoundedWork(db, stages.work),
    readFirst: createBoundedRead(db, stages.queries, { timeoutMs: firstTimeoutMs, replica }),
    readQuickly: createBoundedRead(db, stages.queries, { timeoutMs: quickTimeoutMs, replica }),
    readCounts: createBoundedRead(db, stages.queries, { timeoutMs: countTimeoutMs, replica }),
    readAudiences: createBoundedRead(db, stages.audienceCounts, { timeoutMs: audienceTimeoutMs, replica }),
    readMetrics: createBoundedRead(db, stages.metrics, { replica }),
    members: new MemberAdder(db, stageRegistry, tasks),
    events,
    onSoftBounce: reporterOf(sendingParts),
    feedReaders: new WaitingReaders(db, failures),
    pause,
    quota,
    acceptor: new Acceptor({ db, stages: stageRegistry, templates, runner, senders, quota }),
    emails: new EmailAcceptor({ db, stages: stageRegistry, flows: new BuiltInFlows(db), templates, senders, quota }),
    uploads: new Uploads(db, stageRegistry, { mibPerOrganization: limits.attachmentMibPerOrganization }),
    bucketFiles,
    servedImages: new ServedImages(db, bucketFiles, stageRegistry),
    addresses: new AddressPolicy(db),
    hits: createHits({ db, stages: stageRegistry, events, counter, log, metrics, dataDir: config.DATA_DIR }),
    hitLimit: new HitLimit(metrics),
    pages: createPageSender(),
    box: webhookSecretBox(secrets),
    trackingHosts,
    domains: domainPartsOf(options, { trackingHosts, senders, mail }),
    mailServerBox: mailServerBox(secrets),
    webhookAddresses: new WebhookAddresses(secrets, baseUrl),
    // Of two processes with exchanged secrets, as in a rolling rotation, only the newer one encrypts secrets again.
    isRotating: async () => secrets.previous !== undefined && (await isMarked(db, secrets)),
    allowPrivate: config.WEBHOOK_ALLOW_PRIVATE,
    deliveryMetrics: deliveryMetrics(metrics, db),
    retryDelays: retryDelaysOf(config.WEBHOOK_RETRY_DELAYS),
    safePost: createSafePost({ ...egress, timeoutMs: config.WEBHOOK_TIMEOUT_MS }),
    storage: new Storage(egress),
    linkChecker: new LinkChecker({ ...egress, stages }),
    exportBox: new SecretBox(secrets, 'export secrets'),
  }
}

function domainPartsOf(
  { config, secrets, db }: PartsOptions,
  { trackingHosts, senders, mail }: Pick<SendingParts, 'senders' | 'mail'> & { trackingHosts: TrackingHosts },
): DomainParts {
  const relayHost = config.SMTP_URL && parseSmtpUrl(config.SMTP_URL).host
  return {
    db,
    box: domainKeyBox(secrets),
    hosts: {
      get host() {
        return hostOf(new URL(mail.baseUrl))
      },
      get spfSource() {
        return relayHost && spfSource(relayHost, this.host)
      },
      bounceDomain: config.BOUNCE_DOMAIN?.toLowerCase(),
    },
    dnsServers: config.DNS_SERVERS,
    senderDomain: mail.mailFrom.email.slice(mail.mailFrom.email.lastIndexOf('@') + 1),
    onChange: recordDomainChange,
    afterChange: (domain) => {
      trackingHosts.forget()
      senders.forget(domain)
    },
  }
}

/** The processes of the service share the connections to mail servers of organizations. */
const connectionShareOf = ({ config, databaseAddress }: PartsOptions): number =>
  databaseAddress ? 1 / (1 + sendingSharesOf(config).processes) : 1

type ProcessParts = Pick<SendingParts, 'relay' | 'servers'> & {
  hints: Hints
  metrics: Registry
  pause: SendingPause
  baseUrl: () => string
}

function createSendingProcesses(
  options: PartsOptions,
  { hints, relay, servers, metrics, pause, baseUrl }: ProcessParts,
) {
  const { config, secrets, db, databaseAddress: database, log } = options
  const shares = sendingSharesOf(config)
  if (!database || !relay || shares.processes === 0) return undefined
  return new SendingProcesses({
    shares,
    kinds: [stepKind, broadcastKind],
    start: { config, secrets, database, connectionShare: connectionShareOf(options) },
    isDistributed: () => db.isDistributed,
    isPaused: () => pause.isPaused,
    baseUrl,
    hints,
    relay,
    isOpen: () => servers.isOpen(),
    metrics,
    log,
  })
}

/** A site that bounces email because of its rate gets less of it. Nothing waits for this. */
const reporterOf =
  (parts: SendingParts): VerdictParts['onSoftBounce'] =>
  (message, bounce) =>
    void reportSoftBounce(parts, message, bounce).catch(() => {})

type ReplicaParts = { limits: Tuning; db: Db; replicaDb: Db; log: Log; failures: FailureLog; metrics: Registry }

function createReplica({ limits, db, replicaDb, log, failures, metrics }: ReplicaParts): Replica {
  const replica = new Replica({ primary: db, replica: replicaDb, lagMaxMs: limits.replicaLagMsMax, log, failures })
  measureReplica(replica, metrics)
  return replica
}

/** Applies only with a relay: emails in the built-in inbox do not leave the service. */
function quotaOf(config: Config, db: Db): NewOrganizationQuota | undefined {
  const { SIGNUP: signup, SMTP_URL: relay, NEW_ORGANIZATION_DAILY_MESSAGES: dailyMax } = config
  return signup === 'open' && relay && dailyMax > 0 ? new NewOrganizationQuota(db, dailyMax) : undefined
}

function createRateLimits({ RATE_LIMIT_PER_SECOND: perKey }: Config, limits: Tuning) {
  const { mailServerTestsPerMinute: tests } = limits
  const { sessionRequestsPerSecond: perUser, signInRequestsPerMinute: signIns, pageRequestsPerSecond: pages } = limits
  return {
    keyLimit: new RateLimit({
      perSecond: perKey,
      message: `This key may make ${perKey} requests a second. Slow down and try again.`,
    }),
    userLimit: new RateLimit({
      perSecond: perUser,
      burst: perUser * 10,
      message: `You may make ${perUser} requests a second. Slow down and try again.`,
    }),
    signInLimit: new RateLimit({
      perSecond: signIns / 60,
      burst: signIns,
      message: 'Too many requests from your address. Wait a minute and try again.',
    }),
    mailServerTestLimit: new RateLimit({
      perSecond: tests / 60,
      burst: mailServerTestsBurst,
      message: `Your organization may test ${tests} connections a minute. Wait a moment and try again.`,
    }),
    pageLimit: new RateLimit({
      perSecond: pages,
      burst: pages * 10,
      message: 'Too many requests from your address. Wait a moment and try again.',
    }),
  }
}
