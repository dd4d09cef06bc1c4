import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { csvLine } from '../../platform/values/csv-line.ts'
import { toText } from '../../platform/values/ids.ts'
import type { Broadcast } from '../broadcasts.sql.ts'
import { variantKeyOf } from '../variants.ts'
import {
  engagementOfRecipient,
  positionOf,
  type RecipientFilter,
  type RecipientRow,
  selectRecipients,
} from './recipients.sql.ts'

const rowsMax = 1_000

const columns: Record<string, (row: RecipientRow, broadcast: Broadcast) => string> = {
  contact_id: ({ contactId }) => toText('con', contactId),
  email: ({ email }) => email ?? '',
  status: ({ status }) => status,
  engagement: (row) => engagementOfRecipient(row) ?? '',
  reason: ({ reason }) => reason ?? '',
  message_id: ({ messageId }) => (messageId ? toText('msg', messageId) : ''),
  // Recipients outside the sample get the winner.
  variant: ({ variant }, { winner }) => variantKeyOf(variant ?? winner) ?? '',
  first_opened_at: ({ firstOpenedAt }) => firstOpenedAt?.toISOString() ?? '',
  first_clicked_at: ({ firstClickedAt }) => firstClickedAt?.toISOString() ?? '',
  complained_at: ({ complainedAt }) => complainedAt?.toISOString() ?? '',
  unsubscribed_at: ({ unsubscribedAt }) => unsubscribedAt?.toISOString() ?? '',
  links: ({ links }) => (links ?? []).join(' '),
}
export const exportColumns = Object.keys(columns)

/**
 * Returns the recipients of a broadcast as CSV, in pieces. Each piece is read when the previous one was consumed, so that a
 * slow client holds no connection to the database.
 */
export async function* exportRecipients(
  read: BoundedRead,
  broadcast: Broadcast,
  filter: RecipientFilter,
): AsyncIterable<string> {
  yield csvLine(exportColumns)
  let after: ReturnType<typeof positionOf> | undefined
  for (;;) {
    const rows = await read(broadcast.organizationId, (db) =>
      selectRecipients(db, broadcast, filter, { after, limit: rowsMax }),
    )
    if (rows.length > 0)
      yield rows.map((row) => csvLine(Object.values(columns).map((cell) => cell(row, broadcast)))).join('')
    if (rows.length < rowsMax) return
    after = positionOf(broadcast, filter, rows.at(-1)!)
  }
}
