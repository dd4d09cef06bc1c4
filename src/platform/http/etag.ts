import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { Refusal } from '../values/errors.ts'

// Entity tags (RFC 9110) of records that can be edited. A tag depends on the fields that an edit can change, not on counts
// and times of last use, so it stays the same until the record is edited. `If-None-Match` is ignored for the same reason:
// a record with the same tag can have other counts. Responses are not stored (`no-store`), so clients have no use for it.

/** Describes `precondition_failed` in the API reference. */
export const editedSince = 'The record was edited since the version in `If-Match`. Nothing was changed.'

/** Throws `Refusal` if the record was changed since the caller read it. Call it while the record is locked. */
export type CheckUnchanged<Row> = (current: Row) => void

export const etagOf = (...fields: unknown[]): string =>
  `"${hash('sha256', JSON.stringify(fields), 'base64url').slice(0, 22)}"`

/** Returns the check that `If-Match` asks for, or undefined without this header. */
export function checkIfMatch<Row>(
  request: FastifyRequest,
  tagOf: (row: Row) => string,
): CheckUnchanged<Row> | undefined {
  const header = request.headers['if-match']
  if (header === undefined) return undefined
  // Proxies that compress responses mark tags as weak.
  const accepted = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return (current) => {
    if (!accepted.includes('*') && !accepted.includes(tagOf(current)))
      throw new Refusal(
        'precondition_failed',
        'The record was changed since you read it. Fetch it again and repeat the change.',
      )
  }
}
