import { countObjects, eraseObjects, folderOf } from '../../content/content.ts'
import type { Db } from '../../platform/db/db.ts'
import { type Bucket, BucketFault } from '../../platform/object-storage/bucket.ts'
import type { Log } from '../../platform/runtime/log.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import {
  deleteOrganizationRow,
  deleteRows,
  selectDeletedOrganizations,
  selectTenantTables,
} from './erase-organization.sql.ts'

const rowsPerBatch = 2_000
/**
 * Work that was in progress at the time of the deletion may still write rows. The row of the organization is kept until
 * then.
 */
const keepMsDefault = 15 * 60 * 1000

export type ErasureOptions = {
  db: Db
  log: Log
  /** Where images are stored, if not in the database. */
  bucket: Bucket | undefined
  batchRows?: number
  keepMs?: number
}

/**
 * Erases the rows and the objects of deleted organizations in batches, one transaction per batch. All state is in the
 * database, so any process can continue after a crash. Throws `BucketFault` at the end if objects could not be deleted:
 * their organizations are kept until they can. While the storage fails, only rows are erased.
 */
export async function eraseDeletedOrganizations(options: ErasureOptions): Promise<void> {
  const { db, log, batchRows = rowsPerBatch, keepMs = keepMsDefault } = options
  let fault: BucketFault | undefined
  for (const { id, isDue } of await selectDeletedOrganizations(db, keepMs)) {
    let erased = 0
    for (const table of await selectTenantTables(db)) {
      let deleted: number
      do {
        deleted = await deleteRows(db.statement, table, id, batchRows)
        erased += deleted
      } while (deleted === batchRows)
    }
    if (erased > 0) log.info({ organization: id, rows: erased }, 'Erased rows of a deleted organization')
    // Every request to storage that does not respond takes seconds.
    const objects = fault?.isPassing
      ? { erased: 0, left: await countObjects(db, id) }
      : await eraseFilesInBucket(options, id)
    if (objects instanceof BucketFault) fault = objects
    else if (erased === 0 && objects.erased === 0 && objects.left === 0 && isDue)
      await deleteOrganizationRow(db.statement, id)
  }
  if (fault) throw fault
}

async function eraseFilesInBucket({ db, log, bucket }: ErasureOptions, id: OrganizationId) {
  try {
    const objects = await eraseObjects(db, bucket, id)
    if (objects.erased > 0 && !bucket)
      log.warn(
        { folder: folderOf(id), objects: objects.erased },
        'Objects of a deleted organization are left in a bucket',
      )
    return objects
  } catch (error) {
    if (error instanceof BucketFault) return error
    throw error
  }
}
