import { type Member, personMay } from '../../accounts/accounts.ts'
import { getBrand } from '../../content/content.ts'
import {
  type DkimSigner,
  type DomainParts,
  findReportingServer,
  findServerStates,
  listDomains,
  type MailServers,
  type OpenServer,
  type SenderPolicy,
  type Senders,
  type ServerState,
  withCurrentChecks,
} from '../../delivery/delivery.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { PublicAddress } from '../../platform/installation/public-address.ts'
import { domainOfAddress } from '../../platform/values/domain.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import { newId } from '../../platform/values/ids.ts'
import { demoDomain } from '../../platform/values/simulated-recipients.ts'
import { inboxReply } from '../../sending/sending.ts'
import { findRealEmail } from './recent-emails.sql.ts'
import { findSendingQueue } from './sending-status.sql.ts'
import type { Health, SendingStatus } from './sending-status.ts'
import type { SetupFacts } from './setup-steps.ts'

export type SetupParts = Pick<DomainParts, 'spfSources'> & {
  read: BoundedRead
  sending: SendingStatus
  dkim: DkimSigner | undefined
  policy: SenderPolicy
  senders: Senders
  servers: MailServers
  publicAddress: PublicAddress
  bounceDomain: string | undefined
  bounceProviders: readonly string[]
}

/** Reads what is used for the email of an organization. Everything is bounded, because the web app asks every few seconds. */
export async function findSetup(parts: SetupParts, member: Member): Promise<SetupFacts> {
  const { read, sending, dkim, policy, senders, servers, publicAddress } = parts
  const { organizationId } = member
  // Before the read, because they use other connections.
  const sender = await senders.defaultOf(organizationId)
  await servers.load(organizationId)
  const carriersOf = (flowKind: FlowKind) =>
    servers.serversFor({ organizationId, id: newId('msg'), flowKind, mailServerId: null }, sender.email)
  const carriers = { transactional: carriersOf('transactional'), marketing: carriersOf('marketing') }
  const found = await read(organizationId, async (db) => ({
    states: await findServerStates(db, organizationId),
    reportingServer: await findReportingServer(db, organizationId),
    domains: await listDomains(db, organizationId),
    brand: await getBrand(db, organizationId),
    realEmail: await findRealEmail(db, organizationId, { reply: inboxReply, domain: demoDomain }),
    queue: await findSendingQueue(db, organizationId, 1),
  }))
  const signs = dkim && policy.signs(sender.email) && isWithin(domainOfAddress(sender.email), dkim.domain)
  return {
    isOperator: personMay(member, 'installation:read'),
    servers: found.states,
    leaves: { transactional: carriers.transactional !== undefined, marketing: carriers.marketing !== undefined },
    health: healthOf(found.states) ?? downOf(carriers.transactional) ?? sending.health(found.queue),
    carrier: carriers.transactional?.[0]?.name,
    domains: await Promise.all(found.domains.map((domain) => withCurrentChecks(parts, domain))),
    sender,
    installationSigns: signs ? dkim.domain : undefined,
    baseUrl: { url: publicAddress.url, source: publicAddress.source },
    records: sending.records,
    bounceDomain: parts.bounceDomain,
    bounceProviders: parts.bounceProviders,
    reportingServer: found.reportingServer,
    hasPostalAddress: (found.brand?.postalAddress ?? null) !== null,
    realEmail: found.realEmail,
  }
}

/** Undefined unless all mail servers of the installation are down. */
function downOf(carriers: readonly OpenServer[] = []): Health | undefined {
  const states = carriers.map((server) => server.state())
  const [first] = states
  if (first?.kind !== 'down' || states.some(({ kind }) => kind === 'up')) return undefined
  return { state: 'failing', lastError: first.reason, nextTryAt: first.nextTryAt }
}

const isWithin = (name: string, domain: string) => name === domain || name.endsWith(`.${domain}`)

/** Of the mail servers of an organization, which can send while one of them works. Undefined if it has none. */
export function healthOf(states: readonly ServerState[]): Health | undefined {
  if (states.length === 0) return undefined
  if (states.some(({ status }) => status === 'working')) return { state: 'ok', lastError: null, nextTryAt: null }
  const failing = states.filter(({ status }) => status === 'failing')
  if (failing.length < states.length) return { state: 'unknown', lastError: null, nextTryAt: null }
  const [first] = failing
  return { state: 'failing', lastError: `${first!.name}: ${first!.failure}`, nextTryAt: first!.nextTryAt }
}
