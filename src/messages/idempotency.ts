import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../db/db.ts'
import { deleteOldKeys } from './accept.sql.ts'

const keysPerBatch = 5_000

/** Deletes idempotency keys a day after their request, in batches. */
export async function deleteExpiredKeys(db: Db): Promise<void> {
  while ((await deleteOldKeys(db.statement, keysPerBatch)) === keysPerBatch);
}

/** A string of a structured field (RFC 9651), such as "order-1042". */
const quoted = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/

/** Hook: the header `Idempotency-Key` is the same key with and without quotes. */
export function unquoteIdempotencyKey(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const key = request.headers['idempotency-key']
  if (typeof key === 'string' && key.startsWith('"')) {
    const inner = quoted.exec(key)?.[1]
    if (inner !== undefined) request.headers['idempotency-key'] = inner.replace(/\\(["\\])/g, '$1')
  }
  done()
}
