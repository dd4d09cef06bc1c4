import { backUp } from '../backup/backup.ts'
import { recordBackup } from '../backup/last-backup.ts'
import { reportProgress } from '../backup/progress.ts'
import { readConfig, readEnvironment } from '../config/config.ts'
import { version } from '../config/package-root.ts'
import { openLog } from '../runtime/log.ts'
import { databaseOf, readSecrets } from './database.ts'
import type { Flags } from './flags.ts'
import { readPassphrase } from './passphrase-flag.ts'

const note = (line: string) => process.stderr.write(`${line}\n`)

/** Works beside a running service. Prints the size and the checksum of the file as JSON. */
export async function backUpDatabase(flags: Flags, files: string[]): Promise<number> {
  const [file] = files
  if (file === undefined || files.length > 1) {
    note('The name of one file is required: waxwing backup FILE.')
    return 2
  }
  const config = readConfig(readEnvironment())
  const passphrase = await readPassphrase(flags, config)
  const secrets = await readSecrets(config)
  const database = await databaseOf(config, await openLog('silent'), {
    orRunning: true,
    applicationName: 'waxwing backup',
  })
  try {
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
    process.stdout.write(`${JSON.stringify({ file, bytes, sha256, encrypted: !!passphrase, tables, rows })}\n`)
    return 0
  } finally {
    await database.close()
  }
}
