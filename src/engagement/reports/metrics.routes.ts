import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { keyOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { answers, Named, ok, oneOf } from '../../platform/http/envelope.ts'
import type { FieldProblem } from '../../platform/values/errors.ts'
import { eventNames } from '../../platform/values/event-types.ts'
import { emailEventMetric } from './metrics.ts'
import { daysMax, readEventName, readFlowId, readPeriod } from './period.ts'

const count = {
  total: Type.Integer({ description: 'All events.' }),
  unique: Type.Integer({
    description: 'Messages, counted at the first occurrence made by a person. Adds up over days.',
  }),
  machine: Type.Integer({ description: 'Automated events of the total, made by a scanner or privacy proxy.' }),
}
export const CountOut = Named('EventCount', count)
export const Day = Type.String({ format: 'date', examples: ['2026-01-31'] })

const MetricOut = Named('EventMetric', {
  event_name: oneOf(...eventNames),
  start_date: Day,
  end_date: Day,
  timezone: Type.String(),
  ...count,
  series: Type.Array(Type.Object({ date: Day, ...count })),
})

/** For documentation only. `readPeriod` validates the parameters and reports all problems at once. */
export const periodQuery = {
  start_date: Day,
  end_date: Type.String({ format: 'date', description: `Inclusive. At most ${daysMax} days.` }),
  timezone: Type.Optional(Type.String({ description: 'IANA time zone.' })),
  flow_id: Type.Optional(Type.String()),
}

export function metricRoutes({ read }: { read: BoundedRead }): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get('/analytics/metrics/get-email-event-metric', {
      config: { permission: 'analytics:read' },
      attachValidation: true,
      schema: {
        tags: ['Public API'],
        operationId: 'getEmailEventMetric',
        summary: 'Get the daily counts of an event',
        description: `One row for each day from \`start_date\` to \`end_date\`, both inclusive, with zeros for days without events. At most 731 days. Days begin at midnight in \`timezone\` (default UTC).

\`total\` counts every event. \`machine\` is the automated part of it, made by scanners and privacy proxies. \`unique\` counts messages at their first event made by a person, so that it adds up over days.`,
        errors: {
          not_found: 'The flow does not exist.',
          validation_failed:
            'A date is invalid, the range is reversed or too long, or the event name or time zone is unknown.',
        },
        querystring: Type.Object({ event_name: oneOf(...eventNames), ...periodQuery }),
        response: answers(MetricOut),
      },
      handler: async (request) => {
        const { organizationId } = keyOf(request)
        const problems: FieldProblem[] = []
        const asked = {
          eventName: readEventName(request.query.event_name, problems),
          period: readPeriod(request.query, 'UTC', problems),
          flowId: readFlowId(request.query),
        }
        const metric = await read(organizationId, (tx) => emailEventMetric(tx, organizationId, asked))
        const { eventName, startDate, endDate, days: _, ...rest } = metric
        return ok({ event_name: eventName, start_date: startDate, end_date: endDate, ...rest })
      },
    })
  }
}
