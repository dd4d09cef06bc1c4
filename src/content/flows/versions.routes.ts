import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import { answers, IdParams, Named, Nullable, ok, Timestamp } from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { notFound } from '../../platform/values/errors.ts'
import { getFlow } from './flow-state.ts'
import { contentOut, flowIn, toContentOut } from './flows.shapes.ts'
import { findVersionByNumber, selectVersions, type VersionSummary } from './flows.sql.ts'

const VersionSummaryOut = Named('FlowVersionSummary', {
  version: Type.Integer(),
  subject: Type.String(),
  created_at: Timestamp,
  created_by: Nullable(Type.String()),
})
const summaryOut = outOf(VersionSummaryOut, {}, { version: ({ number }: VersionSummary) => number })
const VersionOut = Named('FlowVersion', { version: Type.Integer(), created_at: Timestamp, ...contentOut })

export function versionRoutes({ db, read }: { db: Db; read: BoundedRead }): FastifyPluginAsyncTypebox {
  return async (api) => {
    tagRoutes(api, 'Flows')
    api.get('/flows/:id/versions', {
      config: { permission: 'flows:read' },
      schema: {
        operationId: 'listFlowVersions',
        summary: 'List flow versions',
        description: 'Newest first. `created_by` is the email address of the author.',
        params: IdParams,
        response: answers(Type.Array(VersionSummaryOut)),
      },
      handler: async (request) => {
        const { organizationId, id } = (await getFlow(db, flowIn(request))).flow
        const versions = await read(organizationId, (tx) => selectVersions(tx, organizationId, id))
        return ok(versions.map(summaryOut))
      },
    })

    api.get('/flows/:id/versions/:version', {
      config: { permission: 'flows:read' },
      schema: {
        operationId: 'getFlowVersion',
        summary: 'Get a flow version',
        description: 'Returns the content of one version, for example to compare or restore it.',
        errors: { validation_failed: 'The version is not a number.' },
        params: Type.Object({ id: Type.String(), version: Type.String({ pattern: '^[0-9]{1,6}$' }) }),
        response: answers(VersionOut),
      },
      handler: async (request) => {
        const { organizationId, id } = (await getFlow(db, flowIn(request))).flow
        const version = await findVersionByNumber(db, organizationId, id, Number(request.params.version))
        if (!version) throw notFound('flow version')
        return ok({ version: version.number!, created_at: version.createdAt.toISOString(), ...toContentOut(version) })
      },
    })
  }
}
