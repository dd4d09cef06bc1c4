import { exportOrganization } from '../backup/export-organization.ts'
import { importOrganization } from '../backup/import-organization.ts'
import { reportProgress } from '../backup/progress.ts'
import { readConfig, readEnvironment } from '../config/config.ts'
import { version } from '../config/package-root.ts'
import { migrate } from '../db/migrate.ts'
import { openLog } from '../runtime/log.ts'
import { parseId, toText } from '../values/ids.ts'
import { webhookSecretBox } from '../webhooks/signing-secrets.ts'
import { databaseOf, readSecrets } from './database.ts'
import { type Flags, textOf } from './flags.ts'

const note = (line: string) => process.stderr.write(`${line}\n`)

/** Writes one organization to a file while Waxwing is running. Prints a summary as JSON. */
export async function exportToFile(flags: Flags, files: string[]): Promise<number> {
  const organizationId = parseId('org', textOf(flags, 'organization') ?? '')
  const [file] = files
  if (!organizationId || file === undefined || files.length > 1) {
    note('The id of the organization and one file are required: waxwing export --organization org_… FILE.')
    return 2
  }
  const config = readConfig(readEnvironment())
  const database = await databaseOf(config, await openLog('silent'), { orRunning: true })
  try {
    await migrate(database.db)
    const progress = reportProgress('Exporting', note)
    const rows = await exportOrganization(file, { db: database.db, organizationId, waxwing: version, progress })
    process.stdout.write(`${JSON.stringify({ file, organization_id: textOf(flags, 'organization'), rows })}\n`)
    return 0
  } finally {
    await database.close()
  }
}

/** Imports an organization while Waxwing is running. Prints a summary as JSON. */
export async function importFromFile(_flags: Flags, files: string[]): Promise<number> {
  const [file] = files
  if (file === undefined || files.length > 1) {
    note('The name of one file is required: waxwing import FILE.')
    return 2
  }
  const config = readConfig(readEnvironment())
  const box = webhookSecretBox(await readSecrets(config))
  const database = await databaseOf(config, await openLog('silent'), { orRunning: true })
  try {
    await migrate(database.db)
    const progress = reportProgress('Importing', note)
    const { organizationId, isNew, rows } = await importOrganization(file, { db: database.db, box, progress })
    if (!isNew) note('The organization already exists. Nothing was changed.')
    process.stdout.write(
      `${JSON.stringify({ organization_id: toText('org', organizationId), imported: isNew, rows })}\n`,
    )
    return 0
  } finally {
    await database.close()
  }
}
