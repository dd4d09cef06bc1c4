import { once } from 'node:events'
import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { keyOf, requireScope } from '../accounts/guards.ts'
import { disconnectionOf } from '../http/disconnection.ts'
import { answers, Named, ok, oneOf } from '../http/envelope.ts'
import { EventDataOut } from '../http/event-data.ts'
import type { StageRegistry } from '../runtime/stage-registry.ts'
import { invalid, Refusal } from '../values/errors.ts'
import { webhookEventNames } from '../values/event-types.ts'
import { type FeedParts, readOrWait, streamFeed, streamPageLimit } from './follow.ts'

const limitDefault = 100
const limitMax = 1_000
const streamLimitMax = 100_000
const waitSecondsMax = 30
const cursorLengthMax = 100
/** A client that reads too slowly loses the connection, and continues with the cursor of its last line. */
const streamMsMax = 300_000
const streamLimits = { perOrganization: 5, overall: 100, waitingPerOrganization: 0, waitMs: 0 }
const ndjson = 'application/x-ndjson'

const FeedEventOut = Named('EventFeedEntry', {
  id: Type.String({ description: 'The event, `evt_…`.' }),
  event_name: oneOf(...webhookEventNames),
  organization_id: Type.String(),
  timestamp: Type.Integer({ description: 'When the event occurred, in seconds since 1970.' }),
  data: EventDataOut,
  cursor: Type.String({ description: 'Continues after this event.' }),
})

const FeedOut = Named('EventFeedPage', {
  events: Type.Array(FeedEventOut),
  cursor: Type.String({ description: 'Pass it as `after` to continue. It changes even if there are no events.' }),
})

const answer = answers(FeedOut)
const response = {
  ...answer,
  200: {
    description: 'Events, oldest first.',
    content: { 'application/json': { schema: answer[200] }, [ndjson]: { schema: FeedEventOut } },
  },
}

const feedQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      maxLength: cursorLengthMax,
      description:
        'The `cursor` of an earlier response or event. Omit it to begin with the oldest event that is kept; `latest` begins with the next one.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: streamLimitMax,
      description: `The number of events, from 1 to ${limitMax} (default ${limitDefault}). Of a stream, up to ${streamLimitMax} (default).`,
    }),
  ),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: waitSecondsMax,
      default: 0,
      description: `Seconds to wait for an event if there are none, up to ${waitSecondsMax}.`,
    }),
  ),
})

const description = `Returns the events of the organization in the order in which they were recorded, as webhooks receive them. Store \`cursor\` with what you have processed and pass it as \`after\`: each event is returned exactly once, also if it was recorded late or by another process. The order is that of the transactions in the database, not of \`timestamp\`.

With \`wait\`, the response is delayed until there is an event (long polling). With \`Accept: ${ndjson}\`, events are streamed, one per line, until there are no more and \`wait\` seconds have passed; each line has its own cursor. A stream ends after ${streamLimitMax.toLocaleString('en')} events or four minutes.

Changes of contacts are included while a webhook selects them. Events of broadcasts as a whole are only sent to webhooks.`

/** The event feed. */
export function feedRoutes(parts: FeedParts & { stageRegistry: StageRegistry }): FastifyPluginAsyncTypebox {
  // A stream holds a connection and a page of events in memory for minutes.
  const streams = parts.stageRegistry.stage('event streams', streamLimits)
  return async (api) => {
    api.get('/events', {
      onRequest: requireScope('metrics:read'),
      schema: {
        tags: ['Public API'],
        operationId: 'readEvents',
        summary: 'Read the event feed',
        description,
        errors: {
          cursor_expired:
            'Events after the cursor were removed by the retention period. Omit `after` to continue with the oldest event that is kept.',
          rate_limited: 'The organization has too many streams open.',
          validation_failed: 'The cursor is not one of this installation, or a parameter is out of range.',
        },
        querystring: feedQuery,
        response,
      },
      handler: async (request, reply) => {
        const { after, limit, wait = 0 } = request.query
        const { organizationId } = keyOf(request)
        const base = { organizationId, after, waitMs: wait * 1_000, signal: disconnectionOf(reply) }
        if (!request.headers.accept?.includes(ndjson)) {
          if (limit !== undefined && limit > limitMax)
            throw invalid({ path: 'limit', problem: `must be at most ${limitMax}, except for a stream` })
          const page = await readOrWait(parts, { ...base, limit: limit ?? limitDefault })
          return ok({ events: page.events, cursor: page.cursor })
        }
        const asked = { ...base, limit: limit ?? streamLimitMax }
        return streams.run(organizationId, async () => {
          const first = await readOrWait(parts, { ...asked, limit: streamPageLimit(asked.limit), waitMs: 0 })
          const lines = Readable.from(streamFeed(parts, asked, first))
          await sendLines(reply, lines, base.signal)
          return reply as never
        })
      },
    })
  }
}

/** Resolves at the end of the response. */
async function sendLines(reply: FastifyReply, lines: Readable, disconnected: AbortSignal): Promise<void> {
  if (disconnected.aborted) throw new Refusal('unavailable', 'The connection was closed.')
  const timer = setTimeout(() => lines.destroy(new Error('The client reads too slowly.')), streamMsMax)
  const ended = once(disconnected, 'abort')
  reply.type(`${ndjson}; charset=utf-8`).send(lines as never)
  // There may be no event for a while.
  reply.raw.flushHeaders()
  await ended
  clearTimeout(timer)
}
