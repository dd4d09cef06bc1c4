import { randomBytes } from 'node:crypto'
import type { Db, Reader } from '../../platform/db/db.ts'
import type { TaskPool } from '../../platform/tasks/pool.ts'
import { conflict, invalid, notFound } from '../../platform/values/errors.ts'
import { type ImageId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import { checkName } from '../../platform/values/names.ts'
import { isStorable, unstorableProblem } from '../../platform/values/text.ts'
import type { BucketFiles } from '../files/bucket-files.ts'
import { releaseFiles, smallFile, useFiles } from '../files/files.ts'
import { imageKeyOf, secretBytes } from './address.ts'
import {
  deleteImageRow,
  type FlowWithImage,
  findImage,
  type Image,
  insertImage,
  selectFlowsWith,
  sumImages,
  updateImage,
} from './images.sql.ts'
import { prepareImageTask } from './prepare-image.task.ts'

export type { Image } from './images.sql.ts'

export const imagesMax = 2_000
export const altTextMax = 500
const flowsMax = 20
const mib = 1024 * 1024

export type ImageParts = { db: Db; tasks: TaskPool; bucketFiles?: BucketFiles; mibPerOrganization: number }
export type NewImage = { name: string; altText: string; bytes: Buffer }

/** Throws `Refusal` if it is no image, the organization has too many of them, or the storage is unavailable. */
export async function createImage(
  { db, tasks, bucketFiles, mibPerOrganization }: ImageParts,
  organizationId: OrganizationId,
  given: NewImage,
): Promise<Image> {
  const name = checkName(given.name)
  const altText = checkAltText(given.altText)
  await checkSpace(db, organizationId, given.bytes.length, mibPerOrganization)
  const { bytes, ...prepared } = await tasks.run(prepareImageTask, { organizationId, input: given.bytes })
  const file = bucketFiles?.bucket
    ? await bucketFiles.upload(organizationId, bytes, prepared.contentType)
    : smallFile(bytes)
  return db.begin(async (tx) => {
    const stored = await useFiles(tx, organizationId, [file])
    return insertImage(tx, {
      organizationId,
      id: newId('img'),
      fileId: stored.get(file.id)!,
      secret: randomBytes(secretBytes),
      name,
      altText,
      ...prepared,
      bytes: bytes.length,
    })
  })
}

/** Not exact if several images are uploaded at the same time. */
async function checkSpace(db: Db, organizationId: OrganizationId, bytes: number, mibMax: number): Promise<void> {
  const sum = await sumImages(db, organizationId)
  if (sum.count >= imagesMax)
    throw conflict(`An organization can have at most ${imagesMax} images. Delete some that are no longer needed.`)
  if (sum.bytes + bytes > mibMax * mib)
    throw conflict(
      `The images of your organization take more than ${mibMax} MB. Delete some that are no longer needed.`,
    )
}

export async function getImage(db: Reader, organizationId: OrganizationId, id: ImageId): Promise<Image> {
  const image = await findImage(db, organizationId, id)
  if (!image) throw notFound('image')
  return image
}

export async function changeImage(
  db: Db,
  organizationId: OrganizationId,
  id: ImageId,
  changes: { name?: string | undefined; altText?: string | undefined },
): Promise<Image> {
  const name = changes.name === undefined ? undefined : checkName(changes.name)
  const altText = changes.altText === undefined ? undefined : checkAltText(changes.altText)
  const changed = await updateImage(db.statement, { organizationId, id, name, altText })
  if (!changed) throw notFound('image')
  return changed
}

export const findFlowsWith = (db: Reader, image: Image): Promise<FlowWithImage[]> =>
  selectFlowsWith(db, image.organizationId, imageKeyOf(image), flowsMax)

export async function deleteImage(db: Db, organizationId: OrganizationId, id: ImageId): Promise<void> {
  await db.begin(async (tx) => {
    const deleted = await deleteImageRow(tx, organizationId, id)
    if (!deleted) throw notFound('image')
    await releaseFiles(tx, organizationId, [deleted.fileId])
  })
}

function checkAltText(given: string): string {
  const text = given.trim()
  if (!isStorable(text)) throw invalid({ path: 'alt_text', problem: unstorableProblem })
  return text
}
