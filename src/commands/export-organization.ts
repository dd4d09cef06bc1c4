import { exportOrganization } from '../backup/export-organization.ts'
import { importOrganization } from '../backup/import-organization.ts'
import { reportProgress } from '../backup/progress.ts'
import { version } from '../config/package-root.ts'
import { parseId, toText } from '../values/ids.ts'
import { webhookSecretBox } from '../webhooks/signing-secrets.ts'
import { type Call, textOf } from './call.ts'
import { printJson, readSecrets, withDatabase } from './database.ts'

const note = (line: string) => process.stderr.write(`${line}\n`)

/** Writes one organization to a file while Waxwing is running. Prints a summary as JSON. */
export async function exportToFile(call: Call): Promise<number> {
  const organizationId = parseId('org', textOf(call.flags, 'organization') ?? '')
  const [file] = call.words
  if (!organizationId || file === undefined || call.words.length > 1) {
    note('The id of the organization and one file are required: waxwing export --organization org_… FILE.')
    return 2
  }
  return withDatabase(call, async (database) => {
    const progress = reportProgress('Exporting', note)
    const rows = await exportOrganization(file, { db: database.db, organizationId, waxwing: version, progress })
    printJson(database, { file, organization_id: toText('org', organizationId), rows })
    return 0
  })
}

/** Imports an organization while Waxwing is running. Prints a summary as JSON. */
export async function importFromFile(call: Call): Promise<number> {
  const [file] = call.words
  if (file === undefined || call.words.length > 1) {
    note('The name of one file is required: waxwing import FILE.')
    return 2
  }
  return withDatabase(call, async (database, config) => {
    const box = webhookSecretBox(await readSecrets(database, config))
    const progress = reportProgress('Importing', note)
    const { organizationId, isNew, rows } = await importOrganization(file, { db: database.db, box, progress })
    if (!isNew) note('The organization already exists. Nothing was changed.')
    printJson(database, { organization_id: toText('org', organizationId), imported: isNew, rows })
    return 0
  })
}
