import type { Db } from '../../platform/db/db.ts'
import { type Bucket, BucketFault } from '../../platform/object-storage/bucket.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { keyOf } from './bucket-files.ts'
import {
  type BucketFileId,
  countObjects,
  deleteObjectRow,
  postponeObject,
  selectObjects,
  selectUnusedObjects,
} from './files.sql.ts'

export { countObjects }

const batch = 100
/** At most this many batches in a run. The next run continues. */
const batchesMax = 20
/** Longer than any upload can take. */
const uploadMinutesMax = 60
/** So many objects in a row that cannot be deleted end a run. */
const faultsMax = 3

/**
 * Deletes the objects of files that nothing uses any more. One that cannot be deleted is tried again an hour later. Throws
 * the last `BucketFault` at the end.
 */
export async function removeUnusedObjects(db: Db, bucket: Bucket): Promise<void> {
  let lastFault: BucketFault | undefined
  for (let round = 0; round < batchesMax; round++) {
    const unused = await selectUnusedObjects(db, { minutes: uploadMinutesMax, limit: batch })
    let faultsInRow = 0
    for (const file of unused) {
      const fault = await remove(db, bucket, file)
      faultsInRow = fault ? faultsInRow + 1 : 0
      if (!fault) continue
      lastFault = fault
      await postponeObject(db.statement, file)
      if (faultsInRow >= faultsMax) throw fault
    }
    if (unused.length < batch) break
  }
  if (lastFault) throw lastFault
}

async function remove(db: Db, bucket: Bucket, file: BucketFileId): Promise<BucketFault | undefined> {
  try {
    await bucket.delete(keyOf(file))
  } catch (error) {
    if (error instanceof BucketFault) return error
    throw error
  }
  await deleteObjectRow(db.statement, file)
  return undefined
}

/**
 * Deletes the objects of a deleted organization. Returns how many, and how many are left: those of uploads that may be in
 * progress, whose object may be stored after its deletion. Without a bucket, only their rows are deleted. Throws
 * `BucketFault`.
 */
export async function eraseObjects(
  db: Db,
  bucket: Bucket | undefined,
  organizationId: OrganizationId,
): Promise<{ erased: number; left: number }> {
  let erased = 0
  for (;;) {
    const files = await selectObjects(db, organizationId, { minutes: uploadMinutesMax, limit: batch })
    if (files.length === 0) return { erased, left: await countObjects(db, organizationId) }
    for (const file of files) {
      await bucket?.delete(keyOf(file))
      await deleteObjectRow(db.statement, file)
      erased++
    }
  }
}
