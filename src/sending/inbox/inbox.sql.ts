import type { Db, Reader, Writer } from '../../platform/db/db.ts'
import { countRows, first, hasRows } from '../../platform/db/rows.ts'
import { and, sql } from '../../platform/db/sql.ts'
import type { EmailId, MessageId, OrganizationId } from '../../platform/values/ids.ts'

export type InboxSummary = {
  messageId: MessageId
  /** False for emails that the service sent to owners. */
  isMessage: boolean
  sender: string
  recipient: string
  subject: string
  sizeBytes: number
  receivedAt: Date
}

/** Who reads the inbox. Members do not see account emails, because their links sign in as other users. */
export type InboxReader = { seesAccountEmails: boolean }

const visibleTo = ({ seesAccountEmails }: InboxReader) => (seesAccountEmails ? sql`true` : sql`not owners_only`)

const inboxColumns = (
  organizationId: OrganizationId,
) => sql`message_id, sender, recipient, subject, coalesce(size_bytes, length(raw))::int8 as size_bytes, received_at,
  exists (select from messages where organization_id = ${organizationId} and id = inbox.message_id) as is_message`

export async function selectInbox(
  db: Reader,
  organizationId: OrganizationId,
  { before, limit, reader }: { before: MessageId | undefined; limit: number; reader: InboxReader },
): Promise<InboxSummary[]> {
  const conditions = [
    sql`organization_id = ${organizationId}`,
    visibleTo(reader),
    ...(before ? [sql`message_id < ${before}`] : []),
  ]
  return db<InboxSummary>`
    select ${inboxColumns(organizationId)}
    from inbox
    where ${and(conditions)}
    order by message_id desc
    limit ${limit}`
}

export const findInInbox = (db: Reader, organizationId: OrganizationId, messageId: MessageId, reader: InboxReader) =>
  first(
    db<InboxSummary & { raw: Buffer; contentId: EmailId | null }>`
    select ${inboxColumns(organizationId)}, raw,
      (select content_id from messages
        where messages.organization_id = ${organizationId} and messages.id = inbox.message_id) as content_id
    from inbox
    where organization_id = ${organizationId} and message_id = ${messageId} and ${visibleTo(reader)}`,
  )

/** Returns whether the email of a message is in the inbox. */
export const inboxHolds = (db: Reader, organizationId: OrganizationId, messageId: MessageId) =>
  hasRows(db`select from inbox where organization_id = ${organizationId} and message_id = ${messageId}`)

/** Deletes the emails that the reader can see. */
export const emptyInbox = (db: Writer, organizationId: OrganizationId, reader: InboxReader) =>
  countRows(db`delete from inbox where organization_id = ${organizationId} and ${visibleTo(reader)} returning 1`)

export type InboxRow = {
  organizationId: OrganizationId
  messageId: MessageId
  sender: string
  recipient: string
  subject: string
  raw: string
  /** Of the whole email, if `raw` is only its start. */
  sizeBytes?: number
  /** For emails with links that sign in as another user. */
  ownersOnly?: boolean
}

/** The message may have been erased with its contact since. */
const isQueued = sql`exists (
  select from messages
  where messages.organization_id = row.organization_id and messages.id = row.message_id and status = 'queued')`

export const insertQueuedIntoInbox = (db: Writer, rows: InboxRow[]) => insertIntoInbox(db, rows, isQueued)

export const insertIntoInbox = (db: Writer, rows: InboxRow[], condition = sql`true`) =>
  db`
    insert into inbox (organization_id, message_id, sender, recipient, subject, raw, size_bytes, owners_only)
    select organization_id, message_id, sender, recipient, subject, convert_to(raw, 'UTF8'), size_bytes, owners_only
    from unnest(
      ${rows.map((row) => row.organizationId)}::uuid[],
      ${rows.map((row) => row.messageId)}::uuid[],
      ${rows.map((row) => row.sender)}::text[],
      ${rows.map((row) => row.recipient)}::text[],
      ${rows.map((row) => row.subject)}::text[],
      ${rows.map((row) => row.raw)}::text[],
      ${rows.map((row) => row.sizeBytes ?? null)}::int8[],
      ${rows.map((row) => row.ownersOnly ?? false)}::boolean[]
    ) as row (organization_id, message_id, sender, recipient, subject, raw, size_bytes, owners_only)
    where ${condition}
    on conflict do nothing`

/** Deletes all but the newest emails of each organization. */
export const trimInboxes = (db: Db, emailsMax: number) =>
  db.statement`
    delete from inbox
    using (
      select organization_id, message_id,
        row_number() over (partition by organization_id order by message_id desc) as position
      from inbox
    ) ranked
    where ranked.position > ${emailsMax}
      and inbox.organization_id = ranked.organization_id and inbox.message_id = ranked.message_id`
