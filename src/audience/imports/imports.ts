import type { Readable } from 'node:stream'
import type { Db, Reader, Tx } from '../../platform/db/db.ts'
import { dropLane, enqueue } from '../../platform/queue/queue.ts'
import { conflict, existing, invalid, Refusal } from '../../platform/values/errors.ts'
import { type GroupId, type ImportId, newId, type OrganizationId, type UserId } from '../../platform/values/ids.ts'
import { isStorable, unstorableProblem } from '../../platform/values/text.ts'
import { attributeKeysMax } from '../contacts/fields.ts'
import { checkGroup } from '../contacts/groups.ts'
import { inTransaction } from '../contacts/transaction.ts'
import type { ColumnRef, Mapping } from './columns.ts'
import { importKind } from './import.job.ts'
import {
  countUnfinished,
  deleteImport,
  findImport,
  finishImport,
  type Import,
  insertChunk,
  insertImport,
  pruneImports,
  queueImport,
  restartChecked,
  selectProblems,
} from './imports.sql.ts'

const fileBytesMax = 512 * 1024 * 1024
const chunkBytes = 256 * 1024
const unfinishedMax = 10
/** A dry run can be started for `checkedHoursMax`. */
export const checkedHoursMax = 24
const kept = { uploadHoursMax: 1, checkedHoursMax, reportDaysMax: 90 }
const columnNameMax = 1_000

export type Upload = {
  organizationId: OrganizationId
  createdBy: UserId | null
  groupId: GroupId | null
  /** Of new contacts. */
  subscription: Import['subscription']
  fileName: string
  mapping: Mapping | null
  /** Only counts what an import would do. */
  dryRun: boolean
  /** The Content-Length of the request; undefined if the client did not send it. */
  declaredBytes: number | undefined
  content: Readable
}

/** The number of files that each organization is uploading to this process. */
export type UploadCounts = Map<OrganizationId, number>

/**
 * Stores a file as it is received, in chunks, and queues its import. The content is not checked here; problems with it
 * are reported by the import. Throws `Refusal` if the file is too large or too many imports are in progress.
 */
export async function acceptImport(db: Db, uploading: UploadCounts, upload: Upload): Promise<Import> {
  const { organizationId } = upload
  const change = (by: number) => {
    const count = (uploading.get(organizationId) ?? 0) + by
    if (count > 0) uploading.set(organizationId, count)
    else uploading.delete(organizationId)
    return count
  }
  // Incremented before the first await, so that concurrent uploads count each other.
  const count = change(1)
  try {
    return await storeImport(db, upload, unfinishedMax - count)
  } finally {
    change(-1)
  }
}

/** `othersMax`: how many other imports may be in progress. */
async function storeImport(db: Db, upload: Upload, othersMax: number): Promise<Import> {
  const { organizationId, createdBy, groupId, subscription, fileName, mapping, dryRun } = upload
  if ((upload.declaredBytes ?? 0) > fileBytesMax) throw tooLarge()
  if (!isStorable(fileName)) throw invalid({ path: 'filename', problem: unstorableProblem })
  if (groupId && subscription !== 'subscribed')
    throw invalid({ path: 'subscription', problem: 'must be "subscribed" when group_id is given' })
  if (groupId) await checkGroup(db, organizationId, groupId)
  await db.begin((tx) => pruneImports(tx, organizationId, kept))
  if ((await countUnfinished(db, organizationId)) > othersMax)
    throw conflict(
      `At most ${unfinishedMax} imports can be in progress. Wait until one of them has finished, or start or cancel those that were only checked.`,
    )

  const id = newId('imp')
  await insertImport(db.statement, { id, organizationId, groupId, subscription, fileName, mapping, dryRun, createdBy })
  try {
    const bytesTotal = await storeFile(db, organizationId, id, upload.content)
    return await db.begin(async (tx) => {
      await queueImport(tx, organizationId, id, bytesTotal)
      return enqueueImport(tx, organizationId, id)
    })
  } catch (error) {
    await db.begin((tx) => deleteImport(tx, organizationId, id))
    throw error
  }
}

async function enqueueImport(tx: Tx, organizationId: OrganizationId, id: ImportId): Promise<Import> {
  await enqueue(tx, [{ organizationId, kind: importKind, lane: id, id }])
  // Before the commit, after which it may be running.
  return (await findImport(tx, organizationId, id))!
}

