import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { allValues, first, firstValue } from '../../platform/db/rows.ts'
import type { EmailId, OrganizationId } from '../../platform/values/ids.ts'
import type { ContentDetails } from './content.ts'

export type ContentRow = {
  organizationId: OrganizationId
  id: EmailId
  details: ContentDetails
  html: string | null
  text: string | null
  bodyBytes: number
  /** When bodies and files are deleted (the column is `files_until`). Null if they were. */
  storedUntil: Date | null
}

export type NewContentRow = Omit<ContentRow, 'storedUntil'> & {
  /** Days for which bodies and files are kept after `storedFrom`. */
  days: number
  /** When the email is sent, if it is scheduled. */
  storedFrom: Date | null
}

export const insertContent = (tx: Tx, row: NewContentRow) =>
  tx.send`
    insert into email_contents (organization_id, id, details, html, text, body_bytes, files_until)
    values (${row.organizationId}, ${row.id}, ${JSON.stringify(row.details)}, ${row.html}, ${row.text}, ${row.bodyBytes},
      greatest(now(), ${row.storedFrom}::timestamptz) + ${row.days}::int8 * interval '1 day')`

/** Returns the text, or the start of the HTML. Undefined if they were deleted. */
export const findTextSource = (db: Reader, organizationId: OrganizationId, id: EmailId, htmlLengthMax: number) =>
  first(db<{ text: string } | { text: null; html: string }>`
    select text, case when text is null then left(html, ${htmlLengthMax}::int) end as html
    from email_contents
    where organization_id = ${organizationId} and id = ${id} and html is not null`)

/** Stores a text unless there is one, and returns the stored one. Undefined if the bodies were deleted. */
export const storeText = (db: Writer, organizationId: OrganizationId, id: EmailId, text: string) =>
  firstValue(db<{ text: string }>`
    update email_contents
    set text = coalesce(text, ${text}),
      body_bytes = body_bytes + case when text is null then ${Buffer.byteLength(text)}::int else 0 end
    where organization_id = ${organizationId} and id = ${id} and html is not null
    returning text`)

type ContentKey = { organizationId: OrganizationId; id: EmailId }

/** Returns the contents. Bodies of more than `bodyBytesMax` are null. */
export const findContents = (db: Reader, keys: readonly ContentKey[], bodyBytesMax: number) =>
  db<ContentRow>`
    select contents.organization_id, contents.id, details, body_bytes, files_until as stored_until,
      case when body_bytes <= ${bodyBytesMax} then html end as html,
      case when body_bytes <= ${bodyBytesMax} then text end as text
    from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as key (organization_id, id)
    join email_contents contents on contents.organization_id = key.organization_id and contents.id = key.id`

export const findContent = (db: Reader, organizationId: OrganizationId, id: EmailId) =>
  first(db<ContentRow>`
    select organization_id, id, details, html, text, body_bytes, files_until as stored_until from email_contents
    where organization_id = ${organizationId} and id = ${id}`)

/** Deletes those of the contents that no message uses any more, and returns them. */
export const deleteUnusedContents = (tx: Tx, organizationId: OrganizationId, ids: readonly EmailId[]) =>
  tx<Pick<ContentRow, 'details' | 'storedUntil'>>`
    delete from email_contents
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])
      and not exists (
        select from messages
        where messages.organization_id = ${organizationId} and messages.content_id = email_contents.id)
    returning details, files_until as stored_until`

export const lockContents = (tx: Tx, organizationId: OrganizationId, ids: readonly EmailId[]) =>
  tx<Pick<ContentRow, 'id' | 'details'>>`
    select id, details from email_contents
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])
    order by id
    for update`

export const updateDetails = (tx: Tx, organizationId: OrganizationId, id: EmailId, details: ContentDetails) =>
  tx`
    update email_contents set details = ${JSON.stringify(details)}
    where organization_id = ${organizationId} and id = ${id}`

/** Bodies and files are kept for `days` after `from`, unless they were deleted. */
export const moveStoredUntil = (tx: Tx, organizationId: OrganizationId, id: EmailId, from: Date, days: number) =>
  tx`
    update email_contents set files_until = ${from}::timestamptz + ${days}::int8 * interval '1 day'
    where organization_id = ${organizationId} and id = ${id} and files_until is not null`

export type ExpiredContent = ContentKey & { hasFiles: boolean }

/** Contents whose bodies and files are due for deletion. */
export const selectExpired = (db: Reader, limit: number) =>
  db<ExpiredContent>`
    select organization_id, id, details->'attachments' <> '[]' or details->'raw' <> 'null' as has_files
    from email_contents where files_until <= now() order by files_until limit ${limit}`

/** Locks those of the contents that are due. */
export const lockExpired = (tx: Tx, organizationId: OrganizationId, ids: readonly EmailId[]) =>
  tx<Pick<ContentRow, 'id' | 'details'>>`
    select id, details from email_contents
    where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and files_until <= now()
    order by id
    for update`

/** Those of the contents of which messages are still to be sent. */
export const selectQueued = (db: Reader, organizationId: OrganizationId, ids: readonly EmailId[]) =>
  allValues(db<{ id: EmailId }>`
    select distinct content_id as id from messages
    where organization_id = ${organizationId} and content_id = any (${ids}::uuid[]) and status = 'queued'`)

export const extendStored = (tx: Tx, organizationId: OrganizationId, ids: readonly EmailId[], days: number) =>
  tx`
    update email_contents set files_until = now() + ${days}::int8 * interval '1 day'
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])`

/** Their files are to be released. */
export const deleteBodies = (tx: Tx, organizationId: OrganizationId, ids: readonly EmailId[]) =>
  tx`
    update email_contents set html = null, text = null, body_bytes = 0, files_until = null
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])`
