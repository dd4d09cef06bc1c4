import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { callerOf, isViaMcp, may, organizationIdOf, timezoneOf } from '../accounts/accounts.ts'
import type { BoundedRead } from '../platform/db/bounded-read.ts'
import type { BoundedWork } from '../platform/db/bounded-work.ts'
import { answers, created, creates, IdParams, Nothing, ok, oneOf, page, pages } from '../platform/http/envelope.ts'
import { pageQuery, readPage, toPage, uuidPart } from '../platform/http/paging.ts'
import { tagRoutes } from '../platform/http/tags.ts'
import type { FailureLog } from '../platform/runtime/failure-log.ts'
import { parseIdParam } from '../platform/values/id-params.ts'
import type { BroadcastId } from '../platform/values/ids.ts'
import { broadcastStatuses, selectBroadcasts } from './broadcasts.sql.ts'
import { changeBroadcast, type Editor } from './change.ts'
import { createBroadcast, type DraftParts, duplicateBroadcast, getBroadcast, removeBroadcast } from './lifecycle.ts'
import {
  areOutdated,
  BroadcastInListOut,
  BroadcastWithResultsOut,
  listedOut,
  resultsOut,
  waitOut,
} from './result-shapes.ts'
import { recipientRoutes } from './results/recipients.routes.ts'
import { resultRoutes } from './results/results.routes.ts'
import { BroadcastResults } from './results/results.ts'
import { draftSendAgain } from './send-again.ts'
import { findWaits, type WaitingParts } from './sending/waiting.ts'
import { BroadcastEdit, BroadcastIn, BroadcastOut, broadcastOut, changesOf, contentOf } from './shapes.ts'
import { chanceOut, subjectMax, variantsWithResults } from './variant-shapes.ts'

export type BroadcastRouteParts = DraftParts &
  WaitingParts & { read: BoundedRead; work: BoundedWork; failures: FailureLog }

