import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { organizationIdOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Reader } from '../../platform/db/db.ts'
import { answers, IdParams, Named, Nullable, ok, oneOf, Timestamp } from '../../platform/http/envelope.ts'
import { invalid, notFound } from '../../platform/values/errors.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import { type BroadcastId, type OrganizationId, parseId, toText } from '../../platform/values/ids.ts'
import { type Broadcast, broadcastStatuses, selectBroadcasts, selectBroadcastsById } from '../broadcasts.sql.ts'
import { countsOut } from '../counts.ts'
import { getBroadcast } from '../lifecycle.ts'
import { hoursCounted } from './reactions.ts'
import { type BroadcastResults, type Counted, linksListedMax } from './results.ts'

const comparedMax = 10
const comparedByDefault = 5

const LinkOut = Named('BroadcastLink', {
  url: Type.String(),
  clicks: Type.Integer({ description: 'All clicks by people.' }),
  contacts: Type.Integer({ description: 'How many contacts clicked the link.' }),
})

const HoursOut = Named('BroadcastHours', {
  started_at: Nullable(Timestamp),
  counted_at: Nullable(Timestamp),
  hours: Type.Array(
    Named('BroadcastHour', {
      hour: Type.Integer({ description: 'The hours since the start: 0 is the first hour.' }),
      opened: Type.Integer({ description: 'Recipients that opened the email for the first time.' }),
      clicked: Type.Integer({ description: 'Recipients that clicked a link for the first time.' }),
    }),
  ),
})

const ComparedOut = Named('ComparedBroadcast', {
  id: Type.String(),
  name: Type.String(),
  status: oneOf(...broadcastStatuses),
  started_at: Nullable(Timestamp),
  counted_at: Nullable(
    Type.String({ format: 'date-time', description: 'When the results were counted. Null if they have not been yet.' }),
  ),
  sent: Type.Integer({ description: 'Emails that were sent: delivered or bounced.' }),
  delivered: Type.Integer(),
  opened: Type.Integer(),
  clicked: Type.Integer(),
  unsubscribed: Type.Integer(),
  complained: Type.Integer(),
})

type Parts = { read: BoundedRead; results: BroadcastResults }

/** What recipients did with a broadcast: by link, by hour, and compared with other broadcasts. */
export function resultRoutes(api: Parameters<FastifyPluginAsyncTypebox>[0], { read, results }: Parts): void {
  const find = async (request: FastifyRequest<{ Params: { id: string } }>): Promise<Broadcast> => {
    const id = parseIdParam('brc', request.params.id)
    return read(organizationIdOf(request), (tx, organizationId) => getBroadcast(tx, organizationId, id))
  }

  api.get('/broadcasts/:id/links', {
    config: { permission: 'broadcasts:read' },
    schema: {
      operationId: 'listBroadcastLinks',
      summary: 'List the links of a broadcast',
      description: `The ${linksListedMax} links that were clicked most often, without automated clicks. Counts clicks since the start, by the URL as it is in the email. With more than 2,000 recipients, they are as old as the results of the broadcast. If its events were deleted (\`links_complete\` is false), they are those that were counted before.`,
      params: IdParams,
      response: answers(Type.Array(LinkOut)),
    },
    handler: async (request) => ok(await results.links(await find(request))),
  })

  api.get('/broadcasts/:id/hours', {
    config: { permission: 'broadcasts:read' },
    schema: {
      operationId: 'getBroadcastHours',
      summary: 'Get the results of a broadcast by hour',
      description: `How many recipients opened and clicked in each of the first ${hoursCounted} hours after the start, without automated opens and clicks. A recipient counts once: in the hour of the first open, and in that of the first click.`,
      params: IdParams,
      response: answers(HoursOut),
    },
    handler: async (request) => {
      const broadcast = await find(request)
      const { reactions, countedAt } = await results.get(broadcast)
      const { opened, clicked } = reactions.hours
      return ok({
        started_at: broadcast.startedAt?.toISOString() ?? null,
        counted_at: countedAt?.toISOString() ?? null,
        hours: opened.map((count, hour) => ({ hour, opened: count, clicked: clicked[hour]! })),
      })
    },
  })

  api.get('/broadcasts/compare', {
    config: { permission: 'broadcasts:read' },
    schema: {
      operationId: 'compareBroadcasts',
      summary: 'Compare broadcasts',
      description: `The results of up to ${comparedMax} broadcasts, in the order of \`ids\`, or of the last ${comparedByDefault} that were sent. With more than 2,000 recipients, the results are those of \`counted_at\`, and are counted again in the background.`,
      querystring: Type.Object({
        ids: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 1_000,
            description: `Ids of broadcasts, separated by commas, at most ${comparedMax}.`,
          }),
        ),
      }),
      response: answers(Type.Array(ComparedOut)),
    },
    handler: async (request) => {
      const organizationId = organizationIdOf(request)
      const { ids } = request.query
      const chosen = await read(organizationId, (tx) =>
        ids === undefined
          ? selectBroadcasts(tx, organizationId, { ...anyBroadcast, status: 'sent', limit: comparedByDefault })
          : findAll(tx, organizationId, idsOf(ids)),
      )
      const counted = await results.list(organizationId, chosen)
      return ok(chosen.map((broadcast, position) => comparedOut(broadcast, counted[position]!)))
    },
  })
}

const anyBroadcast = { query: undefined, before: undefined }

/** Throws `Refusal` if one of them does not exist. */
async function findAll(db: Reader, organizationId: OrganizationId, ids: BroadcastId[]): Promise<Broadcast[]> {
  const found = new Map((await selectBroadcastsById(db, organizationId, ids)).map((each) => [each.id, each]))
  return ids.map((id) => {
    const broadcast = found.get(id)
    if (!broadcast) throw notFound('broadcast')
    return broadcast
  })
}

function idsOf(text: string): BroadcastId[] {
  const parts = [...new Set(text.split(','))]
  if (parts.length > comparedMax) throw invalid({ path: 'ids', problem: `must have at most ${comparedMax} ids` })
  return parts.map((part) => {
    const id = parseId('brc', part)
    if (!id) throw invalid({ path: 'ids', problem: 'must be ids of broadcasts, separated by commas' })
    return id
  })
}

function comparedOut(broadcast: Broadcast, { reactions, countedAt }: Counted) {
  const counts = countsOut(broadcast)
  const { opened, clicked, unsubscribed, complained } = reactions.totals
  return {
    id: toText('brc', broadcast.id),
    name: broadcast.name,
    status: broadcast.status,
    started_at: broadcast.startedAt?.toISOString() ?? null,
    counted_at: countedAt?.toISOString() ?? null,
    sent: counts.sent + counts.bounced,
    delivered: counts.sent,
    ...{ opened, clicked, unsubscribed, complained },
  }
}
