import { reportProgress } from '../backup/progress.ts'
import { restore } from '../backup/restore.ts'
import { readSettings } from '../config/config.ts'
import { openLog } from '../runtime/log.ts'
import type { Call } from './call.ts'
import { databaseOf, printJson } from './database.ts'
import { readPassphrase } from './passphrase-flag.ts'

const note = (line: string) => process.stderr.write(`${line}\n`)

/** Restores a backup while no other process uses the database. Prints a summary as JSON. */
export async function restoreDatabase({ sources, flags, words }: Call): Promise<number> {
  const [file] = words
  if (file === undefined || words.length > 1) {
    note('The name of one file is required: waxwing restore FILE.')
    return 2
  }
  const config = readSettings(sources)
  const passphrase = await readPassphrase(flags, config)
  const database = await databaseOf(config, await openLog('silent'), {
    mayCreate: true,
    applicationName: 'waxwing restore',
  })
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
    printJson(database, { file, created_at: createdAt, waxwing, tables, rows, migrated })
    return 0
  } finally {
    await database.close()
  }
}
