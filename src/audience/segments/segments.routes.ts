import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { organizationIdOf, targetOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import { answers, created, creates, IdParams, Named, Nothing, ok, Timestamp } from '../../platform/http/envelope.ts'
import { checkIfMatch, editedSince, etagOf } from '../../platform/http/etag.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { nameMax } from '../../platform/values/names.ts'
import { FilterRef } from './filter.ts'
import { checkFilter } from './parse-filter.ts'
import { selectSegments } from './segments.sql.ts'
import { createSegment, editSegment, getSegment, removeSegment, type Segment } from './segments.ts'

const SegmentOut = Named('Segment', {
  id: Type.String(),
  name: Type.String(),
  filter: FilterRef,
  created_at: Timestamp,
  updated_at: Timestamp,
})
const Name = Type.String({ minLength: 1, maxLength: nameMax })

export function segmentRoutes({ db, read }: { db: Db; read: BoundedRead }): FastifyPluginAsyncTypebox {
  return async (api) => {
    tagRoutes(api, 'Segments')
    api.get('/segments', {
      config: { permission: 'contacts:read' },
      schema: {
        operationId: 'listSegments',
        summary: 'List segments',
        description: 'All segments, in one response. An organization can have 500.',
        response: answers(Type.Array(SegmentOut)),
      },
      handler: async (request) => ok((await read(organizationIdOf(request), selectSegments)).map(segmentOut)),
    })

    api.post('/segments', {
      config: { permission: 'contacts:write' },
      schema: {
        operationId: 'createSegment',
        summary: 'Create a segment',
        description:
          'Conditions are joined by `all` and `any`. Texts are compared without regard to case. Negative operators such as `not_equals` also match contacts without a value. Engagement counts people by default; set `include_machines` to count automated opens and clicks as well.',
        errors: {
          conflict: 'A segment with this name exists, or the organization has 500 segments.',
          validation_failed: 'The filter is invalid, or names a group, flow, broadcast or segment that does not exist.',
        },
        body: Type.Object({ name: Name, filter: FilterRef }),
        response: creates(SegmentOut),
      },
      handler: async (request, reply) => {
        const { name, filter } = request.body
        const segment = await createSegment(db, organizationIdOf(request), { name, filter: checkFilter(filter) })
        return reply.status(201).send(created(segmentOut(segment)))
      },
    })

    api.get('/segments/:id', {
      config: { permission: 'contacts:read' },
      schema: {
        operationId: 'getSegment',
        summary: 'Get a segment',
        description:
          'Count its contacts with `GET …/segments/{id}/count`, and list them with `GET …/contacts?segment_id=`.',
        params: IdParams,
        response: answers(SegmentOut),
      },
      handler: async (request, reply) => {
        const segment = await getSegment(db, ...targetOf(request, 'seg'))
        reply.header('etag', tagOf(segment))
        return ok(segmentOut(segment))
      },
    })

    api.patch('/segments/:id', {
      config: { permission: 'contacts:write' },
      schema: {
        operationId: 'updateSegment',
        summary: 'Update a segment',
        description: 'Omitted fields keep their value; the filter is replaced as a whole.',
        errors: {
          conflict: 'Another segment has this name.',
          precondition_failed: editedSince,
          validation_failed:
            'The filter is invalid, names a record that does not exist, or would make a segment contain itself or exceed the limits.',
        },
        params: IdParams,
        body: Type.Object({ name: Type.Optional(Name), filter: Type.Optional(FilterRef) }),
        response: answers(SegmentOut),
      },
      handler: async (request, reply) => {
        const { name, filter } = request.body
        const [organizationId, segmentId] = targetOf(request, 'seg')
        if (filter) await request.checkScheduled({ segmentId })
        const segment = await editSegment(db, organizationId, segmentId, {
          name,
          filter: filter && checkFilter(filter),
          checkUnchanged: checkIfMatch(request, tagOf),
        })
        reply.header('etag', tagOf(segment))
        return ok(segmentOut(segment))
      },
    })

    api.delete('/segments/:id', {
      config: { permission: 'contacts:write' },
      schema: {
        operationId: 'deleteSegment',
        summary: 'Delete a segment',
        description: 'The contacts are kept. This cannot be undone.',
        errors: { conflict: 'Another segment names it. The message says which.' },
        params: IdParams,
        response: answers(Nothing),
      },
      handler: async (request) => {
        await removeSegment(db, ...targetOf(request, 'seg'))
        return ok(null, 'Segment deleted')
      },
    })
  }
}

const tagOf = ({ name, filter }: Segment) => etagOf(name, filter)

const segmentOut = outOf(SegmentOut, { id: 'seg' })
