import type { Db, Tx } from '../../platform/db/db.ts'
import { retrying } from '../../platform/db/retrying.ts'
import type { SealedTable } from '../../platform/db/sealed.ts'
import { checkWebhookUrl } from '../../platform/egress/webhook-url.ts'
import type { FieldsOf } from '../../platform/http/out-of.ts'
import type { BucketAccess } from '../../platform/object-storage/signed-request.ts'
import { announceChange, dropLane, enqueue } from '../../platform/queue/queue.ts'
import type { SecretBox } from '../../platform/secrets/secrets.ts'
import { conflict, invalid, notFound } from '../../platform/values/errors.ts'
import { type EventExportId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import { checkName } from '../../platform/values/names.ts'
import { latest, readFeed } from '../feed/feed.ts'
import type { EventExportChangesIn, EventExportIn } from './exports.shapes.ts'
import {
  countExports,
  deleteExportRow,
  type EventExport,
  type ExportToRun,
  findExport,
  insertExport,
  lockExport,
  updateExport,
} from './exports.sql.ts'
import type { Storage, UploadFault } from './storage.ts'

export type { EventExport } from './exports.sql.ts'

/** The kind of the jobs. The lane is the id of the export. */
export const exportKind = 'events.export' as const

export const exportSecrets: SealedTable = {
  name: 'event_exports',
  purpose: 'export secrets',
  needed: ['secret'],
  others: [],
  words: {
    values: 'secret access keys',
    row: 'event export',
    consequence: 'they upload nothing',
    remedy: 'enter the key of each export again',
  },
}

const exportsMax = 5
const triesMax = 5
export const unreadableKey = 'The secret access key cannot be decrypted. Enter it again'
const testFile = 'waxwing-test.txt'

export type ExportInput = FieldsOf<typeof EventExportIn>
export type ExportChanges = FieldsOf<typeof EventExportChangesIn>
export type ExportParts = { db: Db; box: SecretBox; allowPrivate: boolean; storage: Storage }

/** Throws `Refusal` if the input is invalid or the organization has too many exports. */
export async function createExport(
  { db, box, allowPrivate }: ExportParts,
  organizationId: OrganizationId,
  input: ExportInput,
): Promise<EventExport> {
  const settings = {
    name: checkName(input.name),
    endpoint: checkEndpoint(input.endpoint, allowPrivate),
    region: input.region,
    bucket: input.bucket,
    prefix: folderOf(input.prefix ?? ''),
    accessKeyId: input.accessKeyId,
  }
  return db.begin(async (tx) => {
    if ((await countExports(tx, organizationId)) >= exportsMax)
      throw conflict(`An organization can have at most ${exportsMax} exports. Delete one that is no longer needed.`)
    const now = await readFeed(tx, organizationId, { after: latest, limit: 1 })
    const cursor = input.start === 'now' ? now.cursor : null
    const secret = box.seal(input.secretAccessKey)
    const created = await insertExport(tx, { organizationId, id: newId('exp'), ...settings, secret, cursor })
    enqueueExport(tx, created)
    return created
  })
}

function enqueueExport(tx: Tx, { organizationId, id }: EventExport): void {
  enqueue(tx, [{ organizationId, kind: exportKind, lane: id, id }])
}

/** The export is tried again at once, unless it is paused. Throws `Refusal` if it does not exist. */
export async function changeExport(
  { db, box, allowPrivate }: ExportParts,
  organizationId: OrganizationId,
  id: EventExportId,
  changes: ExportChanges,
): Promise<EventExport> {
  const change = async (tx: Tx) => {
    // First, as in the worker, which settles its job before it updates the export.
    await dropLane(tx, organizationId, exportKind, id)
    const current = await lockExport(tx, organizationId, id)
    if (!current) throw notFound('event export')
    const secret = changes.secretAccessKey === undefined ? current.secret : box.seal(changes.secretAccessKey)
    const status = changes.status ?? current.status
    if (status === 'active' && secret === null)
      throw invalid({ path: 'secret_access_key', problem: 'is required to resume the export' })
    const changed = await updateExport(tx, {
      organizationId,
      id,
      name: changes.name === undefined ? current.name : checkName(changes.name),
      endpoint: changes.endpoint === undefined ? current.endpoint : checkEndpoint(changes.endpoint, allowPrivate),
      region: changes.region ?? current.region,
      bucket: changes.bucket ?? current.bucket,
      prefix: changes.prefix === undefined ? current.prefix : folderOf(changes.prefix),
      accessKeyId: changes.accessKeyId ?? current.accessKeyId,
      secret,
      status,
    })
    if (status === 'active') enqueueExport(tx, changed)
    announceChange(tx, exportKind, [id])
    return changed
  }
  return retrying(triesMax, () => db.begin(change))
}

export async function deleteExport({ db }: ExportParts, organizationId: OrganizationId, id: EventExportId) {
  const remove = async (tx: Tx) => {
    await dropLane(tx, organizationId, exportKind, id)
    if (!(await deleteExportRow(tx, organizationId, id))) throw notFound('event export')
    announceChange(tx, exportKind, [id])
  }
  await retrying(triesMax, () => db.begin(remove))
}

export async function getExport(db: Db, organizationId: OrganizationId, id: EventExportId): Promise<ExportToRun> {
  const found = await findExport(db, organizationId, id)
  if (!found) throw notFound('event export')
  return found
}

/** Uploads a small file to the place of the export. */
export async function testExport({ box, storage }: ExportParts, record: ExportToRun): Promise<UploadFault> {
  const target = bucketOf(box, record)
  if (!target) return unreadableKey
  const body = Buffer.from('This file was uploaded by Waxwing to test an export of events. You can delete it.\n')
  return storage.put(target, { file: record.prefix + testFile, body, contentType: 'text/plain' })
}

/** Returns undefined if the secret cannot be decrypted. */
export function bucketOf(box: SecretBox, { secret, endpoint, region, bucket, accessKeyId }: ExportToRun) {
  const secretAccessKey = secret === null ? undefined : box.open(secret)
  if (secretAccessKey === undefined) return undefined
  return { endpoint, region, bucket, accessKeyId, secretAccessKey } satisfies BucketAccess
}

function checkEndpoint(text: string, allowPrivate: boolean): string {
  const checked = checkWebhookUrl(text, { allowPrivate })
  if ('problem' in checked) throw invalid({ path: 'endpoint', problem: checked.problem })
  const { origin, pathname, search } = new URL(checked.url)
  if (pathname !== '/' || search)
    throw invalid({ path: 'endpoint', problem: 'must be an address without a path, such as https://s3.example.com' })
  return origin
}

/** With a slash at the end, unless it is empty. */
const folderOf = (prefix: string) => {
  const folder = prefix.replace(/^\/+|\/+$/g, '')
  return folder && `${folder}/`
}
