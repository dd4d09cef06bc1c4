import { confirmImport } from '../../accounts/accounts.ts'
import { version } from '../../platform/config/package-root.ts'
import { bucketOf } from '../../platform/object-storage/bucket.ts'
import { SetupFault } from '../../platform/values/errors.ts'
import { type OrganizationId, parseId, toText } from '../../platform/values/ids.ts'
import { exportOrganization } from '../backup/export-organization.ts'
import { importOrganization } from '../backup/import-organization.ts'
import { reportProgress } from '../backup/progress.ts'
import { noteMissing } from './backup.ts'
import { type Call, note, onlyFile, textOf, UsageFault } from './call.ts'
import { ofService, printJson, readSecrets, withDatabase } from './database.ts'

/** Writes one organization to a file while Waxwing is running. Prints a summary as JSON. */
export async function exportToFile(call: Call): Promise<void> {
  const organizationId = organizationOf(call, 'export')
  const file = onlyFile(call, 'export --organization org_…')
  await withDatabase(call, ofService, async (database, config) => {
    const progress = reportProgress('Exporting', note)
    const { rows, missing } = await exportOrganization(file, {
      db: database.db,
      organizationId,
      waxwing: version,
      bucket: bucketOf(config),
      progress,
    })
    noteMissing(missing)
    printJson(database, { file, organization_id: toText('org', organizationId), rows })
  })
}

/** Imports an organization while Waxwing is running. Prints a summary as JSON. */
export async function importFromFile(call: Call): Promise<void> {
  const file = onlyFile(call, 'import')
  await withDatabase(call, ofService, async (database, config) => {
    const secrets = await readSecrets(database, config)
    const progress = reportProgress('Importing', note)
    const { organizationId, isNew, rows } = await importOrganization(file, { db: database.db, secrets, progress })
    const id = toText('org', organizationId)
    const confirm = `waxwing confirm-import --organization ${id}`
    if (isNew)
      note(
        `Its domains have new DNS records to publish, its webhooks are paused, and its API keys do not work until you run ${confirm}.`,
      )
    else note('The organization already exists. Nothing was changed.')
    printJson(database, { organization_id: id, imported: isNew, rows })
  })
}

/** Confirms that an imported organization is trusted. Prints its members and what changed as JSON. */
export async function confirmImported(call: Call): Promise<void> {
  const organizationId = organizationOf(call, 'confirm-import')
  await withDatabase(call, ofService, async (database) => {
    const confirmed = await confirmImport(database.db, organizationId)
    if (!confirmed) throw new SetupFault('There is no organization with this id. `waxwing import` prints it.')
    const { isOperator, apiKeys, members } = confirmed
    const id = toText('org', organizationId)
    printJson(database, { organization_id: id, operator: isOperator, api_keys: apiKeys, members })
  })
}

function organizationOf({ flags }: Call, command: string): OrganizationId {
  const id = parseId('org', textOf(flags, 'organization') ?? '')
  if (!id) throw new UsageFault(`The id of the organization is required: waxwing ${command} --organization org_….`)
  return id
}
