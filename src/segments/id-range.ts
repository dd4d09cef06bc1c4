import { type Sql, sql } from '../db/sql.ts'
import { type ContactId, leastId } from '../values/ids.ts'

/** Contacts with ids after the first, up to and including the second. */
export type IdRange = { after: ContactId; to: ContactId }

export const firstContactId = leastId('con', 0)
export const lastContactId = 'ffffffff-ffff-ffff-ffff-ffffffffffff' as ContactId

/** A condition on the ids of contacts, for `MatchOptions.among`. */
export const inRange =
  ({ after, to }: IdRange) =>
  (contactId: Sql): Sql =>
    sql`(${contactId} > ${after} and ${contactId} <= ${to})`
