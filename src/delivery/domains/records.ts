import { isIP } from 'node:net'
import { getDomain } from 'tldts'
import { isPublishable } from './dns-records.ts'
import { type Domain, type RecordKey, type RecordPurpose, returnPathHostOf, trackingHostOf } from './domain.ts'
import { mergedSpf, publishedSpf } from './spf.ts'

/** A DNS record that the owner of a domain should publish. */
export type WantedRecord = {
  key: RecordKey
  purpose: RecordPurpose
  type: 'TXT' | 'MX' | 'CNAME' | 'A' | 'AAAA'
  name: string
  value: string
  /** Whether the domain is verified only if it is published. */
  required: boolean
}

export type DomainHosts = {
  /** The host of this installation. */
  host: string
  /** The domain that receives bounces; undefined if none are received. */
  bounceDomain: string | undefined
}

export const ownershipValue = (token: string) => `waxwing-domain-verification=${token}`
export const dkimValue = (publicKey: string) => `v=DKIM1; k=rsa; p=${publicKey}`

/**
 * Returns the records to publish. `spfSources` are the mechanisms of SPF that allow the mail servers of the domain, such as
 * `include:amazonses.com`; without any, and for hosts that others cannot reach, there is nothing to publish.
 */
export function recordsOf(domain: Domain, hosts: DomainHosts, spfSources: readonly string[]): WantedRecord[] {
  const { name } = domain
  const { bounceDomain } = hosts
  const dkim = (selector: string, publicKey: string) =>
    ({ purpose: 'dkim', type: 'TXT', name: `${selector}._domainkey.${name}`, value: dkimValue(publicKey) }) as const
  return [
    {
      key: 'ownership',
      purpose: 'ownership',
      type: 'TXT',
      name: `_waxwing.${name}`,
      value: ownershipValue(domain.ownershipToken),
      required: true,
    },
    { key: 'dkim', ...dkim(domain.selector, domain.dkimPublicKey), required: true },
    ...(domain.nextSelector && domain.nextDkimPublicKey
      ? [{ key: 'next_dkim', ...dkim(domain.nextSelector, domain.nextDkimPublicKey), required: false } as const]
      : []),
    ...(spfSources.length > 0
      ? [
          {
            key: 'spf',
            purpose: 'spf',
            type: 'TXT',
            // Receivers check SPF for the domain of the envelope sender.
            name: bounceDomain ? returnPathHostOf(domain) : name,
            value: mergedSpf(publishedSpf(domain.checks.spf?.found), spfSources),
            required: false,
          } as const,
        ]
      : []),
    { key: 'dmarc', purpose: 'dmarc', type: 'TXT', name: `_dmarc.${name}`, value: 'v=DMARC1; p=none', required: false },
    ...hostRecordsOf(domain, hosts),
  ]
}

/** A host of the installation needs no record. */
function hostRecordsOf(domain: Domain, { host, bounceDomain }: DomainHosts): WantedRecord[] {
  if (!isPublishable(host)) return []
  const [returnPath, tracking] = [returnPathHostOf(domain), trackingHostOf(domain)]
  const records: (WantedRecord | false)[] = [
    bounceDomain !== undefined &&
      returnPath !== bounceDomain && {
        key: 'return_path',
        purpose: 'return_path',
        type: 'MX',
        name: returnPath,
        value: `10 ${isIP(host) === 0 ? host : bounceDomain}`,
        required: false,
      },
    tracking !== host && {
      key: 'tracking',
      purpose: 'tracking',
      // There are no aliases of addresses.
      type: ({ 0: 'CNAME', 4: 'A', 6: 'AAAA' } as const)[isIP(host) as 0 | 4 | 6],
      name: tracking,
      value: host,
      required: false,
    },
  ]
  return records.filter((record) => record !== false)
}

/**
 * Returns the name as most DNS panels want it: without the domain that was registered, and `@` for that domain itself.
 */
export function relativeName(name: string): string {
  const registered = getDomain(name, { allowPrivateDomains: true, validateHostname: false })
  if (!registered) return name
  return name === registered ? '@' : name.slice(0, -registered.length - 1)
}
