import type { Readable } from 'node:stream'
import { type FastifyPluginAsyncTypebox, type Static, Type } from '@fastify/type-provider-typebox'
import { memberOf } from '../accounts/guards.ts'
import type { Db } from '../db/db.ts'
import { answers, begins, begun, Nullable, ok, oneOf, Timestamp } from '../http/envelope.ts'
import type { Hints } from '../queue/hints.ts'
import type { TaskPool } from '../tasks/pool.ts'
import { Refusal } from '../values/errors.ts'
import { parseIdParam } from '../values/id-params.ts'
import { toText } from '../values/ids.ts'
import { sliceBytes } from './csv.ts'
import { importKind } from './import.job.ts'
import { type Import, selectImports } from './imports.sql.ts'
import { acceptImport, cancelImport, getImport, readMapping, type Uploading } from './imports.ts'
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
  problem: Nullable(Type.String({ description: 'Why it failed.' })),
  note: Nullable(Type.String({ description: 'Which columns were left out, and why.' })),
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
  { description: 'The first 1,000 rows that were rejected.' },
)
const ColumnsOut = Type.Array(Type.String(), { description: 'The headers of the file; empty if it has none.' })
const tags = ['Contacts']

const positionNote = 'Positions of columns are counted from 1.'
const InspectionOut = Type.Object({
  delimiter: Type.String(),
  has_header: Type.Boolean({ description: 'Whether the first row contains the names of the columns.' }),
  columns: Type.Array(
    Type.Object({
      position: Type.Integer(),
      name: Nullable(Type.String({ description: 'Null without a header, and if its name is empty.' })),
    }),
  ),
  rows: Type.Array(Type.Array(Type.String()), { description: 'The first rows of data, for examples.' }),
  mapping: Type.Object(
    {
      email: Nullable(Type.Integer({ description: 'Null if no column could be recognized.' })),
      first_name: Nullable(Type.Integer()),
      last_name: Nullable(Type.Integer()),
      status: Nullable(Type.Integer()),
      attributes: Type.Record(Type.String(), Type.Integer()),
    },
    { description: `The guessed mapping, as an import without a mapping would use it. ${positionNote}` },
  ),
  note: Nullable(Type.String({ description: 'Which columns the mapping leaves out, and why.' })),
  problem: Nullable(Type.String({ description: 'Why an import of this file would stop, if that is known.' })),
})

type Parts = { db: Db; hints: Hints; tasks: TaskPool }

export function importRoutes({ db, hints, tasks }: Parts): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get(
      '/imports',
      { schema: { tags, summary: 'List the newest imports', response: answers(Type.Array(ImportOut)) } },
      async (request) => ok((await selectImports(db, memberOf(request).organizationId, listed)).map(importOut)),
    )

    api.get(
      '/imports/:id',
      {
        schema: {
          tags,
          summary: 'Read an import, with its progress and the rows it rejected',
          params: Type.Object({ id: Type.String() }),
          response: answers(Type.Object({ ...ImportOut.properties, columns: ColumnsOut, errors: ErrorsOut })),
        },
      },
      async (request) => {
        const id = parseIdParam('imp', request.params.id)
        const { problems, ...record } = await getImport(db, memberOf(request).organizationId, id)
        return ok({ ...importOut(record), columns: record.progress.layout?.header ?? [], errors: problems })
      },
    )

    api.post(
      '/imports/:id/cancel',
      {
        schema: {
          tags,
          summary: 'Cancel an import',
          description: 'It stops behind the batch of rows that is under way. What it has imported stays.',
          params: Type.Object({ id: Type.String() }),
          response: answers(ImportOut),
        },
      },
      async (request) => {
        const id = parseIdParam('imp', request.params.id)
        return ok(importOut(await cancelImport(db, memberOf(request).organizationId, id)))
      },
    )

    await api.register(inspectRoute({ tasks }))
    await api.register(uploadRoute({ db, hints }))
  }
}

/** Apart from the others because its body is bytes. */
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
          summary: 'Inspect a CSV file before its import',
          description: `The body is the start of the file, in UTF-8: its first ${sliceBytes} bytes, or all of it if it is smaller. Returns the delimiter, the columns, some rows and a guessed mapping. Nothing is stored.`,
          consumes: ['text/csv'],
          querystring: Type.Object({
            has_header: Type.Optional({
              ...oneOf('true', 'false'),
              description: 'Whether the first row contains the names of the columns; guessed if left out.',
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
        const { organizationId } = memberOf(request)
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

/** Apart from the others because its body is a stream: the file is stored as it comes and never held in memory. */
function uploadRoute({ db, hints }: Omit<Parts, 'tasks'>): FastifyPluginAsyncTypebox {
  const uploading: Uploading = new Map()
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
            'The body is the file, in UTF-8, up to 512 MiB, delimited by comma, semicolon, tab or |. It is imported in the background. Without a mapping, columns are guessed from the header: address and names by the usual ones, all others become attributes, and one with a usual name is read as the status as well. An empty cell keeps what is known. The status column says who gets no mail: unsubscribed, opted out, false, no or 0 unsubscribes; bounced, hard_bounce or cleaned, complained, complaint or spam, and suppressed, blocklisted or blacklisted suppress the address; subscribed, active, confirmed, enabled, true, yes, 1 or nothing leaves the person as known; a row that says anything else is rejected where a mapping names the column, else nothing follows from it. It makes no events. Whoever unsubscribed is not resubscribed, whatever the file says.',
          consumes: ['text/csv'],
          querystring: Type.Object({
            group_id: Type.Optional(Type.String()),
            subscription: Type.Optional({
              ...Subscription,
              default: 'subscribed',
              description:
                'Of contacts who are new: with not_subscribed they get transactional mail only. Members of a group are subscribed.',
            }),
            filename: Type.Optional(Type.String({ maxLength: fileNameMax })),
            mapping: Type.Optional(
              Type.String({
                maxLength: mappingMax,
                description:
                  'JSON: { "email": "Column header", "first_name": "…", "last_name": "…", "status": "…", "attributes": { "plan": "…" } }. Instead of its header a column can be given by its position, a number counted from 1: of columns with the same header the name means the first. With "has_header": false the first line is data, and all columns are given by their positions.',
              }),
            ),
          }),
          body: Type.Unsafe<Readable>({ content: { 'text/csv': { schema: { description: 'The file.' } } } }),
          response: begins(ImportOut),
        },
      },
      async (request, reply) => {
        const { group_id: groupText, subscription = 'subscribed', filename, mapping } = request.query
        if (!request.body) throw wrongMediaType()
        const groupId = groupText ? parseIdParam('grp', groupText) : null
        const record = await acceptImport(db, uploading, {
          organizationId: memberOf(request).organizationId,
          groupId,
          subscription,
          fileName: filename?.trim() || 'import.csv',
          mapping: mapping ? readMapping(mapping) : null,
          bytesSaid: Number(request.headers['content-length']) || undefined,
          content: request.body,
        })
        hints.notify(importKind)
        return reply.status(202).send(begun(importOut(record), 'The file is being imported'))
      },
    )
  }
}

const wrongMediaType = () => new Refusal('unsupported_media_type', 'Send the file itself, with Content-Type: text/csv.')

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
