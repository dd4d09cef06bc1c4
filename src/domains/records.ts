import { isIPv4 } from 'node:net'
import { getDomain } from 'tldts'
import type { Domain, RecordKey, RecordPurpose } from './domain.ts'

/** A DNS record that the owner of a domain should publish. */
export type WantedRecord = {
  key: RecordKey
  purpose: RecordPurpose
  type: 'TXT'
  name: string
  value: string
  /** Whether the domain is verified only if it is published. */
  required: boolean
}

export type DomainHosts = {
  /** The host of this installation. */
  host: string
  /** The mechanism of SPF that allows the mail server, such as `include:amazonses.com`. Undefined if it is not known. */
  spfSource: string | undefined
}

export const ownershipValue = (token: string) => `waxwing-domain-verification=${token}`
export const dkimValue = (publicKey: string) => `v=DKIM1; k=rsa; p=${publicKey}`

export function recordsOf(domain: Domain, { host, spfSource }: DomainHosts): WantedRecord[] {
  const { name } = domain
  const dkim = (selector: string, publicKey: string) =>
    ({ purpose: 'dkim', type: 'TXT', name: `${selector}._domainkey.${name}`, value: dkimValue(publicKey) }) as const
  const spf = `v=spf1 ${spfSource ?? (isIPv4(host) ? `ip4:${host}` : `a:${host}`)} ~all`
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
    { key: 'spf', purpose: 'spf', type: 'TXT', name, value: spf, required: false },
    { key: 'dmarc', purpose: 'dmarc', type: 'TXT', name: `_dmarc.${name}`, value: 'v=DMARC1; p=none', required: false },
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
