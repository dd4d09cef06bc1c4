import type { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { callerOf, organizationIdOf, targetOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import { accepted, accepts, answers, IdParams, Named, ok } from '../../platform/http/envelope.ts'
import { jsonParameterMax } from '../../platform/http/paging.ts'
import { requestTimeoutMs } from '../../platform/http/server.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import type { TaskPool } from '../../platform/tasks/pool.ts'
import { userOf } from '../../platform/values/actor.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import { sliceBytes } from './csv.ts'
import {
  ColumnsOut,
  ErrorsOut,
  ImportOut,
  InspectionOut,
  importOut,
  inspectionOut,
  Subscription,
} from './imports.shapes.ts'
import { selectImports } from './imports.sql.ts'
import {
  acceptImport,
  cancelImport,
  checkedHoursMax,
  getImport,
  readMapping,
  startChecked,
  type UploadCounts,
} from './imports.ts'
import { inspectImportTask } from './inspect.task.ts'
import { undoDaysMax, undoImport } from './undo.ts'

const listed = 20
const fileNameMax = 255

type Parts = { db: Db; read: BoundedRead; tasks: TaskPool }

export function importRoutes({ db, read, tasks }: Parts): FastifyPluginAsyncTypebox {
  return async (api) => {
    tagRoutes(api, 'Contacts')
    api.get('/imports', {
      config: { permission: 'contacts:read' },
      schema: {
        operationId: 'listImports',
        summary: 'List recent imports',
        description: 'The newest 20 imports. Reports are kept for 90 days.',
        response: answers(Type.Array(ImportOut)),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        return ok((await read(organizationId, (tx) => selectImports(tx, organizationId, listed))).map(importOut))
      },
    })

    api.get('/imports/:id', {
      config: { permission: 'contacts:read' },
      schema: {
        operationId: 'getImport',
        summary: 'Get an import',
        description:
          'Includes the progress of the import and the rejected rows. Poll it about once a second until `status` is `checked`, `done`, `failed` or `cancelled`.',
        params: IdParams,
        response: answers(Named('ImportDetails', { ...ImportOut.properties, columns: ColumnsOut, errors: ErrorsOut })),
      },
      handler: async (request) => {
        const [organizationId, id] = targetOf(request, 'imp')
        const { problems, ...record } = await read(organizationId, (tx) => getImport(tx, organizationId, id))
        return ok({ ...importOut(record), columns: record.progress.layout?.header ?? [], errors: problems })
      },
    })

    api.post('/imports/:id/start', {
      config: { permission: 'contacts:write' },
      schema: {
        operationId: 'startImport',
        summary: 'Start an import that was checked',
        description: `Imports the file of a dry run (\`dry_run\` of \`importContacts\`), which is kept for ${checkedHoursMax} hours. The numbers start again at zero.`,
        errors: { conflict: 'The import is not `checked`: it is in progress, or was started or cancelled before.' },
        params: IdParams,
        response: accepts(ImportOut),
      },
      handler: async (request, reply) => {
        const record = await startChecked(db, ...targetOf(request, 'imp'))
        return reply.status(202).send(accepted(importOut(record), 'Import queued'))
      },
    })

    api.post('/imports/:id/cancel', {
      config: { permission: 'contacts:write' },
      schema: {
        operationId: 'cancelImport',
        summary: 'Cancel an import',
        description: 'The import stops after the current batch of rows. Rows that were already imported are kept.',
        errors: { conflict: 'The import has already finished.' },
        params: IdParams,
        response: answers(ImportOut),
      },
      handler: async (request) => ok(importOut(await cancelImport(db, ...targetOf(request, 'imp')))),
    })

    api.post('/imports/:id/undo', {
      config: { permission: 'contacts:write' },
      schema: {
        operationId: 'undoImport',
        summary: 'Undo an import',
        description: `Removes the contacts that the import created, restores the values that it changed, and removes the suppressions and memberships that it added. Possible for ${undoDaysMax} days after the import has finished or was cancelled. Later changes win: contacts that were edited, emailed, unsubscribed or added to another group since then are kept, and so is every value that was changed again. Runs in the background: poll the import until \`undo.status\` is \`done\`.`,
        errors: { conflict: 'The import has not finished, was undone before, or finished more than 7 days ago.' },
        params: IdParams,
        response: accepts(ImportOut),
      },
      handler: async (request, reply) => {
        const record = await undoImport(db, ...targetOf(request, 'imp'), callerOf(request))
        return reply.status(202).send(accepted(importOut(record), 'Undo queued'))
      },
    })

    await api.register(inspectRoute({ tasks }))
    await api.register(uploadRoute(db))
  }
}

/** In its own plugin because its body is binary. */
function inspectRoute({ tasks }: Pick<Parts, 'tasks'>): FastifyPluginAsyncTypebox {
  return async (api) => {
    tagRoutes(api, 'Contacts')
    api.removeAllContentTypeParsers()
    api.addContentTypeParser('text/csv', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    api.addContentTypeParser('*', (_request, _content, done) => done(wrongMediaType()))
    api.post('/contacts/import/inspect', {
      config: { permission: 'contacts:write' },
      bodyLimit: sliceBytes,
      schema: {
        operationId: 'inspectImportFile',
        summary: 'Inspect a CSV file before importing it',
        description: `The body is the start of the file, in UTF-8: its first ${sliceBytes} bytes, or the whole file if it is smaller. Returns the delimiter, the columns, some rows and a detected \`mapping\`, the starting point of the mapping for the import. Nothing is stored.`,
        errors: { validation_failed: 'The file is not CSV, or not UTF-8.' },
        consumes: ['text/csv'],
        querystring: Type.Object({
          has_header: Type.Optional(
            Type.Boolean({ description: 'Whether the first row is a header. Detected if omitted.' }),
          ),
        }),
        body: Type.Unsafe<Buffer>({ content: { 'text/csv': { schema: { description: 'The start of the file.' } } } }),
        response: answers(InspectionOut),
      },
      handler: async (request) => {
        if (!Buffer.isBuffer(request.body)) throw wrongMediaType()
        const input = { bytes: request.body, hasHeader: request.query.has_header }
        const organizationId = organizationIdOf(request)
        return ok(inspectionOut(await tasks.run(inspectImportTask, { organizationId, input })))
      },
    })
  }
}

/** In its own plugin because its body is a stream: the file is stored as it is received and never kept in memory. */
function uploadRoute(db: Db): FastifyPluginAsyncTypebox {
  const uploading: UploadCounts = new Map()
  return async (api) => {
    tagRoutes(api, 'Contacts')
    api.removeAllContentTypeParsers()
    api.addContentTypeParser('text/csv', (_request, content, done) => done(null, content))
    api.addContentTypeParser('*', (_request, _content, done) => done(wrongMediaType()))
    api.post('/contacts/import', {
      config: { permission: 'contacts:write', bodyTimeoutMs: requestTimeoutMs },
      schema: {
        operationId: 'importContacts',
        summary: 'Import contacts from a CSV file',
        description:
          'The request body is the file: CSV in UTF-8, up to 512 MiB, delimited by comma, semicolon, tab or |. It is imported in the background. Without a mapping, columns are detected by their headers: address, names and status by common headers; all other columns, and the status, become attributes. Empty cells keep the existing value. The status column suppresses addresses: unsubscribed, opted out, false, no and 0 unsubscribe; bounced, hard_bounce, cleaned, complained, complaint, spam, suppressed, blocklisted and blacklisted suppress all email; subscribed, active, confirmed, enabled, true, yes, 1 and an empty cell change nothing. Rows with any other status are rejected if a mapping names the column; otherwise the status is ignored. No events are recorded, and unsubscribed contacts are never resubscribed. An address may have a name, as in `"Max Muster" <max@example.com>`: without a column for names, it becomes the name. Columns of numbers with a decimal comma are recognized by their first rows, and `1.234,5` is stored as `1234.5`. An organization can have ten imports in progress. Larger lists: split the file.',
        errors: {
          conflict: 'Ten imports are in progress.',
          not_found: 'The group does not exist.',
          payload_too_large: 'The file exceeds 512 MiB.',
          unsupported_media_type: 'The `Content-Type` is not `text/csv`.',
          validation_failed: 'The mapping or another parameter is invalid.',
        },
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
          dry_run: Type.Optional(
            Type.Boolean({
              description:
                'Reads the whole file and imports nothing: `status` becomes `checked`, with the number of rows that would create or update a contact or be rejected, and the first rejected ones. An address that occurs in parts of a large file that are far apart counts as created in each. Then start or cancel it. Default: false.',
            }),
          ),
          mapping: Type.Optional(
            Type.String({
              maxLength: jsonParameterMax,
              description:
                'JSON: { "email": "Column header", "first_name": "…", "last_name": "…", "status": "…", "attributes": { "plan": "…" } }. A column can also be given by its position, a number starting at 1. If several columns have the same header, the first one is used. With "has_header": false the first line is data, and all columns must be given by position.',
            }),
          ),
        }),
        body: Type.Unsafe<Readable>({ content: { 'text/csv': { schema: { description: 'The file.' } } } }),
        response: accepts(ImportOut),
      },
      handler: async (request, reply) => {
        const { group_id: groupText, subscription = 'subscribed', filename, mapping, dry_run: dryRun } = request.query
        if (!request.body) throw wrongMediaType()
        const groupId = groupText ? parseIdParam('grp', groupText) : null
        const record = await acceptImport(db, uploading, {
          organizationId: organizationIdOf(request),
          createdBy: userOf(callerOf(request)),
          groupId,
          subscription,
          fileName: filename?.trim() || 'import.csv',
          mapping: mapping ? readMapping(mapping) : null,
          dryRun: dryRun ?? false,
          declaredBytes: Number(request.headers['content-length']) || undefined,
          content: request.body,
        })
        return reply.status(202).send(accepted(importOut(record), 'Import queued'))
      },
    })
  }
}

const wrongMediaType = () =>
  new Refusal('unsupported_media_type', 'Send the file as the request body, with Content-Type: text/csv.')
