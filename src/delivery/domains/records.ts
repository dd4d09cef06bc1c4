import { isIP } from 'node:net'
import { getDomain } from 'tldts'
import { isPublishable } from './dns-records.ts'
import { type Domain, type DomainPurpose, type RecordKey, returnPathHostOf, trackingHostOf } from './domain.ts'
import type { WantedRecord } from './record-checks.ts'
import { noDmarcPolicy, wantedRecord } from './record-purposes.ts'
import { mergedSpf, publishedSpf } from './spf.ts'

export type DomainRecord = WantedRecord<DomainPurpose> & { key: RecordKey }

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
export function recordsOf(domain: Domain, hosts: DomainHosts, spfSources: readonly string[]): DomainRecord[] {
  const { name, nextSelector, nextDkimPublicKey } = domain
  // Receivers check SPF for the domain of the envelope sender.
  const envelopeDomain = hosts.bounceDomain ? returnPathHostOf(domain) : name
  const dkim = (selector: string, key: string) => wantedRecord('dkim', `${selector}._domainkey.${name}`, dkimValue(key))
  const records: (WantedRecord<DomainPurpose> | DomainRecord | false)[] = [
    wantedRecord('ownership', `_waxwing.${name}`, ownershipValue(domain.ownershipToken)),
    dkim(domain.selector, domain.dkimPublicKey),
    nextSelector !== null &&
      nextDkimPublicKey !== null && { ...dkim(nextSelector, nextDkimPublicKey), key: 'next_dkim', required: false },
    spfSources.length > 0 &&
      wantedRecord('spf', envelopeDomain, mergedSpf(publishedSpf(domain.checks.spf?.found), spfSources)),
    wantedRecord('dmarc', `_dmarc.${name}`, noDmarcPolicy),
    ...hostRecordsOf(domain, hosts),
  ]
  return records.filter((record) => record !== false).map((record) => ({ key: record.purpose, ...record }))
}

/** A host of the installation needs no record. */
function hostRecordsOf(domain: Domain, { host, bounceDomain }: DomainHosts) {
  if (!isPublishable(host)) return []
  const [returnPath, tracking] = [returnPathHostOf(domain), trackingHostOf(domain)]
  return [
    bounceDomain !== undefined &&
      returnPath !== bounceDomain &&
      wantedRecord('return_path', returnPath, `10 ${isIP(host) === 0 ? host : bounceDomain}`),
    tracking !== host && wantedRecord('tracking', tracking, host),
  ]
}

/**
 * Returns the name as most DNS panels want it: without the domain that was registered, and `@` for that domain itself.
 */
export function relativeName(name: string): string {
  const registered = getDomain(name, { allowPrivateDomains: true, validateHostname: false })
  if (!registered) return name
  return name === registered ? '@' : name.slice(0, -registered.length - 1)
}
