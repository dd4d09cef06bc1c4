import { isOnlyHere, type Senders } from '../../delivery/delivery.ts'
import { domainOfAddress, hostOf } from '../../platform/values/domain.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import type { Finding } from './email-checks.ts'

export const blockerCodes = ['unreachable_links', 'sender_not_verified', 'no_postal_address'] as const

/** What makes an email useless or unlawful for its recipients. It does not prevent sending. */
export type Blocker = { code: (typeof blockerCodes)[number]; message: string }

export type EmailToJudge = {
  organizationId: OrganizationId
  /** Of each variant. Null is the default sender. */
  fromEmails: readonly (string | null)[]
  findings: readonly Finding[]
}

/** Finds them for the senders and hosts that would be used now. The only place that decides what a blocker is. */
export async function findBlockers(
  senders: Pick<Senders, 'defaultOf' | 'identityOf'>,
  { organizationId, fromEmails, findings }: EmailToJudge,
): Promise<Blocker[]> {
  const links = new Set<string>()
  const addresses = new Set<string>()
  for (const fromEmail of new Set(fromEmails)) {
    const address = fromEmail ?? (await senders.defaultOf(organizationId)).email
    const { hosts, isTrusted } = await senders.identityOf(organizationId, address)
    if (isOnlyHere(hostOf(new URL(hosts.baseUrl)))) links.add(unreachable(hosts.baseUrl))
    if (isOnlyHere(domainOfAddress(address))) addresses.add(rejected(address))
    else if (!isTrusted) addresses.add(unverified(domainOfAddress(address)))
  }
  const postal = findings.find(({ check }) => check === 'postal_address')
  return [
    ...[...links].map((message) => ({ code: 'unreachable_links' as const, message })),
    ...[...addresses].map((message) => ({ code: 'sender_not_verified' as const, message })),
    ...(postal ? [{ code: 'no_postal_address' as const, message: `${postal.problem} ${postal.advice}` }] : []),
  ]
}

const unreachable = (baseUrl: string) =>
  `Links, images and the unsubscribe link start with ${baseUrl}, which other people cannot open. Set the public address in Setup.`
const rejected = (address: string) =>
  `The email leaves as ${address}, which receivers reject. Choose a sender of a verified domain.`
const unverified = (domain: string) =>
  `${domain} is not verified, so receivers may reject the email. Verify it, or choose a sender of a verified domain.`
