import type { DomainDns } from './dns.ts'
import type { Checks, Domain, RecordCheck } from './domain.ts'
import { foundCheck } from './record-checks.ts'
import { lookUp } from './record-purposes.ts'
import { type DomainHosts, recordsOf } from './records.ts'
import { publishedSpf, spfProblem } from './spf.ts'

/** Looks up all records of a domain. Never throws. */
export async function checkRecords(
  dns: DomainDns,
  domain: Domain,
  hosts: DomainHosts,
  spfSources: readonly string[],
): Promise<Checks> {
  const records = recordsOf(domain, hosts, spfSources)
  const checks = await lookUp(dns, records, { ...hosts, spfSources })
  return Object.fromEntries(records.map(({ key }, index) => [key, checks[index]!]))
}

export const notChecked: RecordCheck = { status: 'unknown', found: null, detail: 'Not checked yet.' }

/** Returns the stored checks. That of SPF is repeated, because mail servers may have been added or deleted since. */
export function checksOf({ checks: { spf = notChecked, ...checks } }: Domain, spfSources: readonly string[]): Checks {
  if (spfSources.length === 0) return checks
  const published = publishedSpf(spf.found)
  if (published.length === 0) return { ...checks, spf }
  return { ...checks, spf: foundCheck(published, spfProblem(published, spfSources)) }
}
