import { once } from 'node:events'
import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { keyOf } from '../../accounts/accounts.ts'
import { disconnectionOf } from '../../platform/http/disconnection.ts'
import { answers, Named, ok, oneOf } from '../../platform/http/envelope.ts'
import { EventDataOut } from '../../platform/http/event-data.ts'
import { busy } from '../../platform/runtime/stage.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { invalid, Refusal } from '../../platform/values/errors.ts'
import { webhookEventNames } from '../../platform/values/event-types.ts'
import { type FeedParts, readOrWait, streamFeed, streamPageLimit } from './follow.ts'
import { EventStreams, type StreamLimits } from './streams.ts'

const limitDefault = 100
const limitMax = 1_000
const streamLimitMax = 100_000
const waitSecondsMax = 30
const cursorLengthMax = 100
/** A client that reads too slowly loses the connection, and continues with the cursor of its last line. */
const streamMsMax = 300_000
/** A stream that ends for one of another organization loses the connection if the client has not read the rest then. */
const endMs = 1_000
const turnMs = 10_000
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

With \`wait\`, the response is delayed until there is an event (long polling). With \`Accept: ${ndjson}\`, events are streamed, one per line, until there are no more and \`wait\` seconds have passed; each line has its own cursor. A stream ends after ${streamLimitMax.toLocaleString('en')} events or four minutes, or earlier while many organizations read streams.

Changes of contacts are included while a webhook selects them. Events of broadcasts as a whole are only sent to webhooks.`

export type FeedRouteParts = FeedParts & {
  stageRegistry: StageRegistry
  streamLimits: Pick<StreamLimits, 'perOrganization' | 'overall'>
}

/** The event feed. */
export function feedRoutes(parts: FeedRouteParts): FastifyPluginAsyncTypebox {
  const streams = parts.stageRegistry.add(
    'event streams',
    new EventStreams({ ...parts.streamLimits, turnMs }),
    'client',
  )
  return async (api) => {
    api.get('/events', {
      config: { permission: 'metrics:read' },
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
        return streams.run(organizationId, async (end) => {
          const signal = AbortSignal.any([base.signal, end])
          const asked = { ...base, signal, limit: limit ?? streamLimitMax }
          const first = await readOrWait(parts, { ...asked, limit: streamPageLimit(asked.limit), waitMs: 0 })
          const lines = Readable.from(streamFeed(parts, asked, first))
          await sendLines(reply, lines, { disconnected: base.signal, end })
          return reply as never
        })
      },
    })
  }
}

/** Resolves at the end of the response. */
async function sendLines(reply: FastifyReply, lines: Readable, signals: SignalsOfStream): Promise<void> {
  const { disconnected, end } = signals
  if (disconnected.aborted) throw new Refusal('unavailable', 'The connection was closed.')
  if (end.aborted) throw busy()
  // The lines may have ended although the client has not read them.
  const close = () => reply.raw.destroy()
  let timer = setTimeout(close, streamMsMax)
  end.addEventListener('abort', () => {
    clearTimeout(timer)
    timer = setTimeout(close, endMs)
  })
  const ended = once(disconnected, 'abort')
  reply.type(`${ndjson}; charset=utf-8`).send(lines as never)
  // There may be no event for a while.
  reply.raw.flushHeaders()
  await ended
  clearTimeout(timer)
}

/** `end`: it has to end, because another one takes its place. */
type SignalsOfStream = { disconnected: AbortSignal; end: AbortSignal }
