import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { targetOf, timezoneOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { IdParams, Named, Nullable, oneOf, page, pages, Timestamp } from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { pageQuery, readPage, toPage } from '../../platform/http/paging.ts'
import { invalid } from '../../platform/values/errors.ts'
import { eventNames } from '../../platform/values/event-types.ts'
import type { EventId } from '../../platform/values/ids.ts'
import { EventContactOut, eventContactOut } from './activity.routes.ts'
import { activityCursor } from './activity.ts'
import { type Figure, figures, selectFigureMessages } from './figures.sql.ts'
import { periodQuery } from './metrics.routes.ts'
import { existingFlow } from './metrics.ts'
import { boundsOf, readPeriod } from './period.ts'

const FigureMessageOut = Named('FlowFigureMessage', {
  id: Type.String({ description: 'The event that counts.' }),
  event_name: oneOf(...eventNames),
  occurred_at: Timestamp,
  message_id: Nullable(Type.String()),
  contact: Nullable(EventContactOut),
  reason: Nullable(Type.String({ description: 'Why the email bounced.' })),
})

const { flow_id: _, ...period } = periodQuery

export function figureRoutes({ read }: { read: BoundedRead }): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get('/flows/:id/results/messages', {
      config: { permission: 'flows:read' },
      attachValidation: true,
      schema: {
        tags: ['Flows'],
        operationId: 'listFlowFigureMessages',
        summary: 'List the messages behind a figure of a flow',
        description:
          'The messages that `totals` of the results count in the same period, each once, newest first. `sent`, `delivered` and `bounced` list emails that left in the period, also those that the mail server rejected at once; those that bounced have the event and the time of their bounce, which may be later. The others list messages at the first occurrence by a person (`unique`). A page can have fewer messages than `limit`. Events that are no longer kept are not listed.',
        errors: { validation_failed: '`figure` is missing, or a date or the time zone is invalid.' },
        params: IdParams,
        querystring: Type.Object({
          ...period,
          figure: Type.Unsafe<Figure>({ ...oneOf(...figures), description: 'The figure whose messages are listed.' }),
          ...pageQuery,
        }),
        response: pages(FigureMessageOut),
      },
      handler: async (request) => {
        const [organizationId, flowId] = targetOf(request, 'flw')
        const { limit, cursor } = readPage(request.query, activityCursor)
        const { figure } = request.query
        const found = await read(organizationId, async (tx) => {
          await existingFlow(tx, organizationId, flowId)
          const bounds = boundsOf(readPeriod(request.query, timezoneOf(request)))
          if (!figures.includes(figure))
            throw invalid({ path: 'figure', problem: `must be one of ${figures.join(', ')}` })
          return selectFigureMessages(tx, {
            ...{ organizationId, flowId, figure, limit },
            from: new Date(bounds[0]!),
            until: new Date(bounds.at(-1)!),
            before: cursor && { occurredAt: new Date(cursor[0]!), id: cursor[1] as EventId },
          })
        })
        const { items, nextCursor } = toPage(found, limit, ({ position: { occurredAt, id } }) => [
          occurredAt.toISOString(),
          id,
        ])
        const shown = figure === 'delivered' ? items.filter(({ bounceId }) => bounceId === null) : items
        return page({ items: shown.map(messageOut), nextCursor })
      },
    })
  }
}

const messageOut = outOf(FigureMessageOut, { id: 'evt', message_id: 'msg' }, { contact: eventContactOut })
