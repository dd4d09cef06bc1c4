import type { WebhookEvent } from './events.ts'

/** The headers of a request: `request.headers` of Node, or a `Headers` object. */
export type DeliveryHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

export type VerifyOptions = {
  /** The allowed difference between the timestamp and the clock in seconds. Default 300. */
  toleranceSeconds?: number
  /** Milliseconds since the epoch. Defaults to the current time. */
  now?: number
}

export type VerificationFault =
  | 'missing_signature'
  | 'malformed_signature'
  | 'wrong_signature'
  | 'stale_timestamp'
  | 'malformed_body'

/** The delivery must not be trusted. Respond with 400: deliveries rejected with 4xx are not retried. */
export class WebhookVerificationError extends Error {
  readonly reason: VerificationFault

  constructor(reason: VerificationFault, message: string) {
    super(message)
    this.name = 'WebhookVerificationError'
    this.reason = reason
  }
}

const headerName = 'x-service-signature'
const headerLengthMax = 4096
const toleranceSecondsDefault = 300

export type Claim = { timestamp: string; signatures: string[] }

/** Reads `t=<seconds>,v1=<hex>[,v1=<hex>…]`; schemes other than v1 are ignored. */
export function readClaim(headers: DeliveryHeaders): Claim {
  const header = findHeader(headers)
  if (!header) {
    throw new WebhookVerificationError('missing_signature', 'The request has no X-Service-Signature header.')
  }
  let timestamp: string | undefined
  const signatures: string[] = []
  for (const part of header.length > headerLengthMax ? [] : header.split(',')) {
    const [, name, value] = /^\s*(\w+)=(\w+)\s*$/.exec(part) ?? []
    if (name === 't' && value && /^\d{1,12}$/.test(value)) timestamp ??= value
    if (name === 'v1' && value && /^[0-9a-f]{64}$/.test(value)) signatures.push(value)
  }
  if (timestamp === undefined || signatures.length === 0) {
    throw new WebhookVerificationError(
      'malformed_signature',
      'The X-Service-Signature header is not of the form t=<seconds>,v1=<hex>.',
    )
  }
  return { timestamp, signatures }
}

function findHeader(headers: DeliveryHeaders): string | undefined {
  if (typeof headers.get === 'function') return headers.get(headerName) ?? undefined
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() === headerName) return typeof value === 'string' ? value : value?.[0]
  }
  return undefined
}

/** A body that was parsed and serialized again is not what was signed. */
export function requireRaw(rawBody: unknown): asserts rawBody is string | Uint8Array {
  if (typeof rawBody === 'string' || rawBody instanceof Uint8Array) return
  throw new TypeError('verifyWebhook needs the raw request body, a string or bytes, not the parsed JSON.')
}

/** Called after the signature was verified. Checks the timestamp and the form of the event. */
export function openEvent(rawBody: string | Uint8Array, claim: Claim, options: VerifyOptions): WebhookEvent {
  const { toleranceSeconds = toleranceSecondsDefault, now = Date.now() } = options
  // Also rejects if the tolerance or the clock is NaN.
  if (!(Math.abs(now / 1000 - Number(claim.timestamp)) <= toleranceSeconds)) {
    throw new WebhookVerificationError(
      'stale_timestamp',
      `The delivery was signed more than ${toleranceSeconds} seconds from now; it may be a replay, or a clock is wrong.`,
    )
  }
  const event = parse(typeof rawBody === 'string' ? rawBody : new TextDecoder().decode(rawBody))
  if (!isEvent(event)) throw new WebhookVerificationError('malformed_body', 'The body is not an event.')
  return event
}

export const wrongSignature = () =>
  new WebhookVerificationError(
    'wrong_signature',
    'No signature matches. Check the secret, and pass the raw body exactly as it was received.',
  )

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isEvent(value: unknown): value is WebhookEvent {
  if (typeof value !== 'object' || value === null) return false
  const { event_name, data } = value as Partial<Record<string, unknown>>
  return typeof event_name === 'string' && typeof data === 'object' && data !== null
}