export function broadcastRoutes(parts: BroadcastRouteParts): FastifyPluginAsyncTypebox {
  const { db, read, work, runner, failures } = parts
  const drafts = { db, runner }
  const results = new BroadcastResults({ db, read, work, failures })
  return async (api) => {
    tagRoutes(api, 'Broadcasts')
    api.addHook('onClose', () => results.stop())
    api.get('/broadcasts', {
      config: { permission: 'broadcasts:read' },
      schema: {
        operationId: 'listBroadcasts',
        summary: 'List broadcasts',
        description:
          'Newest first, with their main results. `GET …/broadcasts/{id}` has all results of one broadcast. Small broadcasts at the top of the list, up to 10,000 recipients together, are counted with the request. The results of others are those of `results_counted_at`, and are counted again in the background if they are older than 5 % of the time since the start.',
        querystring: Type.Object({
          ...pageQuery,
          query: Type.Optional(Type.String({ maxLength: 200, description: 'Part of the name, or an id.' })),
          status: Type.Optional(oneOf(...broadcastStatuses)),
        }),
        response: pages(BroadcastInListOut),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const { limit, cursor } = readPage(request.query, [uuidPart])
        const filter = {
          query: request.query.query?.replaceAll('\0', ''),
          status: request.query.status,
          before: cursor?.[0] as BroadcastId | undefined,
          limit: limit + 1,
        }
        const found = await read(organizationId, (tx) => selectBroadcasts(tx, organizationId, filter))
        const { items, nextCursor } = toPage(found, limit, ({ id }) => [id])
        const counted = await results.list(organizationId, items)
        return page({ items: items.map((each, at) => listedOut(each, counted[at]!)), nextCursor })
      },
    })

    api.post('/broadcasts', {
      config: { permission: 'broadcasts:write' },
      schema: {
        operationId: 'createBroadcast',
        summary: 'Create a broadcast',
        description:
          'Creates a draft. Nothing is sent until it is started or scheduled. Only `name` is required; a draft can be completed later. `audience` takes up to 100 groups and 100 segments, minus excluded ones, with at most 200 conditions in all segments together; a contact in several of them receives one email. Instead of groups and segments it can be `all_subscribed`, or those who have not opened another broadcast. The contacts are those at the time of the start. `schedule.at` is a local time in `schedule.time_zone`, so it stays correct when clocks are changed. A transactional flow needs `service_announcement: true`.',
        errors: {
          conflict: 'The organization has 1,000 drafts.',
          validation_failed:
            'A field is invalid, the flow, a group or a segment does not exist, or the kind of the flow does not fit `service_announcement`.',
        },
        body: BroadcastIn,
        response: creates(BroadcastOut),
      },
      handler: async (request, reply) => {
        const content = contentOf(request.body, timezoneOf(request))
        const broadcast = await createBroadcast(drafts, organizationIdOf(request), callerOf(request), content)
        return reply.status(201).send(created(broadcastOut(broadcast)))
      },
    })

    api.get('/broadcasts/:id', {
      config: { permission: 'broadcasts:read' },
      schema: {
        operationId: 'getBroadcast',
        summary: 'Get a broadcast',
        description:
          'Includes its progress, why it waits if it does, and its results. With more than 2,000 recipients, the results are those of `results_counted_at`, and are counted again in the background. Poll it about once a second to show the progress.',
        params: IdParams,
        response: answers(BroadcastWithResultsOut),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const id = parseIdParam('brc', request.params.id)
        const broadcast = await read(organizationId, (tx) => getBroadcast(tx, organizationId, id))
        const counted = await results.get(broadcast)
        const { reactions, countedAt } = counted
        const waits = await findWaits(parts, broadcast, may(request, 'installation:read'))
        return ok({
          ...broadcastOut(broadcast),
          waiting: waits.map(waitOut),
          results: resultsOut(broadcast, reactions),
          results_counted_at: countedAt?.toISOString() ?? null,
          links_complete: await results.areLinksComplete(broadcast),
          results_outdated: areOutdated(broadcast, counted),
          variants: variantsWithResults(broadcast, reactions.variants),
          chance: chanceOut(reactions.variants),
        })
      },
    })

    api.patch('/broadcasts/:id', {
      config: { permission: 'broadcasts:write' },
      schema: {
        operationId: 'updateBroadcast',
        summary: 'Update a broadcast',
        description:
          'Changes a draft, or a broadcast that is scheduled: its content, its audience, or its planned time. `audience` and `schedule` are replaced as a whole. Changing a scheduled one needs the permission to start broadcasts, or the scope `broadcasts:send`, and it has to stay complete; if its time comes in the same moment, it is sent either with the change, or the response is 409 and it is sent without. Who gets a scheduled service announcement cannot be changed.',
        errors: {
          conflict:
            'The broadcast has been started, it was changed since `base_revision`, or who gets a scheduled service announcement would be changed.',
          forbidden: 'The broadcast is scheduled, and you may not start broadcasts.',
          flow_not_active: 'The broadcast is scheduled, and the flow is paused or archived.',
        },
        params: IdParams,
        body: BroadcastEdit,
        response: answers(BroadcastOut),
      },
      handler: async (request) => {
        const key = { organizationId: organizationIdOf(request), id: parseIdParam('brc', request.params.id) }
        const changes = {
          ...changesOf(request.body, timezoneOf(request)),
          baseRevision: request.body.base_revision,
        }
        return ok(broadcastOut(await changeBroadcast(drafts, key, changes, editorOf(request))))
      },
    })

    api.delete('/broadcasts/:id', {
      config: { permission: 'broadcasts:write' },
      schema: {
        operationId: 'deleteBroadcast',
        summary: 'Delete a broadcast',
        description: 'Only broadcasts that were never started can be deleted.',
        errors: { conflict: 'The broadcast was started, or is scheduled. Cancel it first.' },
        params: IdParams,
        response: answers(Nothing),
      },
      handler: async (request) => {
        await removeBroadcast(db, organizationIdOf(request), parseIdParam('brc', request.params.id))
        return ok(null, 'Broadcast deleted')
      },
    })

    api.post('/broadcasts/:id/duplicate', {
      config: { permission: 'broadcasts:write' },
      schema: {
        operationId: 'duplicateBroadcast',
        summary: 'Duplicate a broadcast',
        description:
          'Creates a draft with the same content and audience. The planned time is copied as well; if it has passed, choose a new one before the start. Groups and segments that were deleted since are left out.',
        params: IdParams,
        response: creates(BroadcastOut),
      },
      handler: async (request, reply) => {
        const id = parseIdParam('brc', request.params.id)
        const copy = await duplicateBroadcast(drafts, organizationIdOf(request), callerOf(request), id)
        return reply.status(201).send(created(broadcastOut(copy)))
      },
    })

    api.post('/broadcasts/:id/send-again', {
      config: { permission: 'broadcasts:write' },
      schema: {
        operationId: 'sendBroadcastAgain',
        summary: 'Create a draft for recipients who did not open',
        description:
          'Creates a draft with the content of a sent broadcast and another subject. Like every draft, it sends the version of the flow that is current when it is started, also if recipients got another one. Its audience are the recipients to whom the email was delivered and who neither opened nor clicked when the draft is started; `audience.not_opened_broadcast_id` names the broadcast. Contacts that unsubscribed or are suppressed get nothing, as always. Nothing is sent until the draft is started.',
        errors: {
          conflict: 'The broadcast has not been sent, or the organization has 1,000 drafts.',
          validation_failed: 'The subject is invalid, or the same as before.',
        },
        params: IdParams,
        body: Type.Object({ subject: Type.String({ minLength: 1, maxLength: subjectMax }) }),
        response: creates(BroadcastOut),
      },
      handler: async (request, reply) => {
        const id = parseIdParam('brc', request.params.id)
        const sent = { organizationId: organizationIdOf(request), id }
        const draft = await draftSendAgain(drafts, sent, callerOf(request), request.body.subject)
        return reply.status(201).send(created(broadcastOut(draft)))
      },
    })

    recipientRoutes(api, read)
    resultRoutes(api, { read, results })
  }
}

/** A client of MCP asks its user before it starts a broadcast, so it may not change one afterwards. */
const editorOf = (request: FastifyRequest): Editor => ({
  mayStart: may(request, 'broadcasts:send') && !isViaMcp(request),
  mayAnnounce: may(request, 'broadcasts:announce'),
})
