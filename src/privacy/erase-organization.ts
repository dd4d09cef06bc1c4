import type { Db } from '../db/db.ts'
import type { Log } from '../runtime/log.ts'
import {
  deleteOrganizationRow,
  deleteRows,
  selectDeletedOrganizations,
  selectTenantTables,
} from './erase-organization.sql.ts'

const rowsPerBatch = 2_000
/** What was in progress when the organization was deleted may write rows for a while; the row of the organization waits for it. */
const keepMsDefault = 15 * 60 * 1000

export type ErasureOptions = { db: Db; log: Log; batchRows?: number; keepMs?: number }

/**
 * Erases the rows of deleted organizations in batches, each a transaction of its own. All state is in the database, so a
 * process that is killed loses nothing and any process can continue.
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
