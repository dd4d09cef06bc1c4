import { storableText } from '../../platform/values/text.ts'
import type { DnsAnswer } from './dns.ts'
import type { RecordCheck } from './domain.ts'
import type { WantedRecord } from './records.ts'

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
