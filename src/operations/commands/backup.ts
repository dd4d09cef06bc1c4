import { readSettings } from '../../platform/config/config.ts'
import { version } from '../../platform/config/package-root.ts'
import { bucketOf } from '../../platform/object-storage/bucket.ts'
import { backUp } from '../backup/backup.ts'
import { recordBackup } from '../backup/last-backup.ts'
import { reportProgress } from '../backup/progress.ts'
import { type Call, note, onlyFile } from './call.ts'
import { printJson, readSecrets, withDatabase } from './database.ts'
import { readPassphrase } from './passphrase-flag.ts'

/** Prints size and checksum of the file as JSON. Runs no migrations: a backup is also made before an upgrade. */
export async function backUpDatabase(call: Call): Promise<void> {
  const file = onlyFile(call, 'backup')
  const passphrase = await readPassphrase(call.flags, readSettings(call.sources))
  const options = { orRunning: true, applicationName: 'waxwing backup', migrates: false }
  await withDatabase(call, options, async (database, config) => {
    const { tables, rows, missing, bytes, sha256 } = await backUp(file, {
      db: database.db,
      secrets: await readSecrets(database, config),
      dataDir: config.DATA_DIR,
      waxwing: version,
      passphrase,
      bucket: bucketOf(config),
      progress: reportProgress('Backing up', note),
    })
    await recordBackup(database.db)
    noteMissing(missing)
    if (passphrase === undefined)
      note('The backup is not encrypted and contains APP_SECRET. Keep it where only you can read it.')
    printJson(database, { file, bytes, sha256, encrypted: !!passphrase, tables, rows })
  })
}

export function noteMissing(files: number): void {
  if (files === 0) return
  const images = files === 1 ? '1 image was' : `${files} images were`
  note(`${images} not found in the bucket and will be missing. This is normal if images were deleted in the meantime.`)
}
