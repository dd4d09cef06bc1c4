import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { allValues, firstValue, onlyValue } from '../../platform/db/rows.ts'
import type { FileId, OrganizationId } from '../../platform/values/ids.ts'

export const insertUpload = (db: Writer, organizationId: OrganizationId, id: FileId, { inBucket = false } = {}) =>
  db`insert into stored_files (organization_id, id, in_bucket) values (${organizationId}, ${id}, ${inBucket})`

export const insertChunk = (
  db: Writer,
  organizationId: OrganizationId,
  id: FileId,
  position: number,
  bytes: Uint8Array,
) =>
  db`
    insert into stored_file_chunks (organization_id, file_id, position, bytes)
    values (${organizationId}, ${id}, ${position}, ${bytes})`

/** Returns undefined if the file does not exist or is shorter. */
export const findChunk = (db: Reader, organizationId: OrganizationId, id: FileId, position: number) =>
  firstValue(db<{ bytes: Buffer }>`
    select bytes from stored_file_chunks
    where organization_id = ${organizationId} and file_id = ${id} and position = ${position}`)

/** Returns up to `count` chunks from `position`, in order. */
export const findChunks = (
  db: Reader,
  organizationId: OrganizationId,
  id: FileId,
  { position, count }: { position: number; count: number },
) =>
  allValues(db<{ bytes: Buffer }>`
    select bytes from stored_file_chunks
    where organization_id = ${organizationId} and file_id = ${id}
      and position >= ${position} and position < ${position + count}
    order by position`)

/** The size of all files of an organization in the database, including those that are being uploaded. */
export const sumFileBytes = (db: Reader, organizationId: OrganizationId) =>
  onlyValue(db<{ bytes: number }>`
    select coalesce(sum(bytes), 0)::int8 as bytes from stored_files
    where organization_id = ${organizationId} and not in_bucket`)

/** Locks the files with these hashes until the end of the transaction. */
export const lockFilesByHash = (
  tx: Tx,
  organizationId: OrganizationId,
  hashes: readonly string[],
  { inBucket }: { inBucket: boolean },
) =>
  tx<{ id: FileId; hash: string }>`
    select id, encode(hash, 'hex') as hash from stored_files
    where organization_id = ${organizationId} and in_bucket = ${inBucket}
      and hash = any (array(select decode(hash, 'hex') from unnest(${hashes}::text[]) as wanted (hash)))
    order by id
    for update`

export type NewFileRow = { organizationId: OrganizationId; id: FileId; hash: string; bytes: number; uses: number }

/** Not awaited: if it fails, the transaction fails. */
export function insertFiles(tx: Tx, organizationId: OrganizationId, files: readonly NewFileRow[]): void {
  tx.send`
    insert into stored_files (organization_id, id, hash, bytes, uses)
    select ${organizationId}, file.id, decode(file.hash, 'hex'), file.bytes, file.uses
    from unnest(
      ${files.map(({ id }) => id)}::uuid[], ${files.map(({ hash }) => hash)}::text[],
      ${files.map(({ bytes }) => bytes)}::int8[], ${files.map(({ uses }) => uses)}::int4[]
    ) as file (id, hash, bytes, uses)`
}

/** The content is one parameter, because an array of byte strings is sent as text, in twice the size. */
export function insertChunks(
  tx: Tx,
  organizationId: OrganizationId,
  chunks: readonly { id: FileId; position: number; chunk: Buffer }[],
) {
  let end = 1
  const starts = chunks.map(({ chunk }) => {
    const start = end
    end += chunk.length
    return start
  })
  return tx`
    insert into stored_file_chunks (organization_id, file_id, position, bytes)
    select ${organizationId}, chunk.file_id, chunk.position, substring(content.bytes from chunk.start for chunk.length)
    from (select ${Buffer.concat(chunks.map(({ chunk }) => chunk))}::bytea as bytes) as content,
      unnest(
        ${chunks.map(({ id }) => id)}::uuid[], ${chunks.map(({ position }) => position)}::int4[],
        ${starts}::int4[], ${chunks.map(({ chunk }) => chunk.length)}::int4[]
      ) as chunk (file_id, position, start, length)`
}

/** Returns undefined if the upload was deleted. */
export const finishUpload = (tx: Tx, { organizationId, id, hash, bytes, uses }: NewFileRow) =>
  firstValue(tx<{ id: FileId }>`
    update stored_files set hash = decode(${hash}, 'hex'), bytes = ${bytes}, uses = ${uses}
    where organization_id = ${organizationId} and id = ${id} and hash is null
    returning id`)

