import { Refusal } from '../../platform/values/errors.ts'

const keyPattern = /^[\x21-\x7e]{1,255}$/

/** A string of a structured field (RFC 9651), such as "order-1042". */
const quoted = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/

/** Reads the header Idempotency-Key. It is the same key with and without quotes. */
export function readIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null
  const key = quoted.exec(header)?.[1]?.replace(/\\(["\\])/g, '$1') ?? header
  if (!keyPattern.test(key))
    throw new Refusal('invalid_idempotency_key', 'Idempotency-Key must consist of 1 to 255 visible ASCII characters.')
  return key
}
