import type { BoundedRead } from '../db/bounded-read.ts'
import { csvLine } from '../values/csv-line.ts'
import { type ContactId, toText } from '../values/ids.ts'
import type { Broadcast, RecipientStatus } from './broadcasts.sql.ts'
import { type RecipientRow, selectRecipients } from './ledger.sql.ts'
import { variantKeyOf } from './variants.ts'

const rowsMax = 1_000

const columns: Record<string, (row: RecipientRow) => string> = {
  contact_id: ({ contactId }) => toText('con', contactId),
  email: ({ email }) => email ?? '',
  status: ({ status }) => status,
  reason: ({ reason }) => reason ?? '',
  message_id: ({ messageId }) => (messageId ? toText('msg', messageId) : ''),
  variant: ({ variant }) => variantKeyOf(variant) ?? '',
}

/**
 * Returns the recipients of a broadcast as CSV, in pieces. Each piece is read when the previous one was consumed, so that a
 * slow client holds no connection to the database.
 */
export async function* exportRecipients(
  read: BoundedRead,
  broadcast: Broadcast,
  status: RecipientStatus | undefined,
): AsyncIterable<string> {
  yield csvLine(Object.keys(columns))
  let after: ContactId | undefined
  for (;;) {
    const rows = await read(broadcast.organizationId, (db) =>
      selectRecipients(db, broadcast, { status, after, limit: rowsMax }),
    )
    if (rows.length > 0) yield rows.map((row) => csvLine(Object.values(columns).map((cell) => cell(row)))).join('')
    if (rows.length < rowsMax) return
    after = rows.at(-1)!.contactId
  }
}