/** Locks the files in key order, so that two transactions cannot deadlock. */
export const lockFiles = (tx: Tx, organizationId: OrganizationId, ids: readonly FileId[]) =>
  tx`
    select from stored_files
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])
    order by id
    for update`

/** Adds to the number of uses, which may be negative, and returns the files that are not used any more. */
export const changeUses = (tx: Tx, organizationId: OrganizationId, changes: readonly { id: FileId; uses: number }[]) =>
  allValues(tx<{ id: FileId | null }>`
    update stored_files set uses = stored_files.uses + change.uses
    from unnest(${changes.map(({ id }) => id)}::uuid[], ${changes.map(({ uses }) => uses)}::int8[]) as change (id, uses)
    where stored_files.organization_id = ${organizationId} and stored_files.id = change.id
    returning case when stored_files.uses <= 0 then stored_files.id end as id`).then((ids) =>
    ids.filter((id) => id !== null),
  )

/** The row of a file in the bucket is kept, like that of an old upload, until its object is deleted. */
export async function deleteFiles(tx: Tx, organizationId: OrganizationId, ids: readonly FileId[]): Promise<void> {
  if (ids.length === 0) return
  tx.send`delete from stored_file_chunks where organization_id = ${organizationId} and file_id = any (${ids}::uuid[])`
  tx.send`
    update stored_files set hash = null, uses = 0, created_at = '-infinity'
    where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and in_bucket`
  await tx`
    delete from stored_files where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and not in_bucket`
}

/** Skips files that an email was accepted with. */
export async function deleteUploads(tx: Tx, organizationId: OrganizationId, ids: readonly FileId[]): Promise<void> {
  const deleted = await allValues(tx<{ id: FileId }>`
    delete from stored_files
    where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and hash is null and not in_bucket
    returning id`)
  if (deleted.length > 0)
    await tx`
      delete from stored_file_chunks
      where organization_id = ${organizationId} and file_id = any (${deleted}::uuid[])`
}

/** Uploads that no email was accepted with, oldest first. */
export const selectOldUploads = (db: Reader, { minutes, limit }: { minutes: number; limit: number }) =>
  db<{ organizationId: OrganizationId; id: FileId }>`
    select organization_id, id from stored_files
    where hash is null and not in_bucket and created_at < now() - ${minutes} * interval '1 minute'
    order by created_at
    limit ${limit}`

export const isInBucket = (db: Reader, organizationId: OrganizationId, id: FileId) =>
  firstValue(db<{ inBucket: boolean }>`
    select in_bucket from stored_files where organization_id = ${organizationId} and id = ${id}`)

export type BucketFileId = { organizationId: OrganizationId; id: FileId }

/** Files in the bucket that nothing uses: deleted ones, then uploads that were never finished, oldest first. */
export const selectUnusedObjects = (db: Reader, { minutes, limit }: { minutes: number; limit: number }) =>
  db<BucketFileId>`
    select organization_id, id from stored_files
    where hash is null and in_bucket and created_at < now() - ${minutes} * interval '1 minute'
    order by created_at
    limit ${limit}`

type ObjectFilter = { minutes: number; limit: number }

/** Files of an organization in the bucket, except for uploads that may be in progress. */
export const selectObjects = (db: Reader, organizationId: OrganizationId, { minutes, limit }: ObjectFilter) =>
  db<BucketFileId>`
    select organization_id, id from stored_files
    where organization_id = ${organizationId} and in_bucket
      and (hash is not null or created_at < now() - ${minutes} * interval '1 minute')
    order by id
    limit ${limit}`

export const countObjects = (db: Reader, organizationId: OrganizationId) =>
  onlyValue(db<{ count: number }>`
    select count(*) as count from stored_files where organization_id = ${organizationId} and in_bucket`)

/** The object must be deleted, or be unreachable for good. */
export const deleteObjectRow = (db: Writer, { organizationId, id }: BucketFileId) =>
  db`delete from stored_files where organization_id = ${organizationId} and id = ${id} and in_bucket`

/** Deleting the object is tried again when it is as old as an upload that was not finished. */
export const postponeObject = (db: Writer, { organizationId, id }: BucketFileId) =>
  db`
    update stored_files set created_at = now()
    where organization_id = ${organizationId} and id = ${id} and in_bucket and hash is null`
