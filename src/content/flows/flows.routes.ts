import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { callerOf, organizationIdOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { answers, created, creates, IdParams, Nothing, ok, page, pages } from '../../platform/http/envelope.ts'
import { checkIfMatch, editedSince } from '../../platform/http/etag.ts'
import { pageQuery, readPage, toPage, uuidPart } from '../../platform/http/paging.ts'
import { largeBodyBytesMax } from '../../platform/http/policies.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import type { FlowId } from '../../platform/values/ids.ts'
import { createDraftFlow } from './drafts.ts'
import { withChanges } from './flow-state.ts'
import {
  contentIn,
  draftFields,
  emptyContent,
  FlowOut,
  FlowSummaryOut,
  flowIn,
  flowOut,
  SettableStatus,
  Status,
  tagOfFlow,
  toSummaryOut,
} from './flows.shapes.ts'
import { selectFlows } from './flows.sql.ts'
import { changeFlow, createFlow, deleteFlow } from './flows.ts'
import type { FlowParts } from './publish.ts'

const FlowIn = Type.Object({ ...draftFields, status: Type.Optional(SettableStatus) })
const NewFlow = Type.Object({
  ...FlowIn.properties,
  draft: Type.Optional(
    Type.Boolean({
      description:
        'True: creates a flow that is not published yet. Nothing is sent through it, and its template may be invalid, until it is published.',
    }),
  ),
})
const FlowChanges = Type.Object({
  ...Type.Partial(FlowIn).properties,
  base_version: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'The version that the change is based on. If there is a newer one, the response is 409 `conflict` and nothing changes.',
    }),
  ),
})

export function flowRoutes(parts: FlowParts & { read: BoundedRead }): FastifyPluginAsyncTypebox {
  const { db, read } = parts
  return async (api) => {
    tagRoutes(api, 'Flows')
    api.get('/flows', {
      config: { permission: 'flows:read' },
      schema: {
        operationId: 'listFlows',
        summary: 'List flows',
        description:
          'Newest first. Archived flows are only included if `status` is `archived`. `stats_30d` counts the last 30 days.',
        querystring: Type.Object({
          status: Type.Optional(Status),
          query: Type.Optional(Type.String({ maxLength: 200 })),
          include_built_in: Type.Optional(
            Type.Boolean({
              description: 'Includes the flows that emails without a flow belong to. They cannot be used or changed.',
            }),
          ),
          ...pageQuery,
        }),
        response: pages(FlowSummaryOut),
      },
      handler: async (request) => {
        const { status, query, include_built_in: includesBuiltIn } = request.query
        const { limit, cursor } = readPage(request.query, [uuidPart])
        const filter = { status, query, includesBuiltIn, before: cursor?.[0] as FlowId | undefined, limit: limit + 1 }
        const organizationId = organizationIdOf(request)
        const flows = await read(organizationId, (tx) => selectFlows(tx, organizationId, filter))
        const { items, nextCursor } = toPage(flows, limit, ({ id }) => [id])
        return page({ items: items.map(toSummaryOut), nextCursor })
      },
    })

    api.post('/flows', {
      config: { permission: 'flows:write' },
      bodyLimit: largeBodyBytesMax,
      schema: {
        operationId: 'createFlow',
        summary: 'Create a flow',
        description:
          'Subject, HTML and text are Liquid templates. They can use `contact.email`, `contact.first_name`, `contact.last_name`, `contact.attributes`, `organization.name`, `unsubscribe_url`, and the keys of the `context` of the send request. Filters, tags and limits are documented in the [templates guide](guides/templates). The flow is active unless `status` says otherwise. A transactional flow is sent to everyone who is not suppressed; a marketing flow is sent to subscribed contacts only and needs an unsubscribe link, which is added if the template has none. `html` and `text` have at most 600,000 characters. `text` is derived from the HTML if it is omitted.',
        errors: {
          validation_failed:
            'The template has an error; `error.fields` has its line and column. Or another field is invalid.',
          sender_not_verified: '`from_email` is not in a verified domain.',
        },
        body: NewFlow,
        response: creates(FlowOut),
      },
      handler: async (request, reply) => {
        const organizationId = organizationIdOf(request)
        const actor = callerOf(request)
        const { name, kind, status = 'active', draft } = request.body
        const content = withChanges({ ...emptyContent, name, kind }, contentIn(request.body))
        const id = draft
          ? await createDraftFlow(parts, organizationId, actor, content)
          : await createFlow(parts, organizationId, actor, { ...content, status })
        return reply.status(201).send(created(await flowOut(db, { organizationId, id }, reply)))
      },
    })

    api.get('/flows/:id', {
      config: { permission: 'flows:read' },
      schema: {
        operationId: 'getFlow',
        summary: 'Get a flow',
        description: '`variables` lists what the template needs from `context`.',
        params: IdParams,
        response: answers(FlowOut),
      },
      handler: async (request, reply) => ok(await flowOut(db, flowIn(request), reply)),
    })

    api.patch('/flows/:id', {
      config: { permission: 'flows:write' },
      bodyLimit: largeBodyBytesMax,
      schema: {
        operationId: 'updateFlow',
        summary: 'Update a flow',
        description:
          'A change of the content creates a new version. Omitted fields keep their value, also if other requests change the flow at the same time. To reject the change if the flow was saved since you read it, send its `version` as `base_version`. Emails that were accepted before keep their version.',
        errors: {
          precondition_failed: editedSince,
          conflict: 'There is a newer version than `base_version`, or the flow has 10,000 versions.',
          validation_failed:
            'The template has an error; `error.fields` has its line and column. Or another field is invalid.',
          sender_not_verified: '`from_email` is not in a verified domain.',
        },
        params: IdParams,
        body: FlowChanges,
        response: answers(FlowOut),
      },
      handler: async (request, reply) => {
        const flow = flowIn(request)
        const { status, base_version: baseVersion } = request.body
        const checkUnchanged = checkIfMatch(request, tagOfFlow)
        const changes = { ...contentIn(request.body), ...(status && { status }), baseVersion, checkUnchanged }
        await changeFlow(parts, flow, callerOf(request), changes)
        return ok(await flowOut(db, flow, reply))
      },
    })

    api.delete('/flows/:id', {
      config: { permission: 'flows:write' },
      schema: {
        operationId: 'deleteFlow',
        summary: 'Delete a flow',
        description: 'Messages that were sent through the flow and their counts are kept.',
        params: IdParams,
        response: answers(Nothing),
      },
      handler: async (request) => {
        await deleteFlow(db, flowIn(request))
        return ok(null, 'Flow deleted')
      },
    })
  }
}
