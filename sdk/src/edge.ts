/** The package for runtimes without `node:crypto`: the same client, and a verification that returns a promise. */
import {
  type DeliveryHeaders,
  openEvent,
  readClaim,
  requireRaw,
  type VerifyOptions,
  wrongSignature,
} from './delivery.ts'
import type { WebhookEvent } from './events.ts'

export * from './client.ts'
export {
  type DeliveryHeaders,
  type VerificationFault,
  type VerifyOptions,
  WebhookVerificationError,
} from './delivery.ts'
export type {
  Attachment,
  Email,
  EmailMessage,
  EmailProblem,
  EmailResult,
  EmailSent,
  EmailStatus,
  Emails,
  SendOptions,
} from './emails.ts'
export * from './errors.ts'
export * from './event-feed.ts'
export * from './events.ts'
export { WaxwingManagement } from './generated/management-client.ts'
export type * from './generated/models.ts'
export type { ManagementOptions, RequestOptions } from './management-caller.ts'
export type { Body, Data, Item, OperationName, Query } from './operation-types.ts'
export { type Page, PagedList } from './paged-list.ts'

/** Like `verifyWebhook` of the main entry, with Web Crypto. */
export async function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: DeliveryHeaders,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  requireRaw(rawBody)
  const claim = readClaim(headers)
  const message = join(`${claim.timestamp}.`, rawBody)
  for (const one of [secret].flat()) {
    const key = await crypto.subtle.importKey('raw', encode(one), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
    for (const signature of claim.signatures) {
      if (await crypto.subtle.verify('HMAC', key, fromHex(signature), message))
        return openEvent(rawBody, claim, options)
    }
  }
  throw wrongSignature()
}

const encode = (text: string) => new TextEncoder().encode(text)

function join(prefix: string, body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const [head, tail] = [encode(prefix), typeof body === 'string' ? encode(body) : body]
  const bytes = new Uint8Array(head.length + tail.length)
  bytes.set(head)
  bytes.set(tail, head.length)
  return bytes
}

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: hex.length / 2 }, (_, at) => Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16))
}
