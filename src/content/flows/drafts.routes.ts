import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { callerOf } from '../../accounts/accounts.ts'
import { answers, created, creates, IdParams, Nothing, Nullable, ok } from '../../platform/http/envelope.ts'
import { checkIfMatch, etagOf } from '../../platform/http/etag.ts'
import { largeBodyBytesMax } from '../../platform/http/policies.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { discardDraft, duplicateFlow, getDraft, publishDraft, saveDraft } from './drafts.ts'
import type { Draft, FlowKey } from './flow-state.ts'
import { contentIn, DraftOut, draftFields, FlowOut, flowIn, flowOut, toDraftOut } from './flows.shapes.ts'
import { rebuildFlow } from './flows.ts'
import type { FlowParts } from './publish.ts'

const baseRevision = Type.Optional(
  Type.Integer({
    minimum: 0,
    description:
      'The revision of the draft that the change is based on, 0 if there was none. If the draft was changed since, the response is 409 `conflict` and nothing changes.',
  }),
)
const DraftIn = Type.Object({
  ...Type.Partial(Type.Object(draftFields)).properties,
  base_version: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'The published version that the draft is based on, 0 if there is none. If there is a newer one, the response is 409 `conflict` and nothing changes.',
    }),
  ),
  base_revision: baseRevision,
})
const PublishIn = Type.Object({
  base_version: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'The published version that the draft replaces. Required if it is newer than the one that the draft is based on.',
    }),
  ),
  base_revision: baseRevision,
})

/** Unpublished changes of flows. Emails are sent with the published version. */
export function draftRoutes(parts: FlowParts): FastifyPluginAsyncTypebox {
  const { db } = parts
  const draftOut = async (flow: FlowKey, reply: FastifyReply) => {
    const draft = await getDraft(db, flow)
    reply.header('etag', tagOf(draft))
    return toDraftOut(draft)
  }
  return async (api) => {
    tagRoutes(api, 'Flows')
    api.get('/flows/:id/draft', {
      config: { permission: 'flows:read' },
      schema: {
        operationId: 'getFlowDraft',
        summary: 'Get the draft of a flow',
        description:
          'Responds with 404 if the flow has no unpublished changes. Sends use the published version. The `ETag` of the response works with `If-Match`.',
        params: IdParams,
        response: answers(DraftOut),
      },
      handler: async (request, reply) => ok(await draftOut(flowIn(request), reply)),
    })

    api.put('/flows/:id/draft', {
      config: { permission: 'flows:write' },
      bodyLimit: largeBodyBytesMax,
      schema: {
        operationId: 'saveFlowDraft',
        summary: 'Save the draft of a flow',
        description:
          'Sends keep using the published version. Omitted fields keep the value of the draft, or of the published version if there is no draft. The template may be invalid; it is checked when the draft is published. If someone may have changed the draft since you read it, send its `revision` as `base_revision` or its `ETag` as `If-Match`.',
        errors: {
          conflict: 'The draft was changed since `base_revision`, or a version was published since `base_version`.',
          sender_not_verified: '`from_email` is not in a verified domain.',
          precondition_failed: 'The draft was changed since you read it.',
        },
        params: IdParams,
        body: DraftIn,
        response: answers(DraftOut),
      },
      handler: async (request, reply) => {
        const flow = flowIn(request)
        const changes = { ...contentIn(request.body), ...guardsOf(request, request.body) }
        await saveDraft(parts, flow, callerOf(request), changes)
        return ok(await draftOut(flow, reply))
      },
    })

    api.delete('/flows/:id/draft', {
      config: { permission: 'flows:write' },
      schema: {
        operationId: 'discardFlowDraft',
        summary: 'Discard the draft of a flow',
        description:
          'The published version stays. A flow that was never published has nothing else, so delete it instead.',
        errors: {
          conflict: 'The flow was never published.',
          precondition_failed: 'The draft was changed since you read it.',
        },
        params: IdParams,
        response: answers(Nothing),
      },
      handler: async (request) => {
        await discardDraft(db, flowIn(request), checkIfMatch(request, tagOf))
        return ok(null, 'Draft discarded')
      },
    })

    api.post('/flows/:id/publish', {
      config: { permission: 'flows:write' },
      schema: {
        operationId: 'publishFlow',
        summary: 'Publish the draft of a flow',
        description:
          'Creates a version, which emails are sent with from now on, and activates a flow that was never published. Publishes the draft exactly as you read it if you send its `revision` as `base_revision`. New sends use the version at once; queued emails keep theirs.',
        errors: {
          conflict:
            'There is no draft, it was changed since `base_revision`, or a version was published since the draft was started and `base_version` does not name it.',
          validation_failed: 'The template has an error; `error.fields` has its line and column.',
          sender_not_verified: '`from_email` is not in a verified domain.',
          precondition_failed: 'The draft was changed since you read it.',
        },
        params: IdParams,
        body: Type.Optional(Nullable(PublishIn)),
        response: answers(FlowOut),
      },
      handler: async (request, reply) => {
        const flow = flowIn(request)
        await publishDraft(parts, flow, callerOf(request), guardsOf(request, request.body))
        return ok(await flowOut(db, flow, reply), 'Published')
      },
    })

    api.post('/flows/:id/rebuild', {
      config: { permission: 'flows:write' },
      schema: {
        operationId: 'rebuildFlow',
        summary: 'Rebuild a flow',
        description:
          'Publishes the content of the flow again with the current brand and parts, as a new version. Does nothing if its emails would be the same. A draft stays a draft.',
        errors: {
          conflict: 'The flow was never published, or another version was published at the same time.',
          validation_failed: 'The template has an error, for example because a part was deleted.',
          sender_not_verified: '`from_email` is not in a verified domain.',
        },
        params: IdParams,
        response: answers(FlowOut),
      },
      handler: async (request, reply) => {
        const flow = flowIn(request)
        await rebuildFlow(parts, flow, callerOf(request))
        return ok(await flowOut(db, flow, reply))
      },
    })

    api.post('/flows/:id/duplicate', {
      config: { permission: 'flows:write' },
      schema: {
        operationId: 'duplicateFlow',
        summary: 'Duplicate a flow',
        description:
          'Creates an unpublished copy, with the unpublished changes if there are any. Nothing is sent through it until it is published. The copy has the status `draft` and starts with version 0.',
        params: IdParams,
        body: Type.Optional(
          Nullable(
            Type.Object({ name: Type.Optional(Type.String({ maxLength: 200, description: 'Default: “Copy of …”.' })) }),
          ),
        ),
        response: creates(FlowOut),
      },
      handler: async (request, reply) => {
        const flow = flowIn(request)
        const id = await duplicateFlow(parts, flow, callerOf(request), request.body?.name)
        return reply.status(201).send(created(await flowOut(db, { ...flow, id }, reply)))
      },
    })
  }
}

const tagOf = (draft: Draft | undefined) => etagOf(draft?.revision ?? 0)

/** The state of the draft and the flow that a change is based on. */
const guardsOf = (request: FastifyRequest, body: Static<typeof PublishIn> | null | undefined) => ({
  baseVersion: body?.base_version,
  baseRevision: body?.base_revision,
  checkUnchanged: checkIfMatch(request, tagOf),
})
