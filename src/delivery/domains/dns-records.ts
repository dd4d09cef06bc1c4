import { type MxRecord, NODATA, NOTFOUND } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isLoopback } from '@waxwing/smtp-client'
import { isPublicAddress } from '../../platform/egress/addresses.ts'
import { domainOfAddress } from '../../platform/values/domain.ts'
import { storableText } from '../../platform/values/text.ts'
import { type DkimSigner, dnsRecord } from '../dkim/dkim.ts'

const queryTimeoutMs = 2_000
const queryTries = 2
const lookUpWithinMs = 8_000
/** A domain without a DMARC policy inherits the policy of its parent domain. */
const policyStepsMax = 4
const foundCharsMax = 2_000

type Purpose = 'SPF' | 'DKIM' | 'DMARC' | 'bounces'
/** A DNS record that authenticates email or receives bounces. */
export type RecordToSet = { type: 'TXT' | 'MX'; name: string; value: string; purpose: Purpose }
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
    records.push({ type: 'TXT', name: `_dmarc.${domain}`, value: 'v=DMARC1; p=none', purpose: 'DMARC' })
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

/** Looks up all records in parallel. */
export async function lookUpRecords(
  records: readonly RecordToSet[],
  servers?: readonly string[],
): Promise<RecordState[]> {
  const resolver = new Resolver({ timeout: queryTimeoutMs, tries: queryTries })
  if (servers) resolver.setServers(servers)
  const timer = setTimeout(() => resolver.cancel(), lookUpWithinMs)
  try {
    return await Promise.all(records.map((record) => lookUpRecord(resolver, record)))
  } finally {
    clearTimeout(timer)
  }
}

async function lookUpRecord(resolver: Resolver, record: RecordToSet): Promise<RecordState> {
  try {
    const values = await valuesOf(resolver, record)
    if (values.length === 0) return { status: 'missing', found: null }
    const status = isSet[record.purpose](record.value, values) ? 'found' : 'different'
    return { status, found: storableText(values.join(' / '), foundCharsMax) }
  } catch {
    return unchecked
  }
}

/** Returns the published values for this purpose. */
async function valuesOf(resolver: Resolver, { name, purpose }: RecordToSet): Promise<string[]> {
  switch (purpose) {
    case 'SPF':
      return (await texts(resolver, name)).filter((text) => /^v=spf1(\s|$)/i.test(text))
    case 'DKIM':
      return (await texts(resolver, name)).filter((text) => /\bp\s*=/i.test(text))
    case 'DMARC':
      return policies(resolver, name.slice('_dmarc.'.length))
    case 'bounces':
      return (await orNone(resolver.resolveMx(name))).map(mxText)
  }
}

async function policies(resolver: Resolver, domain: string): Promise<string[]> {
  const labels = domain.split('.')
  for (let step = 0; step < policyStepsMax && labels.length - step >= 2; step++) {
    const found = await texts(resolver, `_dmarc.${labels.slice(step).join('.')}`)
    const here = found.filter((text) => /^v=DMARC1\s*(;|$)/i.test(text))
    if (here.length > 0) return here
  }
  return []
}

const texts = async (resolver: Resolver, name: string) =>
  (await orNone(resolver.resolveTxt(name))).map((parts) => parts.join(''))

const mxText = ({ priority, exchange }: MxRecord) => `${priority} ${exchange.toLowerCase()}`

async function orNone<Item>(answer: Promise<Item[]>): Promise<Item[]> {
  try {
    return await answer
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === NOTFOUND || code === NODATA) return []
    throw error
  }
}

/** Returns true if the published values fulfil the purpose. Receivers ignore SPF and DMARC if there are two records. */
const isSet: Record<Purpose, (wanted: string, found: string[]) => boolean> = {
  SPF: (wanted, found) => found.length === 1 && spfTerms(found[0]!).includes(spfTerms(wanted)[1]!),
  DKIM: (wanted, found) => found.some((text) => publicKey(text) === publicKey(wanted)),
  DMARC: (_wanted, found) => found.length === 1 && /;\s*p\s*=\s*(none|quarantine|reject)\b/i.test(found[0]!),
  bounces: (wanted, found) => found.some((text) => text.split(' ')[1] === wanted.split(' ')[1]!.toLowerCase()),
}

const spfTerms = (text: string) => text.toLowerCase().replaceAll(' +', ' ').split(/\s+/)
const publicKey = (text: string) => /(?:^|;)\s*p\s*=([^;]*)/i.exec(text)?.[1]?.replace(/\s+/g, '')
