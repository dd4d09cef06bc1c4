import type { Reader, Tx } from '../db/db.ts'
import { first, hasRows } from '../db/rows.ts'
import type { EmailId, OrganizationId } from '../values/ids.ts'
import type { ContentDetails } from './content.ts'

export type ContentRow = {
  organizationId: OrganizationId
  id: EmailId
  details: ContentDetails
  html: string | null
  text: string | null
  bodyBytes: number
  /** Null if there are no files, or none any more. */
  filesUntil: Date | null
}

export type NewContentRow = Omit<ContentRow, 'filesUntil'> & {
  /** Days for which the files are kept after `filesFrom`; null if there are none. */
  fileDays: number | null
  /** When the email is sent, if it is scheduled. */
  filesFrom: Date | null
}

export const insertContent = (tx: Tx, row: NewContentRow) =>
  tx.send`
    insert into email_contents (organization_id, id, details, html, text, body_bytes, files_until)
    values (${row.organizationId}, ${row.id}, ${JSON.stringify(row.details)}, ${row.html}, ${row.text}, ${row.bodyBytes},
      greatest(now(), ${row.filesFrom}::timestamptz) + ${row.fileDays}::int8 * interval '1 day')`

type ContentKey = { organizationId: OrganizationId; id: EmailId }

/** Returns the contents. Bodies of more than `bodyBytesMax` are null. */
export const findContents = (db: Reader, keys: readonly ContentKey[], bodyBytesMax: number) =>
  db<ContentRow>`
    select contents.organization_id, contents.id, details, body_bytes, files_until,
      case when body_bytes <= ${bodyBytesMax} then html end as html,
      case when body_bytes <= ${bodyBytesMax} then text end as text
    from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as key (organization_id, id)
    join email_contents contents on contents.organization_id = key.organization_id and contents.id = key.id`

export const findContent = (db: Reader, organizationId: OrganizationId, id: EmailId) =>
  first(db<ContentRow>`
    select organization_id, id, details, html, text, body_bytes, files_until from email_contents
    where organization_id = ${organizationId} and id = ${id}`)

export const lockContent = (tx: Tx, organizationId: OrganizationId, id: EmailId) =>
  first(tx<Pick<ContentRow, 'details' | 'filesUntil'>>`
    select details, files_until from email_contents
    where organization_id = ${organizationId} and id = ${id}
    for update`)

/** Deletes those of the contents that no message uses any more, and returns them. */
export const deleteUnusedContents = (tx: Tx, organizationId: OrganizationId, ids: readonly EmailId[]) =>
  tx<Pick<ContentRow, 'details' | 'filesUntil'>>`
    delete from email_contents
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])
      and not exists (
        select from messages
        where messages.organization_id = ${organizationId} and messages.content_id = email_contents.id)
    returning details, files_until`

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

/** Null `days`: the files are deleted. */
export const updateFilesUntil = (tx: Tx, organizationId: OrganizationId, id: EmailId, days: number | null) =>
  tx`
    update email_contents set files_until = now() + ${days}::int8 * interval '1 day'
    where organization_id = ${organizationId} and id = ${id}`

/** The files are kept for `days` after `from`, unless they were deleted. */
export const moveFilesUntil = (tx: Tx, organizationId: OrganizationId, id: EmailId, from: Date, days: number) =>
  tx`
    update email_contents set files_until = ${from}::timestamptz + ${days}::int8 * interval '1 day'
    where organization_id = ${organizationId} and id = ${id} and files_until is not null`

/** Whether messages with this content are still to be sent. */
export const isStillQueued = (db: Reader, organizationId: OrganizationId, id: EmailId) =>
  hasRows(db`
    select from messages where organization_id = ${organizationId} and content_id = ${id} and status = 'queued' limit 1`)

/** Contents whose files are due for deletion. */
export const selectExpiredFiles = (db: Reader, limit: number) =>
  db<ContentKey>`
    select organization_id, id from email_contents where files_until <= now() order by files_until limit ${limit}`
