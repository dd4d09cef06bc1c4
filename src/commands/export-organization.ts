import { confirmImport } from '../accounts/confirm-import.ts'
import { exportOrganization } from '../backup/export-organization.ts'
import { importOrganization } from '../backup/import-organization.ts'
import { reportProgress } from '../backup/progress.ts'
import { version } from '../config/package-root.ts'
import { SetupFault } from '../values/errors.ts'
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
    const id = toText('org', organizationId)
    if (isNew)
      note(
        `Its webhooks are paused, and its API keys do not work until you run waxwing confirm-import --organization ${id}.`,
      )
    else note('The organization already exists. Nothing was changed.')
    printJson(database, { organization_id: id, imported: isNew, rows })
    return 0
  })
}

/** Confirms that an imported organization is trusted. Prints its members and what changed as JSON. */
export async function confirmImported(call: Call): Promise<number> {
  const organizationId = parseId('org', textOf(call.flags, 'organization') ?? '')
  if (!organizationId) {
    note('The id of the organization is required: waxwing confirm-import --organization org_….')
    return 2
  }
  return withDatabase(call, async (database) => {
    const confirmed = await confirmImport(database.db, organizationId)
    if (!confirmed) throw new SetupFault('There is no organization with this id. `waxwing import` prints it.')
    const { isOperator, apiKeys, members } = confirmed
    const id = toText('org', organizationId)
    printJson(database, { organization_id: id, operator: isOperator, api_keys: apiKeys, members })
    return 0
  })
}
