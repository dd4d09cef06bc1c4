import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { targetOf, timezoneOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { answers, IdParams, Named, Nullable, ok, page, pages, Timestamp } from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { pageQuery, readPage, toPage } from '../../platform/http/paging.ts'
import { invalid } from '../../platform/values/errors.ts'
import type { EventId } from '../../platform/values/ids.ts'
import { EventContactOut, eventContactOut } from './activity.routes.ts'
import { activityCursor } from './activity.ts'
import { emailsOf } from './email-counts.ts'
import { selectLinkClicks } from './flow-results.sql.ts'
import { type Counted, type FlowResults, getFlowResults } from './flow-results.ts'
import { Day, periodQuery } from './metrics.routes.ts'
import { existingFlow } from './metrics.ts'
import { CountsOut, DailyCountsOut, PreviousCountsOut } from './overview.routes.ts'
import { boundsOf, readPeriod } from './period.ts'

const other = 'Null for all others together: only a limited number is counted individually on each day.'
const bounces = {
  hard_bounces: Type.Integer({ description: 'Bounces in the period, also of emails that left before.' }),
  soft_bounces: Type.Integer({ description: 'Bounces in the period, also of emails that left before.' }),
}
const performed = {
  sent: Type.Integer({ description: 'Emails that were delivered or bounced, as in `totals`.' }),
  opens_unique: Type.Integer({ description: 'Messages that a person opened.' }),
  clicks_unique: Type.Integer({ description: 'Messages in which a person clicked a link.' }),
  bounced: Type.Integer({ description: 'Emails that bounced, as in `totals`.' }),
  ...bounces,
  complaints: Type.Integer(),
}

const FlowResultsOut = Named('FlowResults', {
  start_date: Day,
  end_date: Day,
  timezone: Type.String(),
  totals: CountsOut,
  previous: PreviousCountsOut,
  days: Type.Array(DailyCountsOut),
  links: Type.Array(
    Named('LinkResults', {
      link: Nullable(
        Type.String({
          description: `The URL, with … in place of parts that are different for every recipient, such as ids and tokens. ${other}`,
        }),
      ),
      clicks: Type.Integer({ description: 'Clicks by people.' }),
      clicks_unique: Nullable(
        Type.Integer({
          description:
            'Messages in which a person clicked this link in the period. Null if there are more than 200,000 clicks.',
        }),
      ),
      clicks_machine: Type.Integer({ description: 'Clicks by scanners.' }),
    }),
  ),
  domains: Type.Array(
    Named('DomainResults', {
      domain: Nullable(Type.String({ description: `The domain of the recipients. ${other}` })),
      ...performed,
    }),
  ),
  bounces: Type.Array(Named('BounceResults', { reason: Nullable(Type.String({ description: other })), ...bounces })),
  versions: Type.Array(
    Named('VersionResults', {
      version: Nullable(Type.Integer({ description: other })),
      ...performed,
      unsubscribes: Type.Integer(),
    }),
  ),
})

const LinkClickOut = Named('LinkClick', {
  id: Type.String(),
  occurred_at: Timestamp,
  machine: Type.Boolean({ description: 'Whether the click is automated: made by a scanner.' }),
  message_id: Nullable(Type.String()),
  contact: Nullable(EventContactOut),
})

const { flow_id: _, ...period } = periodQuery

export function flowResultRoutes({ read }: { read: BoundedRead }): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get('/flows/:id/results', {
      config: { permission: 'flows:read' },
      attachValidation: true,
      schema: {
        tags: ['Flows'],
        operationId: 'getFlowResults',
        summary: 'Get the results of a flow',
        description:
          'Daily counts and totals of all event types, and counts by link, receiving domain, bounce reason and version. Counts come from counters, so the response does not depend on how many events there are; only the messages in which each link was clicked are counted when they are shown. `unique` counts messages at their first occurrence made by a person. `sent`, `delivered` and `bounced` count emails by the day on which they left, so that a day can still change when an email bounces later. A link is counted without the parts of its URL that are different for every recipient. On each day, the first 50 links, 50 domains and 20 versions of a flow are counted individually, and all others together.',
        errors: { validation_failed: 'A date or the time zone is invalid, or the period is longer than 731 days.' },
        params: IdParams,
        querystring: Type.Object(period),
        response: answers(FlowResultsOut),
      },
      handler: async (request) => {
        const [organizationId, flowId] = targetOf(request, 'flw')
        const period = await read(organizationId, async (tx) => {
          await existingFlow(tx, organizationId, flowId)
          return readPeriod(request.query, timezoneOf(request))
        })
        const results = await getFlowResults(read, organizationId, { flowId, period })
        return ok({
          start_date: results.startDate,
          end_date: results.endDate,
          timezone: results.timezone,
          totals: results.totals,
          previous: results.previous,
          days: results.series,
          links: results.links.map(linkOut),
          domains: results.domains.map((domain) => ({ domain: domain.value, ...performedOut(domain) })),
          bounces: results.reasons.map((reason) => ({ reason: reason.value, ...bouncedOut(reason) })),
          versions: results.versions.map((version) => ({
            version: version.number,
            ...performedOut(version),
            unsubscribes: version.counts.contactUnsubscribe.unique,
          })),
        })
      },
    })

    api.get('/flows/:id/link-clicks', {
      config: { permission: 'flows:read' },
      attachValidation: true,
      schema: {
        tags: ['Flows'],
        operationId: 'listLinkClicks',
        summary: 'List the clicks on a link of a flow',
        description:
          'Newest first. Needs the exact `link` of the results. Clicks on days on which the link was counted together with others are not listed.',
        errors: { validation_failed: '`link` is missing, or a date or the time zone is invalid.' },
        params: IdParams,
        querystring: Type.Object({
          ...period,
          link: Type.String({ maxLength: 500, description: 'A link as returned by the results of the flow.' }),
          machine: Type.Optional(Type.Boolean({ description: 'Only automated ones, or only those by people.' })),
          ...pageQuery,
        }),
        response: pages(LinkClickOut),
      },
      handler: async (request) => {
        const [organizationId, flowId] = targetOf(request, 'flw')
        const { limit, cursor } = readPage(request.query, activityCursor)
        const clicks = await read(organizationId, async (tx) => {
          await existingFlow(tx, organizationId, flowId)
          const bounds = boundsOf(readPeriod(request.query, timezoneOf(request)))
          const { link, machine } = request.query
          if (typeof link !== 'string' || link === '') throw invalid({ path: 'link', problem: 'is required' })
          return selectLinkClicks(tx, {
            ...{ organizationId, flowId, limit, link },
            machine,
            from: new Date(bounds[0]!),
            until: new Date(bounds.at(-1)!),
            before: cursor && { occurredAt: new Date(cursor[0]!), id: cursor[1] as EventId },
          })
        })
        const { items, nextCursor } = toPage(clicks, limit, ({ occurredAt, id }) => [occurredAt.toISOString(), id])
        return page({ items: items.map(clickOut), nextCursor })
      },
    })
  }
}

const linkOut = ({ value, messages, counts: { emailClick } }: FlowResults['links'][number]) => ({
  link: value,
  clicks: emailClick.total - emailClick.machine,
  clicks_unique: messages,
  clicks_machine: emailClick.machine,
})

const bouncedOut = ({ counts }: Counted) => ({
  hard_bounces: counts.emailHardBounce.total,
  soft_bounces: counts.emailSoftBounce.total,
})

const performedOut = (counted: Counted) => ({
  ...emailsOf(counted.counts),
  opens_unique: counted.counts.emailOpen.unique,
  clicks_unique: counted.counts.emailClick.unique,
  ...bouncedOut(counted),
  complaints: counted.counts.emailComplaint.total,
})

const clickOut = outOf(LinkClickOut, { id: 'evt', message_id: 'msg' }, { contact: eventContactOut })
