import type { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { organizationIdOf, userIdOf } from '../accounts/guards.ts'
import type { BoundedRead } from '../db/bounded-read.ts'
import type { Db } from '../db/db.ts'
import { accepted, accepts, answers, Nullable, ok, oneOf, Timestamp } from '../http/envelope.ts'
import type { Hints } from '../queue/hints.ts'
import type { TaskPool } from '../tasks/pool.ts'
import { Refusal } from '../values/errors.ts'
import { parseIdParam } from '../values/id-params.ts'
import { toText } from '../values/ids.ts'
import { sliceBytes } from './csv.ts'
import { importKind } from './import.job.ts'
import { type Import, selectImports } from './imports.sql.ts'
import { acceptImport, cancelImport, getImport, readMapping, type UploadCounts } from './imports.ts'
import { type Inspection, inspectImportTask } from './inspect.task.ts'

const listed = 20
const fileNameMax = 255
const mappingMax = 20_000

const Subscription = oneOf('subscribed', 'not_subscribed')
const ImportOut = Type.Object({
  id: Type.String(),
  filename: Type.String(),
  group_id: Nullable(Type.String()),
  subscription: Subscription,
  status: oneOf('queued', 'running', 'done', 'failed', 'cancelled'),
  bytes_total: Type.Integer(),
  bytes_done: Type.Integer(),
  rows_done: Type.Integer(),
  created: Type.Integer(),
  updated: Type.Integer(),
  rejected: Type.Integer(),
  problem: Nullable(Type.String({ description: 'Why the import failed.' })),
  note: Nullable(Type.String({ description: 'Which columns were skipped, and why.' })),
  created_at: Timestamp,
  finished_at: Nullable(Timestamp),
})
const ErrorsOut = Type.Array(
  Type.Object({
    line: Type.Integer(),
    email: Nullable(Type.String()),
    problem: Type.String(),
    cells: Nullable(
      Type.Array(Type.String(), { description: 'The cells of the row; null if they are too long to keep.' }),
    ),
  }),
  { description: 'The first 1,000 rejected rows.' },
)
const ColumnsOut = Type.Array(Type.String(), { description: 'The headers of the file; empty if it has none.' })
const tags = ['Contacts']

const positionNote = 'Column positions start at 1.'
const InspectionOut = Type.Object({
  delimiter: Type.String(),
  has_header: Type.Boolean({ description: 'Whether the first row is a header.' }),
  columns: Type.Array(
    Type.Object({
      position: Type.Integer(),
      name: Nullable(Type.String({ description: 'Null if the column has no header.' })),
    }),
  ),
  rows: Type.Array(Type.Array(Type.String()), { description: 'The first rows of data, as examples.' }),
  mapping: Type.Object(
    {
      email: Nullable(Type.Integer({ description: 'Null if no column could be recognized.' })),
      first_name: Nullable(Type.Integer()),
      last_name: Nullable(Type.Integer()),
      status: Nullable(Type.Integer()),
      attributes: Type.Record(Type.String(), Type.Integer()),
    },
    { description: `The detected mapping, which an import without a mapping would use. ${positionNote}` },
  ),
  note: Nullable(Type.String({ description: 'Which columns the mapping skips, and why.' })),
  problem: Nullable(Type.String({ description: 'Why an import of this file would fail, if known.' })),
})

type Parts = { db: Db; read: BoundedRead; hints: Hints; tasks: TaskPool }

export function importRoutes({ db, read, hints, tasks }: Parts): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get(
      '/imports',
      { schema: { tags, summary: 'List recent imports', response: answers(Type.Array(ImportOut)) } },
      async (request) => {
        const organizationId = organizationIdOf(request)
        return ok((await read(organizationId, (tx) => selectImports(tx, organizationId, listed))).map(importOut))
      },
    )

    api.get(
      '/imports/:id',
      {
        schema: {
          tags,
          summary: 'Get an import',
          description: 'Includes the progress of the import and the rejected rows.',
          params: Type.Object({ id: Type.String() }),
          response: answers(Type.Object({ ...ImportOut.properties, columns: ColumnsOut, errors: ErrorsOut })),
        },
      },
      async (request) => {
        const id = parseIdParam('imp', request.params.id)
        const organizationId = organizationIdOf(request)
        const { problems, ...record } = await read(organizationId, (tx) => getImport(tx, organizationId, id))
        return ok({ ...importOut(record), columns: record.progress.layout?.header ?? [], errors: problems })
      },
    )

    api.post(
      '/imports/:id/cancel',
      {
        schema: {
          tags,
          summary: 'Cancel an import',
          description: 'The import stops after the current batch of rows. Rows that were already imported are kept.',
          params: Type.Object({ id: Type.String() }),
          response: answers(ImportOut),
        },
      },
      async (request) => {
        const id = parseIdParam('imp', request.params.id)
        return ok(importOut(await cancelImport(db, organizationIdOf(request), id)))
      },
    )

    await api.register(inspectRoute({ tasks }))
    await api.register(uploadRoute({ db, hints }))
  }
}

