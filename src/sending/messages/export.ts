import { isTestRecipientId } from '../../audience/audience.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { csvLine } from '../../platform/values/csv-line.ts'
import { type OrganizationId, toText } from '../../platform/values/ids.ts'
import { engagementOf } from './engagement.ts'
import type { MessageFilter } from './message-filter.sql.ts'
import { type MessageRow, selectMessages } from './messages.sql.ts'

const rowsMax = 1_000

const columns: Record<string, (row: MessageRow) => string> = {
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
}
export const exportColumns = Object.keys(columns)

/**
 * Returns messages as CSV, in pieces, newest first; none without a filter. Each piece is read when the previous one was
 * consumed, so that a slow client holds no connection to the database. Throws `Refusal` if the first one takes too long.
 */
export async function exportMessages(
  read: BoundedRead,
  organizationId: OrganizationId,
  filter: MessageFilter | undefined,
): Promise<AsyncIterable<string>> {
  const next = async (before?: MessageRow): Promise<MessageRow[]> =>
    filter
      ? read(organizationId, (db) => selectMessages(db, organizationId, { ...filter, before: before?.id }, rowsMax))
      : []
  const first = await next()
  return (async function* () {
    yield csvLine(exportColumns)
    for (let rows = first; rows.length > 0; rows = rows.length < rowsMax ? [] : await next(rows.at(-1)))
      yield rows.map((row) => csvLine(Object.values(columns).map((cell) => cell(row)))).join('')
  })()
}
