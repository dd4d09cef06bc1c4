import { checkReturnPath, checkTrackingHost } from './check-hosts.ts'
import type { Dns, DnsAnswer, DomainDns } from './dns.ts'
import type { Checks, Domain, RecordCheck } from './domain.ts'
import { foundCheck, notFound } from './record-checks.ts'
import { type DomainHosts, recordsOf, type WantedRecord } from './records.ts'
import { publishedSpf, spfProblem } from './spf.ts'

const checkMsMax = 10_000
/** A domain without a DMARC policy inherits that of its parent domain. */
const policyStepsMax = 4

/** Looks up all records of a domain. Never throws. */
export async function checkRecords(
  dns: DomainDns,
  domain: Domain,
  hosts: DomainHosts,
  spfSources: readonly string[],
): Promise<Checks> {
  const timer = setTimeout(() => dns.cancel(), checkMsMax)
  try {
    const checked = await Promise.all(
      recordsOf(domain, hosts, spfSources).map(
        async (record) => [record.key, await checkRecord(dns, record, { ...hosts, spfSources })] as const,
      ),
    )
    return Object.fromEntries(checked) as Checks
  } finally {
    clearTimeout(timer)
  }
}

export const notChecked: RecordCheck = { status: 'unknown', found: null, detail: 'Not checked yet.' }

/** Returns the stored checks. That of SPF is repeated, because mail servers may have been added or deleted since. */
export function checksOf({ checks: { spf = notChecked, ...checks } }: Domain, spfSources: readonly string[]): Checks {
  if (spfSources.length === 0) return checks
  const published = publishedSpf(spf.found)
  if (published.length === 0) return { ...checks, spf }
  return { ...checks, spf: foundCheck(published, spfProblem(published, spfSources)) }
}

type Expected = DomainHosts & { spfSources: readonly string[] }

function checkRecord(
  dns: DomainDns,
  record: WantedRecord,
  { bounceDomain, spfSources }: Expected,
): Promise<RecordCheck> {
  switch (record.key) {
    case 'tracking':
      return checkTrackingHost(dns, record)
    case 'return_path':
      return checkReturnPath(dns, record, bounceDomain)
    case 'spf':
      return checkText(dns, record, { ask: askSpf, judge: (_wanted, found) => spfProblem(found, spfSources) })
    default:
      return checkText(dns, record, checks[record.key])
  }
}

async function checkText(dns: Dns, record: WantedRecord, { ask, judge }: Check): Promise<RecordCheck> {
  const answer = await ask(dns, record)
  return answer.kind === 'found' ? foundCheck(answer.values, judge(record, answer.values)) : notFound(record, answer)
}

type Check = {
  ask: (dns: Dns, record: WantedRecord) => Promise<DnsAnswer>
  /** Returns null if the published values fulfil the purpose, or else what is wrong with them. */
  judge: (wanted: WantedRecord, found: string[]) => string | null
}

const askTexts =
  (isRelevant: (text: string) => boolean) =>
  async (dns: Dns, { name }: WantedRecord) =>
    only(await dns.ask(name, 'TXT'), isRelevant)

/** Other records of the same name are not looked at. */
function only(answer: DnsAnswer, isRelevant: (text: string) => boolean): DnsAnswer {
  if (answer.kind !== 'found') return answer
  const values = answer.values.map(unquoted).filter(isRelevant)
  return values.length > 0 ? { kind: 'found', values } : { kind: 'none', nameExists: true }
}

/** Some panels publish the quotes that were typed around a value. */
const unquoted = (text: string) =>
  text
    .trim()
    .replace(/^"(.*)"$/s, '$1')
    .replaceAll('" "', '')

const dkimCheck: Check = {
  ask: askTexts((text) => /(^|;)\s*p\s*=/i.test(text)),
  judge: (wanted, found) => {
    const keys = found.map((text) => tagOf(text, 'p'))
    if (keys.includes(tagOf(wanted.value, 'p'))) return null
    if (keys.every((key) => key === '')) return 'The key was revoked: the record has an empty p=.'
    return 'The record has another key. Copy the whole value; it may be cut off.'
  },
}

const askSpf = askTexts((text) => /^v=spf1(\s|$)/i.test(text))

const checks: Record<'ownership' | 'dkim' | 'next_dkim' | 'dmarc', Check> = {
  ownership: {
    ask: askTexts((text) => text.startsWith('waxwing-domain-verification=')),
    judge: ({ value }, found) =>
      found.includes(value) ? null : 'Found a different value. Replace it with the value given here.',
  },
  dkim: dkimCheck,
  next_dkim: dkimCheck,
  dmarc: {
    ask: async (dns, { name }) => {
      const labels = name.slice('_dmarc.'.length).split('.')
      let answer: DnsAnswer = { kind: 'none', nameExists: false }
      for (let step = 0; step < policyStepsMax && labels.length - step >= 2; step++) {
        const at = await dns.ask(`_dmarc.${labels.slice(step).join('.')}`, 'TXT')
        answer = only(at, (text) => /^v=DMARC1\s*(;|$)/i.test(text))
        if (answer.kind !== 'none') return answer
      }
      return answer
    },
    judge: (_wanted, found) => {
      if (found.length > 1) return 'There are several DMARC records. Receivers then ignore all of them; keep one.'
      return ['none', 'quarantine', 'reject'].includes(tagOf(found[0]!, 'p')?.toLowerCase() ?? '')
        ? null
        : 'The record has no policy. Add p=none, p=quarantine or p=reject.'
    },
  },
}

/** Returns the value of a tag such as `p`, without white space. */
const tagOf = (text: string, tag: string) =>
  text
    .split(';')
    .map((part) => part.split('='))
    .find(([name]) => name!.trim().toLowerCase() === tag)
    ?.slice(1)
    .join('=')
    .replace(/\s+/g, '')
