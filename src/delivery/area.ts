import { type Area, loopsOf } from '../platform/area.ts'
import type { Platform } from '../platform/platform.ts'
import { measure } from '../platform/runtime/measure.ts'
import { RateLimit } from '../platform/runtime/rate-limit.ts'
import type { StageLimits } from '../platform/runtime/stage.ts'
import { domainOfAddress, hostOf } from '../platform/values/domain.ts'
import { hourMs, minuteMs } from '../platform/values/durations.ts'
import type { DeliveryBase } from './base.ts'
import { checkDueDomains } from './domains/checking.ts'
import { domainKeyBox } from './domains/dkim-keys.ts'
import { spfSource } from './domains/dns-records.ts'
import { domainRoutes } from './domains/domains.routes.ts'
import type { DomainParts } from './domains/domains.ts'
import { tlsRoutes } from './domains/tls.routes.ts'
import { TrackingHosts } from './domains/tracking-hosts.ts'
import { warmUpRoutes } from './domains/warm-up.routes.ts'
import { deleteUnusedLimits } from './limits/sending-limits.ts'
import { Carriers } from './mail-servers/carriers.ts'
import { mailServerBox } from './mail-servers/credentials.ts'
import { type MailServerRouteParts, mailServerRoutes } from './mail-servers/mail-servers.routes.ts'
import { measureRelay } from './mail-servers/relay-report.ts'
import { recordState, type StateParts, tryForgottenServers } from './mail-servers/states.ts'
import { WebhookAddresses } from './mail-servers/webhook-addresses.ts'
import { copyDefaults } from './receiving-sites/list-sites.ts'
import { receivingSiteRoutes } from './receiving-sites/receiving-sites.routes.ts'
import { deleteOldSites } from './receiving-sites/receiving-sites.ts'

/** Tests of connections that may follow each other directly. */
const mailServerTestsBurst = 20

/** Looking up DNS records, and making DKIM keys. */
const domainChecks: StageLimits = {
  perOrganization: 2,
  overall: 20,
  waitingPerOrganization: 10,
  waitMs: 10_000,
}

/** Testing connections to mail servers: each holds a socket for up to 15 seconds. */
const mailServerTests: StageLimits = {
  perOrganization: 2,
  overall: 20,
  waitingPerOrganization: 4,
  waitMs: 10_000,
}

/** What areas above provide. */
export type DeliveryHooks = {
  onDomainChange: DomainParts['onChange']
  onMailServerChange: StateParts['onChange']
  onConnectionChange: MailServerRouteParts['onConnectionChange']
}

export type Delivery = ReturnType<typeof createDelivery>

/** By which way, as whom and how fast emails leave. */
export function createDelivery({ secrets, db, baseUrl }: Platform, base: DeliveryBase) {
  const { servers, senders, policy, dkim, mailFrom } = base
  const spfSources: DomainParts['spfSources'] = async (organizationId, domain) => {
    const hosts = await servers.hostsFor(organizationId, domain)
    return [...new Set(hosts.flatMap((host) => spfSource(host, hostOf(new URL(baseUrl()))) ?? []))]
  }
  return {
    ...base,
    spfSources,
    carriers: new Carriers({ db, servers, senders, policy, dkim, mailFrom }),
    trackingHosts: new TrackingHosts(db, baseUrl),
    mailServerBox: mailServerBox(secrets),
    webhookAddresses: new WebhookAddresses(secrets, baseUrl),
  }
}

export function deliveryArea(platform: Platform, delivery: Delivery, hooks: DeliveryHooks): Area {
  const { db, log, read, stageRegistry, metrics } = platform
  const { relay, servers, sites } = delivery
  const domains = domainParts(platform, delivery, hooks)
  const loop = loopsOf(platform)
  return {
    routes: {
      organization: [
        domainRoutes({ ...domains, read, checks: stageRegistry.stage('domain checks', 'peer', domainChecks) }),
        warmUpRoutes({ db }),
        receivingSiteRoutes({ db, read, sites }),
        mailServerRoutes(mailServerParts(platform, delivery, hooks)),
      ],
      site: [tlsRoutes(delivery.trackingHosts)],
    },
    background: [
      loop('try failing mail servers', minuteMs, () => tryForgottenServers(db, servers)),
      loop('delete unused sending limits', hourMs, () => deleteUnusedLimits(db)),
      loop('forget receiving domains', hourMs, () => deleteOldSites(db)),
      loop('copy limits of the operator', minuteMs, () => copyDefaults(db)),
      loop('check domains', minuteMs, () => checkDueDomains({ ...domains, log })),
    ],
    start: async ({ works }) => {
      if (!works) return
      if (relay) measureRelay(relay, metrics)
      const help = 'Mail servers of organizations that do not accept email, as far as this process uses them.'
      measure(metrics, 'waxwing_mail_servers_failing', help, () => servers.down)
    },
    stop: { last: () => delivery.close() },
  }
}

function domainParts(
  { config, secrets, db, baseUrl }: Platform,
  { mailFrom, trackingHosts, senders, spfSources }: Delivery,
  { onDomainChange: onChange }: DeliveryHooks,
): DomainParts {
  return {
    db,
    spfSources,
    box: domainKeyBox(secrets),
    hosts: {
      get host() {
        return hostOf(new URL(baseUrl()))
      },
      bounceDomain: config.BOUNCE_DOMAIN?.toLowerCase(),
    },
    dnsServers: config.DNS_SERVERS,
    senderDomain: domainOfAddress(mailFrom.email),
    onChange,
    afterChange: (domain) => {
      trackingHosts.forget()
      senders.forget(domain)
    },
  }
}

function mailServerParts(
  { limits, db, log, read, stageRegistry, egress }: Platform,
  { servers, connector, mailServerBox: box, webhookAddresses: addresses }: Delivery,
  { onMailServerChange: onChange, onConnectionChange }: DeliveryHooks,
): MailServerRouteParts {
  const { mailServerTestsPerMinute: tests, mailServerTestMs: testMs } = limits
  return {
    db,
    read,
    box,
    allowPrivate: egress.allowPrivate,
    onConnectionChange,
    onChanged: (organizationId) => servers.changed(organizationId),
    connector,
    tests: stageRegistry.stage('mail server tests', 'peer', mailServerTests),
    testLimit: new RateLimit({
      perSecond: tests / 60,
      burst: mailServerTestsBurst,
      message: `Your organization may test ${tests} connections a minute. Wait a moment and try again.`,
    }),
    testMs,
    onTested: async (mailServer, state) => {
      await recordState({ db, log, onChange }, mailServer, state)
      // So that waiting emails leave at once.
      if (state.kind === 'up' && mailServer.status === 'failing') servers.check(mailServer).catch(() => {})
    },
    addresses,
  }
}
