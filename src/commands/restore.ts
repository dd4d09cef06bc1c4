import { reportProgress } from '../backup/progress.ts'
import { restore } from '../backup/restore.ts'
import { readConfig, readEnvironment } from '../config/config.ts'
import { openLog } from '../runtime/log.ts'
import { databaseOf } from './database.ts'
import type { Flags } from './flags.ts'
import { readPassphrase } from './passphrase-flag.ts'

const note = (line: string) => process.stderr.write(`${line}\n`)

/** Restores a backup while no other process uses the database. Prints a summary as JSON. */
export async function restoreDatabase(flags: Flags, files: string[]): Promise<number> {
  const [file] = files
  if (file === undefined || files.length > 1) {
    note('The name of one file is required: waxwing restore FILE.')
    return 2
  }
  const config = readConfig(readEnvironment())
  const passphrase = await readPassphrase(flags, config)
  const database = await databaseOf(config, await openLog('silent'), { applicationName: 'waxwing restore' })
  try {
    const { createdAt, waxwing, tables, rows, migrated } = await restore(file, {
      db: database.db,
      passphrase,
      replace: flags.replace === true,
      pause: true,
      secretPlace: {
        setting: config.APP_SECRET,
        previousSetting: config.APP_SECRET_PREVIOUS,
        dataDir: config.DATA_DIR,
      },
      dataDir: config.DATA_DIR,
      progress: reportProgress('Restoring', note),
    })
    note('Sending is paused, because emails and webhooks that were queued in the backup may have been sent since.')
    note('Start Waxwing, look at what is queued, and run `waxwing resume-sending` or `… --discard-queued`.')
    process.stdout.write(`${JSON.stringify({ file, created_at: createdAt, waxwing, tables, rows, migrated })}\n`)
    return 0
  } finally {
    await database.close()
  }
}