/** Imports the file of a dry run. Throws `Refusal` if it has not ended, or was started or cancelled before. */
export async function startChecked(db: Db, organizationId: OrganizationId, id: ImportId): Promise<Import> {
  return inTransaction(db, async (tx) => {
    const { status } = await existing('import', findImport(tx, organizationId, id))
    if (!(await restartChecked(tx, organizationId, id))) throw conflict(`This import is ${status}, and not checked.`)
    return enqueueImport(tx, organizationId, id)
  })
}

async function storeFile(db: Db, organizationId: OrganizationId, id: ImportId, content: Readable): Promise<number> {
  let stored = 0
  let waiting: Buffer[] = []
  let waitingBytes = 0
  const store = async () => {
    await insertChunk(db.statement, organizationId, id, stored, Buffer.concat(waiting))
    stored += waitingBytes
    waiting = []
    waitingBytes = 0
  }
  // Kept open if the file is rejected, so that the client can read the response.
  for await (const part of content.iterator({ destroyOnReturn: false })) {
    waiting.push(part as Buffer)
    waitingBytes += (part as Buffer).length
    if (stored + waitingBytes > fileBytesMax) throw tooLarge()
    if (waitingBytes >= chunkBytes) await store()
  }
  if (waitingBytes > 0) await store()
  if (stored === 0) throw invalid({ path: 'body', problem: 'must not be empty' })
  return stored
}

const tooLarge = () =>
  new Refusal('payload_too_large', `The file exceeds ${fileBytesMax / 1024 / 1024} MiB. Split it into smaller files.`)

export async function getImport(db: Reader, organizationId: OrganizationId, id: ImportId) {
  const record = await existing('import', findImport(db, organizationId, id))
  return { ...record, problems: await selectProblems(db, organizationId, id) }
}

/**
 * Stops an import after the current batch; imported rows are kept. A worker that resumes it finds it finished and its
 * job gone. Cancelling a cancelled import has no effect. Throws `Refusal` if it has finished otherwise.
 */
export async function cancelImport(db: Db, organizationId: OrganizationId, id: ImportId): Promise<Import> {
  await inTransaction(db, async (tx) => {
    if (await finishImport(tx, organizationId, id, 'cancelled', null))
      await dropLane(tx, organizationId, importKind, id)
  })
  const record = await existing('import', findImport(db, organizationId, id))
  if (record.status !== 'cancelled') throw conflict('This import has already finished.')
  return record
}

/** Parses the mapping of the query string. Throws `Refusal` if it is invalid. */
export function readMapping(text: string): Mapping {
  const wrong = (problem: string) => invalid({ path: 'mapping', problem })
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {
    throw wrong('must be valid JSON')
  }
  if (typeof given !== 'object' || given === null) throw wrong('must be an object')
  const mapping = readColumns(given as Record<string, unknown>, wrong)
  const { has_header } = given as Record<string, unknown>
  if (has_header === undefined || has_header === null) return mapping
  if (typeof has_header !== 'boolean') throw wrong('has_header must be true or false')
  const { email, first_name, last_name, status, attributes = {} } = mapping
  const columns = [email, first_name, last_name, status, ...Object.values(attributes)]
  if (!has_header && columns.some((column) => typeof column === 'string'))
    throw wrong('must refer to columns by position when has_header is false')
  return { ...mapping, has_header }
}

function readColumns(given: Record<string, unknown>, wrong: (problem: string) => Refusal): Mapping {
  const { email, first_name, last_name, status, attributes } = given
  if (!isColumn(email) || email === '') throw wrong('must name the column with the email address in "email"')
  const mapping: Mapping = { email }
  for (const [field, column] of Object.entries({ first_name, last_name, status })) {
    if (column === undefined || column === null || column === '') continue
    if (!isColumn(column)) throw wrong(`${field} must be the header or the position of a column`)
    mapping[field as 'first_name' | 'last_name' | 'status'] = column
  }
  if (attributes === undefined || attributes === null) return mapping
  const entries = typeof attributes === 'object' ? Object.entries(attributes) : []
  const areColumns = entries.every(([name, column]) => isName(name) && isColumn(column))
  if (typeof attributes !== 'object' || Array.isArray(attributes) || !areColumns)
    throw wrong('attributes must map each attribute to the header or the position of a column')
  if (entries.length > attributeKeysMax) throw wrong(`attributes must have at most ${attributeKeysMax} keys`)
  return { ...mapping, attributes: Object.fromEntries(entries) as Record<string, ColumnRef> }
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= columnNameMax && isStorable(value)
const isColumn = (value: unknown): value is ColumnRef =>
  isName(value) || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1)
