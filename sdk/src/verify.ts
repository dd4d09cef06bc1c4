import { timingSafeEqual } from 'node:crypto'
import {
  type DeliveryHeaders,
  openEvent,
  readClaim,
  requireRaw,
  type VerifyOptions,
  wrongSignature,
} from './delivery.ts'
import type { WebhookEvent } from './events.ts'
import { serviceSignature } from './signature.ts'

/**
 * Returns the event if the delivery was signed with the secret (or one of several) and is recent. Otherwise
 * throws `WebhookVerificationError`. Pass the body exactly as it was received, before any parsing.
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: DeliveryHeaders,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): WebhookEvent {
  requireRaw(rawBody)
  const claim = readClaim(headers)
  const given = claim.signatures.map((signature) => Buffer.from(signature, 'hex'))
  const matches = [secret].flat().some((one) => {
    const expected = serviceSignature(one, claim.timestamp, rawBody)
    return given.some((signature) => timingSafeEqual(signature, expected))
  })
  if (!matches) throw wrongSignature()
  return openEvent(rawBody, claim, options)
}
