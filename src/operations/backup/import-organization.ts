import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type pg from 'pg'
import { checkFilter, type Filter } from '../../audience/audience.ts'
import { renewProofs } from '../../delivery/delivery.ts'
import { newWebhookSecret, webhookSecretBox } from '../../events/events.ts'
import type { Db } from '../../platform/db/db.ts'
import type { AppSecrets } from '../../platform/secrets/secrets.ts'
import { SetupFault } from '../../platform/values/errors.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { selectMigrations } from './catalog.sql.ts'
import type { EndLine, ExportHeader, TableLine } from './export-organization.ts'
import { findOrganization, insertRows, organizationColumn, selectTenantTables } from './organization.sql.ts'
import { emptyTables } from './organization-tables.ts'
import type { Progress } from './progress.ts'

const rowsPerStatement = 500
/** A row of the inbox contains a whole email. */
const bytesPerStatement = 4 * 1024 * 1024
/**
 * The newest migration of version 0.2.0, the first one that exports organizations. Newer migrations do not run for the rows
 * of a file, so none of them may change rows that exports contain: docs/guides/upgrading.md.
 */
export const oldestSchema = 311

export type ImportOptions = { db: Db; secrets: AppSecrets; progress: Progress }
/** `isNew` is false if the organization already existed: nothing was changed. */
export type ImportResult = { organizationId: OrganizationId; isNew: boolean; rows: number }

/**
 * Imports an organization in one transaction, completely or not at all. An organization that exists is not changed, so
 * importing a file again has no effect. The file is not trusted: every row belongs to the organization that the header
 * names, which has the limits of one that registered itself. Its domains get new keys and are not verified, its webhooks
 * get new secrets and are paused, and its API keys are held until the operator confirms the import. The file may be older
 * than this version: columns that it does not have get their defaults. Throws `SetupFault` if it is newer, incomplete or
 * damaged.
 */
export async function importOrganization(
  path: string,
  { db, secrets, progress }: ImportOptions,
): Promise<ImportResult> {
  await using session = await db.openSession()
  const { client } = session
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })
  const reader = lines[Symbol.asyncIterator]()
  try {
    await client.query('begin')
    const header = await readHeader(client, path, reader)
    const organizationId = header.organization_id
    if (await findOrganization(client, organizationId)) return { organizationId, isNew: false, rows: 0 }
    const known = await tenantColumns(client)
    const { rows, organizations } = await insertAll(client, reader, {
      organizationId,
      secrets,
      progress,
      check: (line) => checkTable(known, line),
    })
    if (organizations !== 1) throw damaged()
    await renewProofs(session.statement, organizationId, secrets)
    await client.query('commit')
    return { organizationId, isNew: true, rows }
  } catch (error) {
    throw explain(error as pg.DatabaseError, path)
  } finally {
    lines.close()
  }
}

export type Lines = AsyncIterator<string>

/** Ids in the database, and in an export. */
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

async function readHeader(client: pg.Client, path: string, reader: Lines): Promise<ExportHeader> {
  const header = parse<Unchecked<ExportHeader>>(await nextLine(reader))
  if (
    header?.format !== 'waxwing organization 1' ||
    !Array.isArray(header.migrations) ||
    typeof header.waxwing !== 'string' ||
    typeof header.organization_id !== 'string' ||
    !uuid.test(header.organization_id)
  )
    throw new SetupFault(`${path} is not an export of an organization by this version of Waxwing.`)
  const known = new Set(((await selectMigrations(client)) ?? []).map(({ number }) => number))
  const own = new Set(header.migrations)
  if (header.migrations.some((number) => !known.has(number)))
    throw new SetupFault(
      `The file was exported by version ${header.waxwing}, which is newer than this one. Upgrade Waxwing, and import it again.`,
    )
  if ([...known].some((number) => number <= oldestSchema && !own.has(number)))
    throw new SetupFault(
      `The file was exported by version ${header.waxwing}, which is too old. Upgrade that installation, and export it again.`,
    )
  return header as ExportHeader
}

/** Returns the names of the columns that are exported, by table. */
export const tenantColumns = async (client: pg.Client): Promise<ReadonlyMap<string, string[]>> =>
  new Map((await selectTenantTables(client)).map(({ name, columns }) => [name, columns]))

export type InsertOptions = {
  organizationId: OrganizationId
  /** Of this installation, which encrypt the new secrets and keys. */
  secrets: AppSecrets
  progress: Progress
  /** Throws if the rows of a table cannot be inserted. The names become part of statements. */
  check: (line: Unchecked<TableLine>) => TableLine
}

