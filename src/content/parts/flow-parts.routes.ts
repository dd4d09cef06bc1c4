import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { organizationIdOf, targetOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import { answers, created, creates, IdParams, Named, Nothing, ok, Timestamp } from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import type { TemplateRunner } from '../flows/template-runner.ts'
import { FlowReference, flowReferences } from '../images/flow-reference.ts'
import { selectFlowsWithPart, selectParts } from './flow-parts.sql.ts'
import { changePart, createPart, deletePart, getPart, namePattern, partBytesMax, partsMax } from './flow-parts.ts'

const flowsMax = 100

const PartSummaryOut = Named('FlowPartSummary', {
  id: Type.String(),
  name: Type.String(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
const PartOut = Named('FlowPart', { ...PartSummaryOut.properties, html: Type.String() })
const Html = Type.String({ maxLength: partBytesMax, description: 'HTML or MJML with Liquid, up to 100 KB.' })
const partOut = outOf(PartOut, { id: 'prt' })
const partSummaryOut = outOf(PartSummaryOut, { id: 'prt' })

type Parts = { db: Db; runner: TemplateRunner; read: BoundedRead }

export function flowPartRoutes({ db, runner, read }: Parts): FastifyPluginAsyncTypebox {
  return async (api) => {
    tagRoutes(api, 'Flow parts')
    api.get('/flow-parts', {
      config: { permission: 'flows:read' },
      schema: {
        operationId: 'listFlowParts',
        summary: 'List flow parts',
        description: 'All parts by name, in one response, without their HTML.',
        response: answers(Type.Array(PartSummaryOut)),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        return ok((await read(organizationId, (tx) => selectParts(tx, organizationId))).map(partSummaryOut))
      },
    })

    api.post('/flow-parts', {
      config: { permission: 'flows:write' },
      schema: {
        operationId: 'createFlowPart',
        summary: 'Create a flow part',
        description: `Templates include it with \`{% part "name" %}\`. A part is HTML or MJML, like the templates that include it, and cannot include other parts. An organization can have ${partsMax}.`,
        errors: {
          conflict: `Another part has this name, or the organization has ${partsMax} parts.`,
          validation_failed: 'The name or the Liquid of the part is invalid.',
        },
        body: Type.Object({
          name: Type.String({
            pattern: namePattern,
            maxLength: 50,
            description: 'Lower-case letters, digits, - and _, such as `footer`. It cannot be changed.',
          }),
          html: Html,
        }),
        response: creates(PartOut),
      },
      handler: async (request, reply) => {
        const part = await createPart({ db, runner }, organizationIdOf(request), request.body)
        return reply.status(201).send(created(partOut(part)))
      },
    })

    api.get('/flow-parts/:id', {
      config: { permission: 'flows:read' },
      schema: {
        operationId: 'getFlowPart',
        summary: 'Get a flow part',
        description: `\`flows\` are up to ${flowsMax} flows whose published version includes the part.`,
        params: IdParams,
        response: answers(Named('FlowPartDetails', { ...PartOut.properties, flows: Type.Array(FlowReference) })),
      },
      handler: async (request) => {
        const [organizationId, id] = targetOf(request, 'prt')
        return read(organizationId, async (tx) => {
          const part = await getPart(tx, organizationId, id)
          const flows = await selectFlowsWithPart(tx, organizationId, part.name, flowsMax)
          return ok({ ...partOut(part), flows: flowReferences(flows) })
        })
      },
    })

    api.patch('/flow-parts/:id', {
      config: { permission: 'flows:write' },
      schema: {
        operationId: 'updateFlowPart',
        summary: 'Update a flow part',
        description:
          'Published flows keep the text that they were published with: publish or rebuild them to use the new one. Drafts and previews use it at once.',
        errors: { validation_failed: 'The Liquid of the part is invalid.' },
        params: IdParams,
        body: Type.Object({ html: Html }),
        response: answers(PartOut),
      },
      handler: async (request) =>
        ok(partOut(await changePart({ db, runner }, ...targetOf(request, 'prt'), request.body.html))),
    })

    api.delete('/flow-parts/:id', {
      config: { permission: 'flows:write' },
      schema: {
        operationId: 'deleteFlowPart',
        summary: 'Delete a flow part',
        description: 'Published flows keep its text, but those that include it cannot be published again.',
        params: IdParams,
        response: answers(Nothing),
      },
      handler: async (request) => {
        await deletePart(db, ...targetOf(request, 'prt'))
        return ok(null, 'Part deleted')
      },
    })
  }
}
