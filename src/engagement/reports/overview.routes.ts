import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { organizationIdOf, timezoneOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { answers, Named, ok } from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { eventNames } from '../../platform/values/event-types.ts'
import { CountOut, Day, periodQuery } from './metrics.routes.ts'
import { findChecklist } from './metrics.sql.ts'
import { getOverview } from './overview.ts'
import { readFlowId, readPeriod } from './period.ts'

const counts = {
  ...(Object.fromEntries(eventNames.map((name) => [name, CountOut])) as Record<
    (typeof eventNames)[number],
    typeof CountOut
  >),
  sent: Type.Integer({
    description:
      'Emails that left then: delivered or bounced, including those that the mail server rejected at once, which have no `emailSent`.',
  }),
  delivered: Type.Integer({ description: 'Emails that left then, except those that have bounced since.' }),
  bounced: Type.Integer({
    description: 'Emails that left then and have bounced since. Each counts once, unlike its bounces.',
  }),
}
export const CountsOut = Named('EventCounts', counts)
export const PreviousCountsOut = Named('EventCounts', counts, {
  description: 'The preceding period of the same length.',
})
export const DailyCountsOut = Named('DailyCounts', { date: Day, ...counts })

const TopFlowOut = Named('TopFlow', {
  flow_id: Type.String(),
  name: Type.String(),
  is_built_in: Type.Boolean({ description: 'Whether it stands for emails without a flow.' }),
  sent: Type.Integer({ description: 'As in `totals`.' }),
  opens_unique: Type.Integer(),
  clicks_unique: Type.Integer(),
  bounced: Type.Integer({ description: 'As in `totals`.' }),
  unsubscribes: Type.Integer(),
})
const OverviewOut = Named('Overview', {
  start_date: Day,
  end_date: Day,
  timezone: Type.String(),
  totals: CountsOut,
  previous: PreviousCountsOut,
  series: Type.Array(DailyCountsOut),
  top_flows: Type.Array(TopFlowOut),
})

const ChecklistOut = Named('Checklist', {
  sent: Type.Boolean(),
  opened: Type.Boolean(),
  clicked: Type.Boolean(),
  flow: Type.Boolean({ description: 'Whether a flow other than the sample flow exists.' }),
  contacts: Type.Boolean({ description: 'Whether contacts were added or imported.' }),
  api_key: Type.Boolean(),
  webhook: Type.Boolean(),
})

export function overviewRoutes({ read }: { read: BoundedRead }): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get('/overview', {
      config: { permission: 'metrics:read' },
      attachValidation: true,
      schema: {
        tags: ['Events'],
        operationId: 'getOverview',
        summary: 'Get an overview',
        description:
          'Daily counts of all event types by the day on which they happened, totals, and the flows that sent the most. `sent`, `delivered` and `bounced` count emails, as the results of flows do. `previous` has the totals of the preceding period of the same length. `timezone` defaults to that of the organization. At most 731 days.',
        errors: {
          not_found: 'The flow does not exist.',
          validation_failed: 'A date is invalid, or the range is reversed or too long.',
        },
        querystring: Type.Object(periodQuery),
        response: answers(OverviewOut),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const asked = { period: readPeriod(request.query, timezoneOf(request)), flowId: readFlowId(request.query) }
        const overview = await read(organizationId, (tx) => getOverview(tx, organizationId, asked))
        return ok({
          start_date: overview.startDate,
          end_date: overview.endDate,
          timezone: overview.timezone,
          totals: overview.totals,
          previous: overview.previous,
          series: overview.series,
          top_flows: overview.topFlows.map(topFlowOut),
        })
      },
    })

    api.get('/checklist', {
      config: { permission: 'organization:read' },
      schema: {
        tags: ['Events'],
        operationId: 'getChecklist',
        summary: 'Get the onboarding checklist',
        description: 'Which steps of the introduction are done. Used by the start page of the web app.',
        response: answers(ChecklistOut),
      },
      handler: async (request) => {
        const { apiKey, ...done } = await read(organizationIdOf(request), findChecklist)
        return ok({ ...done, api_key: apiKey })
      },
    })
  }
}

const topFlowOut = outOf(TopFlowOut, { flow_id: 'flw' })
