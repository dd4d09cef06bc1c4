import { openRelay, parseSmtpUrl, type RelayState, type Transport } from '@waxwing/smtp-client'
import type { Base } from '../platform/base.ts'
import { allConnections, type ConnectionPart, connectionsOf } from '../platform/config/sending-processes.ts'
import { parseMailFrom } from '../platform/values/mailbox.ts'
import { dkimOf } from './dkim/dkim.ts'
import { domainKeyBox } from './domains/dkim-keys.ts'
import { openCachedDns } from './domains/dns.ts'
import { createSenderPolicy } from './domains/sender-policy.ts'
import { Senders } from './domains/senders.ts'
import { SendingLimits } from './limits/sending-limits.ts'
import { Connector } from './mail-servers/connector.ts'
import { mailServerBox } from './mail-servers/credentials.ts'
import { MailServers } from './mail-servers/mail-servers.ts'
import { openMailServer } from './mail-servers/open.ts'
import { countOutcomes, reportRelay } from './mail-servers/relay-report.ts'
import { recordState, type StateParts } from './mail-servers/states.ts'
import { ReceivingSites } from './receiving-sites/receiving-sites.ts'
import { SiteLookup } from './receiving-sites/site-lookup.ts'

export type DeliveryBase = ReturnType<typeof createDeliveryBase>

export type DeliveryBaseOptions = {
  onRelayState?: (state: RelayState) => void
  connectionPart?: ConnectionPart
  onMailServerChange: StateParts['onChange']
}

/** Senders, mail servers and limits, of the service and of its sending processes. */
export function createDeliveryBase(base: Base, options: DeliveryBaseOptions) {
  const { config, secrets, db, metrics, baseUrl, stageRegistry } = base
  const onOutcome = countOutcomes(metrics)
  const relay = openInstallationRelay(base, options, onOutcome)
  const dkim = dkimOf(config)
  const mailFrom = parseMailFrom(config.MAIL_FROM)
  /** May change while the service runs. */
  const hosts = {
    get baseUrl() {
      return baseUrl()
    },
    bounceDomain: config.BOUNCE_DOMAIN,
  }
  const policy = createSenderPolicy({
    isEnforced: config.REQUIRE_VERIFIED_DOMAINS,
    allowedDomains: config.ALLOWED_SENDER_DOMAINS,
    defaultSender: mailFrom.email,
    dkimDomain: dkim?.domain,
  })
  const connector = new Connector({ db, box: mailServerBox(secrets), egress: base.egress })
  const servers = createServers(base, options, { relay, connector, onOutcome })
  return {
    relay,
    dkim,
    mailFrom,
    hosts,
    policy,
    connector,
    servers,
    senders: new Senders({ db, policy, dkim, box: domainKeyBox(secrets), hosts, defaultSender: mailFrom }),
    limits: new SendingLimits(db, stageRegistry),
    sites: new ReceivingSites(db, new SiteLookup(db, stageRegistry, openCachedDns(config.DNS_SERVERS))),
    close: async () => {
      connector.close()
      await servers.close()
    },
  }
}

type OnOutcome = ReturnType<typeof countOutcomes>

/** The mail server of SMTP_URL, if it is set. */
function openInstallationRelay(
  { config: { SMTP_URL: url, SMTP_CONNECTIONS: all }, log }: Base,
  { onRelayState, connectionPart = allConnections }: DeliveryBaseOptions,
  onOutcome: OnOutcome,
): Transport | undefined {
  const report = reportRelay(log)
  const onState = (state: RelayState) => {
    report(state)
    onRelayState?.(state)
  }
  const connections = connectionsOf(all, connectionPart)
  return url ? openRelay(url, { connections, onState, onOutcome }) : undefined
}

function createServers(
  { config, db, log, secrets }: Base,
  { connectionPart = allConnections, onMailServerChange: onChange }: DeliveryBaseOptions,
  { relay, connector, onOutcome }: { relay: Transport | undefined; connector: Connector; onOutcome: OnOutcome },
): MailServers {
  const opening = { box: mailServerBox(secrets), connector }
  return new MailServers({
    db,
    relay,
    relayConnections: config.SMTP_CONNECTIONS,
    relayHost: config.SMTP_URL && parseSmtpUrl(config.SMTP_URL).host,
    shapeByReceiver: config.SMTP_SHAPING,
    connectionPart,
    open: (row, connections, onState) => openMailServer(opening, row, { connections, onState, onOutcome }),
    onState: (row, state) => void recordState({ db, log, onChange }, row, state),
  })
}

/** Emails in flight at once while they are only stored in the inbox. */
const inboxInFlightMax = 500

export const inFlightMaxOf = ({ relay }: Pick<DeliveryBase, 'relay'>): number => relay?.capacity() ?? inboxInFlightMax
