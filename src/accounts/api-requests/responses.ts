import { type IdOf, parseId } from '../../platform/values/ids.ts'
import { redact } from './redact.ts'

/** Larger responses are those of reads. Parsing and redacting one of this size takes about a millisecond. */
const parsedLengthMax = 64 * 1024
const depthMax = 5
/** Erasing a contact reads all of them, 10,000 of an organization at most. */
const storedLengthMax = 2_000

export type RecordedResponse = {
  /** Redacted JSON. */
  response: string | null
  /** Why emails of the request are not sent, such as `unsubscribed`. Null if all of them are, or it sent none. */
  notSent: string | null
}

export const noResponse: RecordedResponse = { response: null, notSent: null }

/** What is stored of a response. Returns nothing of one that is large or not JSON. */
export function recordedResponse(text: string | null): RecordedResponse {
  if (text === null || text.length > parsedLengthMax) return noResponse
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return noResponse
  }
  const reasons = new Set<string>()
  collectReasons(value, reasons, 0)
  return {
    response: redact(value, storedLengthMax),
    notSent: reasons.size === 0 ? null : [...reasons].sort().join(', '),
  }
}

/** The ids of one kind in a stored response, each once. */
export const idsIn = <P extends 'msg' | 'eml'>(prefix: P, response: string | null): IdOf[P][] => {
  const found = response?.match(prefix === 'msg' ? /\bmsg_[0-9a-z]{26}\b/g : /\beml_[0-9a-z]{26}\b/g) ?? []
  return [...new Set(found)].flatMap((text) => parseId(prefix, text) ?? [])
}

/** Each email or recipient that is not sent has this status and a reason. */
function collectReasons(value: unknown, reasons: Set<string>, depth: number): void {
  if (typeof value !== 'object' || value === null || depth > depthMax) return
  const { status, reason } = value as { status?: unknown; reason?: unknown }
  if (status === 'suppressed' && typeof reason === 'string') reasons.add(reason)
  for (const each of Object.values(value)) collectReasons(each, reasons, depth + 1)
}
