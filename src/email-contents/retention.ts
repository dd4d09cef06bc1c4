import type { Db } from '../db/db.ts'
import { filesOf } from './content.ts'
import { isStillQueued, lockContent, selectExpiredFiles, updateFilesUntil } from './contents.sql.ts'
import { selectOldUploads } from './files.sql.ts'
import { discardUploads, releaseFiles } from './files.ts'

const batch = 100
/** At most this many batches in a run. The next run continues. */
const batchesMax = 100
/** Longer than any request can take. */
const uploadMinutesMax = 60
/** For emails that are still queued, for example because sending is paused. */
const extensionDays = 1

/** Deletes files whose time is over, and uploads that no email was accepted with. */
export async function removeExpiredFiles(db: Db): Promise<void> {
  for (let round = 0; round < batchesMax; round++) {
    const uploads = await selectOldUploads(db, { minutes: uploadMinutesMax, limit: batch })
    for (const { organizationId, id } of uploads) await discardUploads(db, organizationId, [id])
    const expired = await selectExpiredFiles(db, batch)
    for (const { organizationId, id } of expired)
      await db.begin(async (tx) => {
        const content = await lockContent(tx, organizationId, id)
        if (!content?.filesUntil) return
        if (await isStillQueued(tx, organizationId, id))
          return void (await updateFilesUntil(tx, organizationId, id, extensionDays))
        await updateFilesUntil(tx, organizationId, id, null)
        await releaseFiles(
          tx,
          organizationId,
          filesOf(content.details).map(({ fileId }) => fileId),
        )
      })
    if (uploads.length < batch && expired.length < batch) return
  }
}
