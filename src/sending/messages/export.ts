import { isTestRecipientId } from '../../audience/audience.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { type CsvColumns, pagesOf } from '../../platform/http/csv.ts'
import { type OrganizationId, toText } from '../../platform/values/ids.ts'
import { engagementOf } from './engagement.ts'
import type { MessageFilter } from './message-filter.sql.ts'
import { type MessageRow, selectMessages } from './messages.sql.ts'

const rowsMax = 1_000

export const exportColumns: CsvColumns<MessageRow> = Object.entries<(row: MessageRow) => string>({
  id: ({ id }) => toText('msg', id),
  email: ({ email }) => email,
  contact_id: ({ contactId }) => (isTestRecipientId(contactId) ? '' : toText('con', contactId)),
  subject: ({ subject }) => subject,
  flow: ({ flowName }) => flowName ?? '',
  broadcast: ({ broadcastName }) => broadcastName ?? '',
  status: ({ status }) => status,
  engagement: (row) => engagementOf(row) ?? '',
  reason: ({ reason }) => reason ?? '',
  is_test: ({ isTest }) => String(isTest),
  queued_at: ({ queuedAt }) => queuedAt.toISOString(),
  sent_at: ({ sentAt }) => sentAt?.toISOString() ?? '',
  first_opened_at: ({ firstOpenedAt }) => firstOpenedAt?.toISOString() ?? '',
  first_clicked_at: ({ firstClickedAt }) => firstClickedAt?.toISOString() ?? '',
})

/** Reads messages in pages, newest first; none without a filter. */
export const exportedMessages = (
  read: BoundedRead,
  organizationId: OrganizationId,
  filter: MessageFilter | undefined,
) =>
  pagesOf<MessageRow>(rowsMax, async (last) =>
    filter
      ? read(organizationId, (db) => selectMessages(db, organizationId, { ...filter, before: last?.id }, rowsMax))
      : [],
  )
