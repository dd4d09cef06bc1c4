import { type ContactId, leastId } from '../values/ids.ts'
import { type Sql, sql } from './sql.ts'

/** Contacts with ids after the first, up to and including the second. */
export type IdRange = { after: ContactId; to: ContactId }

export const firstContactId = leastId('con', 0)
export const lastContactId = 'ffffffff-ffff-ffff-ffff-ffffffffffff' as ContactId

/** A condition on the ids of contacts, for `MatchOptions.among`. */
export const inRange =
  ({ after, to }: IdRange) =>
  (contactId: Sql): Sql =>
    sql`(${contactId} > ${after} and ${contactId} <= ${to})`

/** The range of one contact. */
export function rangeOf(id: ContactId): IdRange {
  const number = BigInt(`0x${id.replaceAll('-', '')}`)
  const before = (number === 0n ? 0n : number - 1n).toString(16).padStart(32, '0')
  return { after: before.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') as ContactId, to: id }
}
