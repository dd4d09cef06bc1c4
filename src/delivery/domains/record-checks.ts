import { storableText } from '../../platform/values/text.ts'
import type { DnsAnswer, RecordType } from './dns.ts'
import type { DomainPurpose, RecordCheck } from './domain.ts'

/** `bounces` is the record of the domain that receives the bounces of this installation. */
export type RecordPurpose = DomainPurpose | 'bounces'

/** A DNS record that someone should publish, for a domain or for this installation. */
export type WantedRecord<Of extends RecordPurpose = RecordPurpose> = {
  purpose: Of
  type: RecordType
  name: string
  value: string
  /** Whether a domain is verified only if it is published. */
  required: boolean
}

/** What records are compared with, besides their values. */
export type Expected = {
  /** The mechanisms of SPF that allow the mail servers, such as `include:amazonses.com`. */
  spfSources: readonly string[]
  /** The domain that receives bounces; undefined if none are received. */
  bounceDomain?: string | undefined
}

const foundCharsMax = 2_000

/** `detail` is what is wrong with the published values. Null if they fulfil the purpose. */
export const foundCheck = (values: readonly string[], detail: string | null): RecordCheck => ({
  status: detail === null ? 'ok' : 'wrong',
  found: storableText(values.join(' / '), foundCharsMax),
  detail,
})

export function notFound(
  { name, type }: Pick<WantedRecord, 'name' | 'type'>,
  answer: Exclude<DnsAnswer, { kind: 'found' }>,
): RecordCheck {
  if (answer.kind === 'unanswered') return { status: 'unknown', found: null, detail: answer.reason }
  const detail = answer.nameExists
    ? `${name} has no such ${type} record.`
    : `There is no DNS record with the name ${name}.`
  return { status: 'missing', found: null, detail }
}
