import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type pg from 'pg'
import type { Db } from '../db/db.ts'
import type { SecretBox } from '../secrets/secrets.ts'
import { SetupFault } from '../values/errors.ts'
import type { OrganizationId } from '../values/ids.ts'
import { newWebhookSecret } from '../webhooks/webhooks.ts'
import { selectMigrations } from './catalog.sql.ts'
import type { EndLine, ExportHeader, TableLine } from './export-organization.ts'
import { findOrganization, hasOrganizations, insertRows, selectTenantTables } from './organization.sql.ts'
import type { Progress } from './progress.ts'

const rowsPerStatement = 500
/** A row of the inbox contains a whole email. */
const bytesPerStatement = 4 * 1024 * 1024

export type ImportOptions = { db: Db; box: SecretBox; progress: Progress }
/** `isNew` is false if the organization already existed: nothing was changed. */
export type ImportResult = { organizationId: OrganizationId; isNew: boolean; rows: number }

/**
 * Imports an organization in one transaction, completely or not at all. An organization that exists is not changed, so
 * importing a file again has no effect. Webhooks get new secrets and are paused. Throws `SetupFault` if the file is
 * incomplete, or was exported with another schema.
 */
export async function importOrganization(path: string, { db, box, progress }: ImportOptions): Promise<ImportResult> {
  await using session = await db.openSession()
  const { client } = session
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })
  const reader = lines[Symbol.asyncIterator]()
  try {
    await client.query('begin')
    const header = await readHeader(client, path, reader)
    const organizationId = header.organization_id
    if (await findOrganization(client, organizationId)) return { organizationId, isNew: false, rows: 0 }
    const rows = await insertAll(client, reader, { box, progress, isOperator: !(await hasOrganizations(client)) })
    await client.query('commit')
    return { organizationId, isNew: true, rows }
  } catch (error) {
    throw explain(error as pg.DatabaseError, path)
  } finally {
    lines.close()
  }
}

type Lines = AsyncIterator<string>

async function readHeader(client: pg.Client, path: string, reader: Lines): Promise<ExportHeader> {
  const line = await nextLine(reader)
  const header = parse<ExportHeader>(line)
  if (header?.format !== 'waxwing organization 1')
    throw new SetupFault(`${path} is not an export of an organization by this version of Waxwing.`)
  const migrations = (await selectMigrations(client)) ?? []
  if (migrations.map(({ number }) => number).join() !== header.migrations.join())
    throw new SetupFault(
      `The file was exported by version ${header.waxwing} with another schema. Upgrade both installations to the same version, and export it again.`,
    )
  return header
}

type InsertOptions = { box: SecretBox; progress: Progress; isOperator: boolean }

async function insertAll(client: pg.Client, reader: Lines, { box, progress, isOperator }: InsertOptions) {
  const known = new Map((await selectTenantTables(client)).map((table) => [table.name, table.columns.join()]))
  /** Values for the columns that an export does not contain. */
  const extraOf: Record<string, () => Record<string, unknown>> = {
    organizations: () => ({ is_operator: isOperator }),
    webhooks: () => ({ secret: box.seal(newWebhookSecret()) }),
  }
  let table: TableLine | undefined
  let rows = 0
  let batch: string[] = []
  let bytes = 0
  const flush = async () => {
    if (!table || batch.length === 0) return
    await insertRows(client, table.table, table.columns, batch, extraOf[table.table]?.())
    progress.advance(table.table, batch.length)
    rows += batch.length
    batch = []
    bytes = 0
  }
  for (;;) {
    const line = await nextLine(reader)
    const control =
      line.startsWith('{"table":') || line.startsWith('{"rows":') ? parse<TableLine & EndLine>(line) : undefined
    if (control) await flush()
    if (control?.rows !== undefined) {
      if (control.rows !== rows) throw incomplete()
      return rows
    }
    if (control) {
      // The names become part of statements.
      if (known.get(control.table) !== control.columns.join()) throw incomplete()
      table = control
      continue
    }
    batch.push(line)
    bytes += line.length
    // Each webhook gets its own secret.
    const rowsMax = table?.table === 'webhooks' ? 1 : rowsPerStatement
    if (batch.length >= rowsMax || bytes >= bytesPerStatement) await flush()
  }
}

async function nextLine(reader: Lines): Promise<string> {
  const next = await reader.next()
  if (next.done) throw incomplete()
  return next.value
}

function parse<Value>(line: string): Value | undefined {
  try {
    return JSON.parse(line) as Value
  } catch {
    return undefined
  }
}

const incomplete = () => new SetupFault('The export is incomplete or damaged. Nothing was imported.')

/**
 * While Citus copies rows to a node, it reports an error of that node as an internal one, with the message of the node.
 */
const isOfNode = (error: pg.DatabaseError, message: RegExp) => error.code === 'XX000' && message.test(error.message)
/** The copy of a table on a node has a suffix. */
const usersTable = /^users(?:_\d+)?$/
const accountExists = /unique constraint "users_email_key_key/
const rowRejected = /violates (?:not-null|foreign key|check) constraint|invalid input syntax/

function explain(error: pg.DatabaseError & NodeJS.ErrnoException, path: string): Error {
  if ((error.code === '23505' && usersTable.test(error.table ?? '')) || isOfNode(error, accountExists))
    return new SetupFault(
      'A user of this organization already has an account in this installation. Remove or rename it, and import again. Nothing was imported.',
    )
  if (error.code === 'ENOENT' || error.code === 'EACCES')
    return new SetupFault(`${path} cannot be read (${error.message}).`)
  // A value or a row that the tables do not accept.
  if (/^(22...|23502|23503|23514)$/.test(error.code ?? '') || isOfNode(error, rowRejected)) return incomplete()
  return error
}
