import { containsInAnyCase } from '../../platform/db/any-case.ts'
import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { first, only } from '../../platform/db/rows.ts'
import { and, sql } from '../../platform/db/sql.ts'
import type { FileId, FlowId, ImageId, OrganizationId } from '../../platform/values/ids.ts'
import type { ImageContentType } from './formats.ts'

export type Image = {
  organizationId: OrganizationId
  id: ImageId
  fileId: FileId
  secret: Buffer
  name: string
  altText: string
  contentType: ImageContentType
  width: number
  height: number
  frames: number
  bytes: number
  createdAt: Date
}

const columns = sql`
  organization_id, id, file_id, secret, name, alt_text, content_type, width, height, frames, bytes, created_at`

export const insertImage = (tx: Tx, image: Omit<Image, 'createdAt'>) =>
  only(tx<Image>`
    insert into images (organization_id, id, file_id, secret, name, alt_text, content_type, width, height, frames, bytes)
    values (${image.organizationId}, ${image.id}, ${image.fileId}, ${image.secret}, ${image.name}, ${image.altText},
      ${image.contentType}, ${image.width}, ${image.height}, ${image.frames}, ${image.bytes})
    returning ${columns}`)

export const sumImages = (db: Reader, organizationId: OrganizationId) =>
  only(db<{ count: number; bytes: number }>`
    select count(*) as count, coalesce(sum(bytes), 0)::int8 as bytes from images
    where organization_id = ${organizationId}`)

export const findImage = (db: Reader, organizationId: OrganizationId, id: ImageId) =>
  first(db<Image>`select ${columns} from images where organization_id = ${organizationId} and id = ${id}`)

export type ImageFilter = { query?: string | undefined; before?: ImageId | undefined; limit: number }

/** Newest first. */
export const selectImages = (db: Reader, organizationId: OrganizationId, { query, before, limit }: ImageFilter) =>
  db<Image>`
    select ${columns} from images
    where ${and([
      sql`organization_id = ${organizationId}`,
      ...(query ? [containsInAnyCase(sql`name`, query)] : []),
      ...(before ? [sql`id < ${before}`] : []),
    ])}
    order by id desc
    limit ${limit}`

type Change = Pick<Image, 'organizationId' | 'id'> & { name: string | undefined; altText: string | undefined }

export const updateImage = (db: Writer, { organizationId, id, name, altText }: Change) =>
  first(db<Image>`
    update images set name = coalesce(${name ?? null}, name), alt_text = coalesce(${altText ?? null}, alt_text)
    where organization_id = ${organizationId} and id = ${id}
    returning ${columns}`)

export const deleteImageRow = (tx: Tx, organizationId: OrganizationId, id: ImageId) =>
  first(tx<Pick<Image, 'fileId'>>`
    delete from images where organization_id = ${organizationId} and id = ${id} returning file_id`)

export type FlowWithImage = { id: FlowId; name: string }

/** Flows whose published version or draft contains this text. */
export const selectFlowsWith = (db: Reader, organizationId: OrganizationId, text: string, limit: number) =>
  db<FlowWithImage>`
    select flows.id, flows.name from flows
    left join flow_versions versions on versions.organization_id = ${organizationId} and versions.id = flows.version_id
    left join flow_drafts drafts on drafts.organization_id = ${organizationId} and drafts.flow_id = flows.id
    where flows.organization_id = ${organizationId} and flows.deleted_at is null
      and (strpos(versions.source, ${text}) > 0 or strpos(drafts.html, ${text}) > 0)
    order by flows.id desc
    limit ${limit}`

/** Images of any organization whose files are in the database, in the order of their keys. */
export const selectImagesToMove = (
  db: Reader,
  after: Pick<Image, 'organizationId' | 'id'> | undefined,
  limit: number,
) =>
  db<Image>`
    select ${columns} from images
    where ${and([
      sql`exists (
        select from stored_files files
        where files.organization_id = images.organization_id and files.id = images.file_id and not files.in_bucket)`,
      ...(after ? [sql`(organization_id, id) > (${after.organizationId}, ${after.id})`] : []),
    ])}
    order by organization_id, id
    limit ${limit}`

/** Returns undefined if the image was deleted, or has another file already. */
export const replaceFile = (tx: Tx, { organizationId, id, fileId }: Image, newFileId: FileId) =>
  first(tx<Image>`
    update images set file_id = ${newFileId}
    where organization_id = ${organizationId} and id = ${id} and file_id = ${fileId}
    returning ${columns}`)
