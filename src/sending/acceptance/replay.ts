import type { Tx } from '../../platform/db/db.ts'
import type { Settled } from '../../platform/runtime/batcher.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { findUsedKeys, type UsedKey } from './accept.sql.ts'
import type { Accepted, SendRequest } from './draft.ts'

export const tooBusy = () =>
  new Refusal('unavailable', 'The request could not be completed because of concurrent changes. Try again.', {
    retryAfterSeconds: 1,
  })
export const keyReused = () =>
  new Refusal('idempotency_key_reused', 'This Idempotency-Key was used with a different request. Use a new key.')

export const requestKey = ({ organizationId, idempotencyKey }: SendRequest) =>
  idempotencyKey === null ? undefined : `${organizationId} ${idempotencyKey}`

/** Settles requests whose idempotency key was used before. */
export async function replay(
  tx: Tx,
  pending: readonly { request: SendRequest; index: number }[],
): Promise<Map<number, Settled<Accepted>>> {
  const settled = new Map<number, Settled<Accepted>>()
  const keyed = pending.filter(({ request }) => request.idempotencyKey !== null)
  if (keyed.length === 0) return settled
  const used = await findUsedKeys(
    tx,
    keyed.map(({ request }) => ({ organizationId: request.organizationId, key: request.idempotencyKey! })),
  )
  const byKey = new Map(used.map((key) => [`${key.organizationId} ${key.key}`, key]))
  for (const { request, index } of keyed) {
    const found = byKey.get(requestKey(request)!)
    if (found)
      settled.set(
        index,
        found.requestHash === request.requestHash
          ? { ok: true, value: answerAgain(found, request) }
          : { ok: false, error: keyReused() },
      )
  }
  return settled
}

function answerAgain(used: UsedKey, request: SendRequest): Accepted {
  const { contact_created: contactCreated, status, reason, warnings } = used.answer
  return {
    messageId: used.messageId,
    flowId: used.flowId,
    contactId: used.contactId,
    // Empty if the contact was erased; the request contains the address.
    contactEmail: used.email || request.email,
    contactCreated,
    status,
    reason,
    queuedAt: used.queuedAt,
    sendAt: used.sendAt,
    warnings,
    replayed: true,
  }
}
