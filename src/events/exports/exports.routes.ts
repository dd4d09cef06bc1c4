import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { organizationIdOf, targetOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { answers, created, creates, IdParams, Named, Nothing, Nullable, ok } from '../../platform/http/envelope.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import type { Stage } from '../../platform/runtime/stage.ts'
import {
  EventExportChangesIn,
  EventExportIn,
  EventExportOut,
  eventExportOut,
  toChanges,
  toInput,
} from './exports.shapes.ts'
import { selectExports } from './exports.sql.ts'
import { changeExport, createExport, deleteExport, type ExportParts, getExport, testExport } from './exports.ts'

type RouteParts = ExportParts & { read: BoundedRead; tests: Stage }

export function eventExportRoutes(parts: RouteParts): FastifyPluginAsyncTypebox {
  const { db, read } = parts
  return async (api) => {
    tagRoutes(api, 'Event exports')
    api.get('/event-exports', {
      config: { permission: 'webhooks:read' },
      schema: {
        operationId: 'listEventExports',
        summary: 'List event exports',
        description: 'All exports, in one response. Secret access keys are never included.',
        response: answers(Type.Array(EventExportOut)),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const exports = await read(organizationId, (tx) => selectExports(tx, organizationId))
        return ok(exports.map(eventExportOut))
      },
    })

    api.post('/event-exports', {
      config: { permission: 'webhooks:write' },
      schema: {
        operationId: 'createEventExport',
        summary: 'Create an event export',
        description: `Uploads the events of the organization to S3-compatible storage, as gzip-compressed JSON lines, every five minutes while there are new ones. A file has up to 50,000 events. Its name contains the range of cursors of the event feed that it covers: if an upload is repeated, it replaces the file.

The endpoint must be https and must not name a private, loopback or link-local address. An organization can have 5 exports.`,
        errors: {
          conflict: 'The organization already has 5 exports.',
          validation_failed: 'The endpoint or another setting is invalid.',
        },
        body: EventExportIn,
        response: creates(EventExportOut),
      },
      handler: async (request, reply) => {
        const record = await createExport(parts, organizationIdOf(request), toInput(request.body))
        return reply.status(201).send(created(eventExportOut(record)))
      },
    })

    api.get('/event-exports/:id', {
      config: { permission: 'webhooks:read' },
      schema: {
        operationId: 'getEventExport',
        summary: 'Get an event export',
        description:
          '`failing_since` is set while uploads fail. They are retried, at first after a minute and then up to an hour apart; after three days the export is paused, and the owners are notified. It continues where it stopped.',
        params: IdParams,
        response: answers(EventExportOut),
      },
      handler: async (request) => ok(eventExportOut(await getExport(db, ...targetOf(request, 'exp')))),
    })

    api.patch('/event-exports/:id', {
      config: { permission: 'webhooks:write' },
      schema: {
        operationId: 'updateEventExport',
        summary: 'Update an event export',
        description: 'Omitted fields keep their value. An active export is tried at once with the new settings.',
        params: IdParams,
        body: EventExportChangesIn,
        response: answers(EventExportOut),
      },
      handler: async (request) => {
        const changed = await changeExport(parts, ...targetOf(request, 'exp'), toChanges(request.body))
        return ok(eventExportOut(changed))
      },
    })

    api.delete('/event-exports/:id', {
      config: { permission: 'webhooks:write' },
      schema: {
        operationId: 'deleteEventExport',
        summary: 'Delete an event export',
        description: 'The files that were uploaded stay in the bucket.',
        params: IdParams,
        response: answers(Nothing),
      },
      handler: async (request) => {
        await deleteExport(parts, ...targetOf(request, 'exp'))
        return ok(null, 'Export deleted')
      },
    })

    api.post('/event-exports/:id/test', {
      config: { permission: 'webhooks:write' },
      schema: {
        operationId: 'testEventExport',
        summary: 'Test an event export',
        description:
          'Uploads a small file, `waxwing-test.txt`, to the place of the export, and returns the result. The response arrives within 60 seconds.',
        errors: { rate_limited: 'Too many requests, or too many tests of the organization are in progress.' },
        params: IdParams,
        response: answers(
          Named('EventExportTest', {
            succeeded: Type.Boolean(),
            error: Nullable(Type.String({ description: 'Why the file was not stored.' })),
          }),
        ),
      },
      handler: async (request) => {
        const [organizationId, id] = targetOf(request, 'exp')
        const record = await getExport(db, organizationId, id)
        const error = await parts.tests.run(organizationId, () => testExport(parts, record))
        return ok({ succeeded: error === null, error })
      },
    })
  }
}