/** Inserts the rows after the header. Throws `SetupFault` if the file is incomplete or has rows of other organizations. */
export async function insertAll(
  client: pg.Client,
  reader: Lines,
  { organizationId, secrets, progress, check }: InsertOptions,
): Promise<{ rows: number; organizations: number }> {
  const box = webhookSecretBox(secrets)
  /** Values for the columns that an export does not contain. */
  const extraOf: Record<string, () => Record<string, unknown>> = {
    organizations: () => ({ self_registered: true }),
    api_keys: () => ({ is_held: true }),
    webhooks: () => ({ secret: box.seal(newWebhookSecret()) }),
  }
  let table: TableLine | undefined
  let rows = 0
  let organizations = 0
  let batch: string[] = []
  let bytes = 0
  const flush = async () => {
    if (batch.length === 0) return
    if (!table) throw damaged()
    if (table.table === 'segments') batch.forEach(checkSegment)
    if (!emptyTables.has(table.table)) {
      const extra = extraOf[table.table]?.()
      if (!(await insertRows(client, organizationId, table, batch, extra))) throw damaged()
    }
    progress.advance(table.table, batch.length)
    rows += batch.length
    if (table.table === 'organizations') organizations += batch.length
    batch = []
    bytes = 0
  }
  for (;;) {
    const line = await nextLine(reader)
    const control =
      line.startsWith('{"table":') || line.startsWith('{"rows":')
        ? parse<Unchecked<TableLine & EndLine>>(line)
        : undefined
    if (control) await flush()
    if (control?.rows !== undefined) {
      if (control.rows !== rows) throw damaged()
      return { rows, organizations }
    }
    if (control) {
      table = check(control)
      continue
    }
    batch.push(line)
    bytes += line.length
    // Each webhook gets its own secret.
    const rowsMax = table?.table === 'webhooks' ? 1 : rowsPerStatement
    if (batch.length >= rowsMax || bytes >= bytesPerStatement) await flush()
  }
}

function checkTable(known: ReadonlyMap<string, string[]>, { table, columns }: Unchecked<TableLine>): TableLine {
  if (typeof table !== 'string' || !Array.isArray(columns)) throw damaged()
  const found = known.get(table)?.filter((column) => columns.includes(column)) ?? []
  if (found.length !== columns.length || !found.includes(organizationColumn(table))) throw damaged()
  return { table, columns: found }
}

/** The limits of filters bound the cost of the statements that they become. */
function checkSegment(line: string): void {
  try {
    checkFilter(parse<{ filter: Filter }>(line)!.filter)
  } catch {
    throw damaged()
  }
}

async function nextLine(reader: Lines): Promise<string> {
  const next = await reader.next()
  if (next.done) throw damaged()
  return next.value
}

/** Lines of the file, which can have any shape. */
export type Unchecked<Line> = { [Name in keyof Line]?: unknown }

function parse<Value>(line: string): Value | undefined {
  try {
    return JSON.parse(line) as Value
  } catch {
    return undefined
  }
}

const damaged = () => new SetupFault('The export is incomplete or damaged. Nothing was imported.')

/**
 * While Citus copies rows to a node, it reports an error of that node as an internal one, with the message of the node.
 */
const isNodeError = (error: pg.DatabaseError, message: RegExp) => error.code === 'XX000' && message.test(error.message)
/** The copy of a table on a node has a suffix. */
const usersTable = /^users(?:_\d+)?$/
const accountExists = /unique constraint "users_email_key_key/
const rowRejected = /violates (?:not-null|foreign key|check) constraint|invalid input syntax/
const rowExists = /unique constraint/

function explain(error: pg.DatabaseError & NodeJS.ErrnoException, path: string): Error {
  if ((error.code === '23505' && usersTable.test(error.table ?? '')) || isNodeError(error, accountExists))
    return new SetupFault(
      'A user of this organization already has an account in this installation. Remove or rename it, and import again. Nothing was imported.',
    )
  if (error.code === '23505' || isNodeError(error, rowExists))
    return new SetupFault(
      'A row of the file already exists in this installation, in another organization or twice in the file. Nothing was imported.',
    )
  if (error.code === 'ENOENT' || error.code === 'EACCES')
    return new SetupFault(`${path} cannot be read (${error.message}).`)
  // A value or a row that the tables do not accept.
  if (/^(22...|23502|23503|23514)$/.test(error.code ?? '') || isNodeError(error, rowRejected)) return damaged()
  return error
}
