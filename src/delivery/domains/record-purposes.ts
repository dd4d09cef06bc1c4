import { isIP } from 'node:net'
import { checkReturnPath, checkTrackingHost } from './check-hosts.ts'
import { type Dns, type DnsAnswer, type DomainDns, mailHostOf, type RecordType } from './dns.ts'
import type { RecordCheck } from './domain.ts'
import { type Expected, foundCheck, notFound, type RecordPurpose, type WantedRecord } from './record-checks.ts'
import { spfProblem } from './spf.ts'

type Purpose = {
  type: (value: string) => RecordType
  required: boolean
  /** Looks up the record. Never throws. */
  check: (dns: DomainDns, record: WantedRecord, expected: Expected) => Promise<RecordCheck>
}

type Ask = (dns: Dns, record: WantedRecord) => Promise<DnsAnswer>
/** Returns null if the published values fulfil the purpose, or else what is wrong with them. */
type Judge = (wanted: WantedRecord, found: string[], expected: Expected) => string | null

const published =
  (ask: Ask, judge: Judge): Purpose['check'] =>
  async (dns, record, expected) => {
    const answer = await ask(dns, record)
    return answer.kind === 'found'
      ? foundCheck(answer.values, judge(record, answer.values, expected))
      : notFound(record, answer)
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

/** A domain without a DMARC policy inherits that of its parent domain. */
const policyStepsMax = 4

const askPolicy: Ask = async (dns, { name }) => {
  const labels = name.slice('_dmarc.'.length).split('.')
  let answer: DnsAnswer = { kind: 'none', nameExists: false }
  for (let step = 0; step < policyStepsMax && labels.length - step >= 2; step++) {
    const at = await dns.ask(`_dmarc.${labels.slice(step).join('.')}`, 'TXT')
    answer = only(at, (text) => /^v=DMARC1\s*(;|$)/i.test(text))
    if (answer.kind !== 'none') return answer
  }
  return answer
}

const dkimProblem: Judge = (wanted, found) => {
  const keys = found.map((text) => tagOf(text, 'p'))
  if (keys.includes(tagOf(wanted.value, 'p'))) return null
  if (keys.every((key) => key === '')) return 'The key was revoked: the record has an empty p=.'
  return 'The record has another key. Copy the whole value; it may be cut off.'
}

const dmarcProblem: Judge = (_wanted, found) => {
  if (found.length > 1) return 'There are several DMARC records. Receivers then ignore all of them; keep one.'
  return ['none', 'quarantine', 'reject'].includes(tagOf(found[0]!, 'p')?.toLowerCase() ?? '')
    ? null
    : 'The record has no policy. Add p=none, p=quarantine or p=reject.'
}

const text = () => 'TXT' as const
const mx = () => 'MX' as const

/** All that is known of each purpose. Another one is another row, and a name and a value where records are listed. */
const purposes: Record<RecordPurpose, Purpose> = {
  ownership: {
    type: text,
    required: true,
    check: published(
      askTexts((found) => found.startsWith('waxwing-domain-verification=')),
      ({ value }, found) =>
        found.includes(value) ? null : 'Found a different value. Replace it with the value given here.',
    ),
  },
  dkim: {
    type: text,
    required: true,
    check: published(
      askTexts((found) => /(^|;)\s*p\s*=/i.test(found)),
      dkimProblem,
    ),
  },
  spf: {
    type: text,
    required: false,
    check: published(
      askTexts((found) => /^v=spf1(\s|$)/i.test(found)),
      (_wanted, found, { spfSources }) => spfProblem(found, spfSources),
    ),
  },
  dmarc: { type: text, required: false, check: published(askPolicy, dmarcProblem) },
  return_path: { type: mx, required: false, check: checkReturnPath },
  bounces: {
    type: mx,
    required: false,
    check: published(
      (dns, { name }) => dns.ask(name, 'MX'),
      ({ value }, found) =>
        found.some((each) => mailHostOf(each) === mailHostOf(value).toLowerCase())
          ? null
          : `Bounces do not go to ${mailHostOf(value)}.`,
    ),
  },
  tracking: {
    // There are no aliases of addresses.
    type: (host) => (({ 0: 'CNAME', 4: 'A', 6: 'AAAA' }) as const)[isIP(host) as 0 | 4 | 6],
    required: false,
    check: checkTrackingHost,
  },
}

export const wantedRecord = <Of extends RecordPurpose>(purpose: Of, name: string, value: string): WantedRecord<Of> => ({
  ...{ purpose, name, value },
  type: purposes[purpose].type(value),
  required: purposes[purpose].required,
})

/** The value to publish if there is no policy yet. */
export const noDmarcPolicy = 'v=DMARC1; p=none'

const checkMsMax = 10_000

/** Looks up records in parallel. Never throws. */
export async function lookUp(
  dns: DomainDns,
  records: readonly WantedRecord[],
  expected: Expected,
): Promise<RecordCheck[]> {
  const timer = setTimeout(() => dns.cancel(), checkMsMax)
  try {
    return await Promise.all(records.map((record) => purposes[record.purpose].check(dns, record, expected)))
  } finally {
    clearTimeout(timer)
  }
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
