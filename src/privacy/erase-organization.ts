import type { Db } from '../db/db.ts'
import type { Log } from '../runtime/log.ts'
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

export type ErasureOptions = { db: Db; log: Log; batchRows?: number; keepMs?: number }

/**
 * Erases the rows of deleted organizations in batches, one transaction per batch. All state is in the database, so any
 * process can continue after a crash.
 */
export async function eraseDeletedOrganizations({
  db,
  log,
  batchRows = rowsPerBatch,
  keepMs = keepMsDefault,
}: ErasureOptions): Promise<void> {
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
    if (erased === 0 && isDue) await deleteOrganizationRow(db.statement, id)
  }
}