/** In its own plugin because its body is binary. */
function inspectRoute({ tasks }: Pick<Parts, 'tasks'>): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.removeAllContentTypeParsers()
    api.addContentTypeParser('text/csv', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    api.addContentTypeParser('*', (_request, _content, done) => done(wrongMediaType()))
    api.post(
      '/contacts/import/inspect',
      {
        bodyLimit: sliceBytes,
        schema: {
          tags,
          summary: 'Inspect a CSV file before importing it',
          description: `The body is the start of the file, in UTF-8: its first ${sliceBytes} bytes, or the whole file if it is smaller. Returns the delimiter, the columns, some rows and a detected mapping. Nothing is stored.`,
          consumes: ['text/csv'],
          querystring: Type.Object({
            has_header: Type.Optional({
              ...oneOf('true', 'false'),
              description: 'Whether the first row is a header. Detected if omitted.',
            }),
          }),
          body: Type.Unsafe<Buffer>({ content: { 'text/csv': { schema: { description: 'The start of the file.' } } } }),
          response: answers(InspectionOut),
        },
      },
      async (request) => {
        if (!Buffer.isBuffer(request.body)) throw wrongMediaType()
        const { has_header: given } = request.query
        const input = { bytes: request.body, hasHeader: given === undefined ? undefined : given === 'true' }
        const organizationId = organizationIdOf(request)
        return ok(inspectionOut(await tasks.run(inspectImportTask, { organizationId, input })))
      },
    )
  }
}

function inspectionOut({ columns, header, ...rest }: Inspection): Static<typeof InspectionOut> {
  const position = (index: number | null) => (index === null ? null : index + 1)
  return {
    delimiter: rest.delimiter,
    has_header: rest.hasHeader,
    columns: Array.from({ length: columns.width }, (_, index) => ({
      position: index + 1,
      name: header[index] || null,
    })),
    rows: rest.rows,
    mapping: {
      email: position(columns.email),
      first_name: position(columns.firstName),
      last_name: position(columns.lastName),
      status: position(columns.status),
      attributes: Object.fromEntries(columns.attributes.map(([name, index]) => [name, index + 1])),
    },
    note: rest.note,
    problem: rest.problem,
  }
}

/** In its own plugin because its body is a stream: the file is stored as it is received and never kept in memory. */
function uploadRoute({ db, hints }: Pick<Parts, 'db' | 'hints'>): FastifyPluginAsyncTypebox {
  const uploading: UploadCounts = new Map()
  return async (api) => {
    api.removeAllContentTypeParsers()
    api.addContentTypeParser('text/csv', (_request, content, done) => done(null, content))
    api.addContentTypeParser('*', (_request, _content, done) => done(wrongMediaType()))
    api.post(
      '/contacts/import',
      {
        config: { slowBody: true },
        schema: {
          tags,
          summary: 'Import contacts from a CSV file',
          description:
            'The request body is the file: CSV in UTF-8, up to 512 MiB, delimited by comma, semicolon, tab or |. It is imported in the background. Without a mapping, columns are detected by their headers: address, names and status by common headers; all other columns, and the status, become attributes. Empty cells keep the existing value. The status column suppresses addresses: unsubscribed, opted out, false, no and 0 unsubscribe; bounced, hard_bounce, cleaned, complained, complaint, spam, suppressed, blocklisted and blacklisted suppress all email; subscribed, active, confirmed, enabled, true, yes, 1 and an empty cell change nothing. Rows with any other status are rejected if a mapping names the column; otherwise the status is ignored. No events are recorded, and unsubscribed contacts are never resubscribed.',
          consumes: ['text/csv'],
          querystring: Type.Object({
            group_id: Type.Optional(Type.String()),
            subscription: Type.Optional({
              ...Subscription,
              default: 'subscribed',
              description:
                'The subscription of new contacts. With not_subscribed they receive transactional email only. Must be subscribed if group_id is given.',
            }),
            filename: Type.Optional(Type.String({ maxLength: fileNameMax })),
            mapping: Type.Optional(
              Type.String({
                maxLength: mappingMax,
                description:
                  'JSON: { "email": "Column header", "first_name": "…", "last_name": "…", "status": "…", "attributes": { "plan": "…" } }. A column can also be given by its position, a number starting at 1. If several columns have the same header, the first one is used. With "has_header": false the first line is data, and all columns must be given by position.',
              }),
            ),
          }),
          body: Type.Unsafe<Readable>({ content: { 'text/csv': { schema: { description: 'The file.' } } } }),
          response: accepts(ImportOut),
        },
      },
      async (request, reply) => {
        const { group_id: groupText, subscription = 'subscribed', filename, mapping } = request.query
        if (!request.body) throw wrongMediaType()
        const groupId = groupText ? parseIdParam('grp', groupText) : null
        const record = await acceptImport(db, uploading, {
          organizationId: organizationIdOf(request),
          createdBy: userIdOf(request),
          groupId,
          subscription,
          fileName: filename?.trim() || 'import.csv',
          mapping: mapping ? readMapping(mapping) : null,
          declaredBytes: Number(request.headers['content-length']) || undefined,
          content: request.body,
        })
        hints.notify(importKind)
        return reply.status(202).send(accepted(importOut(record), 'Import queued'))
      },
    )
  }
}

const wrongMediaType = () =>
  new Refusal('unsupported_media_type', 'Send the file as the request body, with Content-Type: text/csv.')

const importOut = (record: Import): Static<typeof ImportOut> => ({
  id: toText('imp', record.id),
  filename: record.fileName,
  group_id: record.groupId && toText('grp', record.groupId),
  subscription: record.subscription,
  status: record.status === 'uploading' ? 'queued' : record.status,
  bytes_total: record.bytesTotal,
  bytes_done: record.progress.offset,
  rows_done: record.progress.rows,
  created: record.progress.created,
  updated: record.progress.updated,
  rejected: record.progress.rejected,
  problem: record.reason,
  note: record.progress.layout?.note ?? null,
  created_at: record.createdAt.toISOString(),
  finished_at: record.finishedAt?.toISOString() ?? null,
})
