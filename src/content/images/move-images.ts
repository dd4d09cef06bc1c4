import type { Db } from '../../platform/db/db.ts'
import type { BucketFiles } from '../files/bucket-files.ts'
import { isFileGone, readWholeFile, releaseFiles, useFiles } from '../files/files.ts'
import { type Image, replaceFile, selectImagesToMove } from './images.sql.ts'

const batch = 50
/** In one run. The next one continues. */
const imagesMax = 5_000

/**
 * Moves images from the database to the bucket: those that were uploaded before it was set, restored or imported. One at a
 * time, and without a connection or a lock while an image is being uploaded. Throws `Refusal` if the bucket is unavailable.
 */
export async function moveImages(db: Db, bucketFiles: BucketFiles): Promise<void> {
  let last: Image | undefined
  for (let moved = 0; moved < imagesMax; moved += batch) {
    const images: Image[] = await selectImagesToMove(db, last, batch)
    for (const image of images) await move(db, bucketFiles, image)
    last = images.at(-1)
    if (images.length < batch) return
  }
}

async function move(db: Db, bucketFiles: BucketFiles, image: Image): Promise<void> {
  const { organizationId, fileId, contentType } = image
  const content = await readWholeFile(db, organizationId, fileId, image.bytes).catch((error) => {
    if (isFileGone(error)) return undefined
    throw error
  })
  // It was deleted meanwhile.
  if (!content) return
  const file = await bucketFiles.upload(organizationId, content, contentType)
  await db.begin(async (tx) => {
    const stored = await useFiles(tx, organizationId, [file])
    // If the image was deleted meanwhile, nothing uses the object.
    const isMoved = await replaceFile(tx, image, stored.get(file.id)!)
    await releaseFiles(tx, organizationId, [isMoved ? fileId : stored.get(file.id)!])
  })
}
