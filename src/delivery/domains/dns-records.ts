import { isIP } from 'node:net'
import { isLoopback } from '@waxwing/smtp-client'
import { isPublicAddress } from '../../platform/egress/addresses.ts'
import { domainOfAddress } from '../../platform/values/domain.ts'
import { type DkimSigner, dnsRecord } from '../dkim/dkim.ts'
import { openCachedDns } from './dns.ts'
import { lookUp, noDmarcPolicy, wantedRecord } from './record-purposes.ts'
import { mechanismsOf } from './spf.ts'

/** The names in the API. */
const purposeOf = { SPF: 'spf', DKIM: 'dkim', DMARC: 'dmarc', bounces: 'bounces' } as const
/** A DNS record that authenticates email or receives bounces. */
export type RecordToSet = { type: 'TXT' | 'MX'; name: string; value: string; purpose: keyof typeof purposeOf }
/** The status is also `unchecked` if the name servers did not answer. */
export type RecordState = { status: 'unchecked' | 'found' | 'missing' | 'different'; found: string | null }

export const unchecked: RecordState = { status: 'unchecked', found: null }

export type MailSetup = {
  sender: string
  bounceDomain: string | undefined
  /** The host name of BASE_URL, which also receives the bounces. */
  host: string
  relayHost: string | undefined
  dkim: DkimSigner | undefined
}

export function recordsToSet({ sender, bounceDomain, host, relayHost, dkim }: MailSetup): RecordToSet[] {
  const domain = domainOfAddress(sender)
  // SPF applies to the envelope sender, DMARC to the From address.
  const envelopeDomain = bounceDomain ?? domain
  const source = relayHost && spfSource(relayHost, host)
  const records: RecordToSet[] = []
  if (source && isPublicName(envelopeDomain))
    records.push({ type: 'TXT', name: envelopeDomain, value: `v=spf1 ${source} ~all`, purpose: 'SPF' })
  if (dkim) records.push({ ...dnsRecord(dkim), purpose: 'DKIM' })
  if (isPublicName(domain))
    records.push({ type: 'TXT', name: `_dmarc.${domain}`, value: noDmarcPolicy, purpose: 'DMARC' })
  if (bounceDomain && isPublishable(host))
    records.push({ type: 'MX', name: bounceDomain, value: `10 ${host}`, purpose: 'bounces' })
  return records
}

const isPublicName = (name: string) => name.includes('.') && isIP(name) === 0 && !/(^|\.)localhost$/.test(name)

/** Whether other people can reach a host by its name or address, so that records with it make sense. */
export const isPublishable = (host: string): boolean => (isIP(host) ? isPublicAddress(host) : isPublicName(host))

/**
 * Providers send from other hosts than the one that accepts email, and publish them for SPF. Null: only for their own domain,
 * which is then the envelope sender, or not known.
 */
const providers: [relay: RegExp, source: string | null][] = [
  [/(^|\.)amazonaws\.com$/, 'include:amazonses.com'],
  [/(^|\.)sendgrid\.net$/, 'include:sendgrid.net'],
  [/(^|\.)mailgun\.org$/, 'include:mailgun.org'],
  [/(^|\.)postmarkapp\.com$/, 'include:spf.mtasv.net'],
  [/(^|\.)(gmail|google)\.com$/, 'include:_spf.google.com'],
  [/(^|\.)(office365|outlook)\.com$/, 'include:spf.protection.outlook.com'],
  [/(^|\.)(brevo|sendinblue)\.com$/, 'include:spf.brevo.com'],
  [/(^|\.)mailjet\.com$/, 'include:spf.mailjet.com'],
  [/(^|\.)smtp2go\.com$/, 'include:spf.smtp2go.com'],
  [/(^|\.)resend\.com$/, 'include:amazonses.com'],
  [/(^|\.)tem\.scaleway\.com$/, 'include:_spf.tem.scaleway.com'],
  [/(^|\.)mailersend\.net$/, 'include:_spf.mailersend.net'],
  [/(^|\.)elasticemail\.com$/, 'include:_spf.elasticemail.com'],
  [/(^|\.)smtp\.mailtrap\.io$/, 'include:_spf.smtp.mailtrap.live'],
  [/(^|\.)mandrillapp\.com$/, 'include:spf.mandrillapp.com'],
  [/(^|\.)fastmail\.com$/, 'include:spf.messagingengine.com'],
  [/(^|\.)zoho\.com$/, 'include:zohomail.com'],
  [/(^|\.)eu\.sparkpostmail\.com$/, null],
  [/(^|\.)sparkpostmail\.com$/, 'include:sparkpostmail.com'],
  [/(^|\.)(zoho\.eu|zeptomail\.(com|eu|in))$/, null],
]

/** Returns undefined if there is no public host or address to authorize. */
export function spfSource(relayHost: string, ownHost: string): string | undefined {
  const provider = providers.find(([pattern]) => pattern.test(relayHost.toLowerCase()))
  if (provider) return provider[1] ?? undefined
  const machine = isLoopback(relayHost) ? ownHost : relayHost
  const family = isIP(machine)
  if (!isPublishable(machine)) return undefined
  return family === 0 ? `a:${machine}` : `ip${family}:${machine}`
}

const statuses = { ok: 'found', missing: 'missing', wrong: 'different', unknown: 'unchecked' } as const

/** Looks up all records in parallel. */
export async function lookUpRecords(
  records: readonly RecordToSet[],
  servers?: readonly string[],
): Promise<RecordState[]> {
  const { ask, cancel } = openCachedDns(servers)
  const wanted = records.map(({ purpose, name, value }) => wantedRecord(purposeOf[purpose], name, value))
  const spfSources = wanted.filter(({ purpose }) => purpose === 'spf').flatMap(({ value }) => mechanismsOf(value))
  const checks = await lookUp({ ask, askOther: ask, cancel }, wanted, { spfSources })
  return checks.map(({ status, found }) => ({ status: statuses[status], found }))
}
