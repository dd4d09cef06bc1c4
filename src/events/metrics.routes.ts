import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { keyOf, requireScope } from '../accounts/guards.ts'
import type { Db } from '../db/db.ts'
import { eventNames } from '../event-types.ts'
import { answers, ok, oneOf } from '../http/envelope.ts'
import { emailEventMetric, type Metric } from './metrics.ts'
import { daysMax } from './period.ts'

const count = {
  total: Type.Integer({ description: 'Every event.' }),
  unique: Type.Integer({ description: 'Messages, by the first occurrence made by a person; adds up over days.' }),
  machine: Type.Integer({ description: 'The part of the total made by a scanner or privacy proxy.' }),
}

const day = Type.String({ format: 'date', examples: ['2026-01-31'] })
const MetricOut = Type.Object({
  event_name: oneOf(...eventNames),
  start_date: day,
  end_date: day,
  timezone: Type.String(),
  ...count,
  series: Type.Array(Type.Object({ date: day, ...count })),
})

export function metricRoutes({ db }: { db: Db }): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get(
      '/analytics/metrics/get-email-event-metric',
      {
        onRequest: requireScope('analytics:read'),
        // Checked by readPeriod, which names everything that is wrong at once, also what a schema cannot say.
        attachValidation: true,
        schema: {
          tags: ['Public API'],
          summary: 'Count one kind of event by day',
          querystring: Type.Object({
            event_name: oneOf(...eventNames),
            start_date: day,
            end_date: Type.Unsafe<string>({ ...day, description: `Included. At most ${daysMax} days.` }),
            timezone: Type.Optional(Type.String({ default: 'UTC', description: 'IANA time zone.' })),
            flow_id: Type.Optional(Type.String()),
          }),
          response: answers(MetricOut),
        },
      },
      async (request) => ok(metricOut(await emailEventMetric(db, keyOf(request).organizationId, request.query))),
    )
  }
}

const metricOut = ({ eventName, startDate, endDate, timezone, total, unique, machine, series }: Metric) => ({
  event_name: eventName,
  start_date: startDate,
  end_date: endDate,
  timezone,
  total,
  unique,
  machine,
  series,
})
