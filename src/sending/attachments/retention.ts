import { discardUploads, releaseFiles, selectOldUploads } from '../../content/content.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import type { EmailId, OrganizationId } from '../../platform/values/ids.ts'
import { filesOf } from './content.ts'
import { deleteBodies, extendStored, lockExpired, selectExpired, selectQueued } from './contents.sql.ts'

const batch = 500
/** At most this many batches in a run. The next run continues. */
const batchesMax = 1_000
/** Longer than any request can take. */
const uploadMinutesMax = 60
/** For emails that are still queued, for example because sending is paused. */
const extensionDays = 1

/** Deletes the bodies and files of emails whose time is over, and uploads that no email was accepted with. */
export async function removeExpiredContents(db: Db): Promise<void> {
  for (let round = 0; round < batchesMax; round++) {
    const uploads = await selectOldUploads(db, { minutes: uploadMinutesMax, limit: batch })
    for (const { organizationId, id } of uploads) await discardUploads(db, organizationId, [id])
    const expired = await selectExpired(db, batch)
    const withoutFiles = expired.filter(({ hasFiles }) => !hasFiles)
    for (const [organizationId, own] of groupBy(withoutFiles, (each) => each.organizationId)) {
      const ids = own.map(({ id }) => id)
      await db.begin((tx) => deleteContents(tx, organizationId, ids))
    }
    // Each in a transaction of its own, because their files may have many megabytes.
    for (const { organizationId, id, hasFiles } of expired)
      if (hasFiles) await db.begin((tx) => deleteContents(tx, organizationId, [id]))
    if (uploads.length < batch && expired.length < batch) return
  }
}

/** Deletes bodies and files, except of emails that are still to be sent. */
async function deleteContents(tx: Tx, organizationId: OrganizationId, ids: readonly EmailId[]): Promise<void> {
  const due = await lockExpired(tx, organizationId, ids)
  const queued = new Set(await selectQueued(tx, organizationId, ids))
  const sent = due.filter(({ id }) => !queued.has(id))
  const idsOf = (rows: typeof due) => rows.map(({ id }) => id)
  if (queued.size > 0)
    await extendStored(tx, organizationId, idsOf(due.filter(({ id }) => queued.has(id))), extensionDays)
  await deleteBodies(tx, organizationId, idsOf(sent))
  const files = sent.flatMap(({ details }) => filesOf(details).map(({ fileId }) => fileId))
  if (files.length > 0) await releaseFiles(tx, organizationId, files)
}
