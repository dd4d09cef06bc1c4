import { isIP } from 'node:net'
import { type DnsAnswer, type DomainDns, mailHostOf } from './dns.ts'
import type { RecordCheck } from './domain.ts'
import { type Expected, foundCheck, notFound, type WantedRecord } from './record-checks.ts'

/**
 * Checks that a name leads to our host: as an alias of it, or with its addresses, since some name servers publish the
 * addresses of the target instead of an alias.
 */
export async function checkTrackingHost(dns: DomainDns, record: WantedRecord): Promise<RecordCheck> {
  const { name, value: host } = record
  const alias = await dns.ask(name, 'CNAME')
  if (alias.kind === 'unanswered' || (alias.kind === 'none' && !alias.nameExists)) return notFound(record, alias)
  if (alias.kind === 'found' && alias.values.includes(host)) return foundCheck(alias.values, null)
  const published = await addressesOf(dns.ask, name)
  if (published.kind === 'unanswered') return notFound(record, published)
  if (published.kind === 'none')
    return alias.kind === 'found'
      ? foundCheck(alias.values, `The name points to another host than ${host}.`)
      : notFound(record, published)
  const expected = isIP(host) === 0 ? await addressesOf(dns.askOther, host) : found([host])
  if (expected.kind === 'unanswered') return notFound(record, expected)
  const addresses = new Set(expected.kind === 'found' ? expected.values : [])
  if (published.values.every((address) => addresses.has(address))) return foundCheck(published.values, null)
  return alias.kind === 'found'
    ? foundCheck(alias.values, `The name points to another host than ${host}.`)
    : foundCheck(
        published.values,
        `The name has other addresses than ${host}. If your DNS provider proxies it, turn the proxy off for this name.`,
      )
}

type Ask = (name: string, type: 'A' | 'AAAA') => Promise<DnsAnswer>

/** Returns the addresses of both kinds. Without one of the answers, nothing is known. */
async function addressesOf(ask: Ask, name: string): Promise<DnsAnswer> {
  const [ipv4, ipv6] = await Promise.all([ask(name, 'A'), ask(name, 'AAAA')])
  if (ipv4.kind === 'unanswered') return ipv4
  if (ipv6.kind === 'unanswered') return ipv6
  const values = [ipv4, ipv6].flatMap((answer) => (answer.kind === 'found' ? answer.values : []))
  return values.length > 0 ? found(values) : ipv4
}

const found = (values: string[]): DnsAnswer => ({ kind: 'found', values })

/**
 * Checks that bounces reach us first: the preferred MX record names our host, or the one that receives email for
 * `bounceDomain`, which may forward it to us.
 */
export async function checkReturnPath(
  dns: DomainDns,
  record: WantedRecord,
  { bounceDomain }: Expected,
): Promise<RecordCheck> {
  const published = await dns.ask(record.name, 'MX')
  if (published.kind !== 'found') return notFound(record, published)
  const host = mailHostOf(record.value)
  const hosts = published.values.map(mailHostOf)
  const preferred = hosts[0]!
  if (preferred === host) return foundCheck(hosts, null)
  const usual = bounceDomain === undefined ? undefined : await dns.askOther(bounceDomain, 'MX')
  if (usual?.kind === 'unanswered') return notFound(record, usual)
  const isUsual = usual?.kind === 'found' && usual.values.map(mailHostOf).includes(preferred)
  return foundCheck(hosts, isUsual ? null : `Bounces go to ${preferred || 'no host'} instead of ${host}.`)
}
