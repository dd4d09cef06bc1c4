import { readSettings } from '../../platform/config/config.ts'
import { reportProgress } from '../backup/progress.ts'
import { restore } from '../backup/restore.ts'
import { type Call, note, onlyFile } from './call.ts'
import { printJson, withDatabase } from './database.ts'
import { readPassphrase } from './passphrase-flag.ts'

/** Restores a backup while no other process uses the database. Prints a summary as JSON. */
export async function restoreDatabase(call: Call): Promise<void> {
  const file = onlyFile(call, 'restore')
  const passphrase = await readPassphrase(call.flags, readSettings(call.sources))
  const options = { mayCreate: true, applicationName: 'waxwing restore', migrates: false }
  await withDatabase(call, options, async (database, config) => {
    const { APP_SECRET: setting, APP_SECRET_PREVIOUS: previousSetting, DATA_DIR: dataDir } = config
    const { createdAt, waxwing, tables, rows, migrated } = await restore(file, {
      db: database.db,
      passphrase,
      replace: call.flags.replace === true,
      pause: true,
      secretPlace: { setting, previousSetting, dataDir },
      dataDir,
      progress: reportProgress('Restoring', note),
    })
    note('Sending is paused, because emails and webhooks that were queued in the backup may have been sent since.')
    note('Start Waxwing, look at what is queued, and run `waxwing resume-sending` or `… --discard-queued`.')
    printJson(database, { file, created_at: createdAt, waxwing, tables, rows, migrated })
  })
}
