import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { type CsvColumns, pagesOf } from '../../platform/http/csv.ts'
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

export const exportColumnsOf = ({ winner }: Pick<Broadcast, 'winner'>): CsvColumns<RecipientRow> =>
  Object.entries<(row: RecipientRow) => string>({
    contact_id: ({ contactId }) => toText('con', contactId),
    email: ({ email }) => email ?? '',
    status: ({ status }) => status,
    engagement: (row) => engagementOfRecipient(row) ?? '',
    reason: ({ reason }) => reason ?? '',
    message_id: ({ messageId }) => (messageId ? toText('msg', messageId) : ''),
    // Recipients outside the sample get the winner.
    variant: ({ variant }) => variantKeyOf(variant ?? winner) ?? '',
    first_opened_at: ({ firstOpenedAt }) => firstOpenedAt?.toISOString() ?? '',
    first_clicked_at: ({ firstClickedAt }) => firstClickedAt?.toISOString() ?? '',
    complained_at: ({ complainedAt }) => complainedAt?.toISOString() ?? '',
    unsubscribed_at: ({ unsubscribedAt }) => unsubscribedAt?.toISOString() ?? '',
    links: ({ links }) => (links ?? []).join(' '),
  })

/** Reads the recipients of a broadcast in pages. */
export const exportedRecipients = (read: BoundedRead, broadcast: Broadcast, filter: RecipientFilter) =>
  pagesOf<RecipientRow>(rowsMax, (last) =>
    read(broadcast.organizationId, (db) =>
      selectRecipients(db, broadcast, filter, { after: last && positionOf(broadcast, filter, last), limit: rowsMax }),
    ),
  )
