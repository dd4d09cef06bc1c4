import { backUp } from '../backup/backup.ts'
import { recordBackup } from '../backup/last-backup.ts'
import { reportProgress } from '../backup/progress.ts'
import { readSettings } from '../config/config.ts'
import { version } from '../config/package-root.ts'
import { openLog } from '../runtime/log.ts'
import type { Call } from './call.ts'
import { databaseOf, printJson, readSecrets } from './database.ts'
import { readPassphrase } from './passphrase-flag.ts'

const note = (line: string) => process.stderr.write(`${line}\n`)

/**
 * Works beside a running service. Prints the size and the checksum of the file as JSON. Runs no migrations: a backup is
 * also made before an upgrade.
 */
export async function backUpDatabase({ sources, flags, words }: Call): Promise<number> {
  const [file] = words
  if (file === undefined || words.length > 1) {
    note('The name of one file is required: waxwing backup FILE.')
    return 2
  }
  const config = readSettings(sources)
  const passphrase = await readPassphrase(flags, config)
  const database = await databaseOf(config, await openLog('silent'), {
    orRunning: true,
    applicationName: 'waxwing backup',
  })
  try {
    const secrets = await readSecrets(database, config)
    const { tables, rows, bytes, sha256 } = await backUp(file, {
      db: database.db,
      secrets,
      dataDir: config.DATA_DIR,
      waxwing: version,
      passphrase,
      progress: reportProgress('Backing up', note),
    })
    await recordBackup(database.db)
    if (passphrase === undefined)
      note('The backup is not encrypted and contains APP_SECRET. Keep it where only you can read it.')
    printJson(database, { file, bytes, sha256, encrypted: !!passphrase, tables, rows })
    return 0
  } finally {
    await database.close()
  }
}
