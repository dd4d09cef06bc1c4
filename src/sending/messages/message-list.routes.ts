import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { organizationIdOf, timezoneOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { csvFile, sendCsv } from '../../platform/http/csv.ts'
import { errorsOnly, oneOf, page, pages } from '../../platform/http/envelope.ts'
import { pageQuery, readPage, toPage, uuidPart } from '../../platform/http/paging.ts'
import { midnightOf, readDate } from '../../platform/values/days.ts'
import { type FieldProblem, invalid } from '../../platform/values/errors.ts'
import { type MessageId, parseId } from '../../platform/values/ids.ts'
import { dayBounds } from '../../platform/values/time-zone.ts'
import { engagementFilters } from './engagement.ts'
import { exportColumns, exportedMessages } from './export.ts'
import { type MessageFilter, messageStatuses } from './message-filter.sql.ts'
import { messageOut } from './message-out.ts'
import { MessageOut } from './message-shapes.ts'
import { selectEventsOf, selectMessages } from './messages.sql.ts'
import { findWaiting, type WaitingContext } from './waiting.ts'

const filterQuery = {
  status: Type.Optional(oneOf(...messageStatuses)),
  engagement: Type.Optional({
    ...oneOf(...engagementFilters),
    description:
      '`sent`: delivered or bounced. `not_opened`: neither opened nor clicked. Automated opens and clicks do not count.',
  }),
  start_date: Type.Optional(
    Type.String({
      format: 'date',
      description: 'Emails accepted on this date (YYYY-MM-DD) or later, in the time zone of the organization.',
    }),
  ),
  end_date: Type.Optional(
    Type.String({
      format: 'date',
      description: 'Emails accepted on this date (YYYY-MM-DD) or earlier, in the time zone of the organization.',
    }),
  ),
  flow_id: Type.Optional(Type.String()),
  contact_id: Type.Optional(Type.String()),
  is_test: Type.Optional(
    Type.Boolean({ description: 'Only test emails, or no test emails. Without it, the list includes both.' }),
  ),
  query: Type.Optional(Type.String({ maxLength: 200 })),
}
type FilterQuery = Static<ReturnType<typeof Type.Object<typeof filterQuery>>>

/** Returns undefined if an id is invalid: it matches no messages. Throws `Refusal` if a date is invalid. */
function filterOf(query: FilterQuery, timezone: string): MessageFilter | undefined {
  const { status, engagement, flow_id, contact_id, is_test: isTest } = query
  const flowId = flow_id === undefined ? undefined : parseId('flw', flow_id)
  const contactId = contact_id === undefined ? undefined : parseId('con', contact_id)
  const days = readDays(query, timezone)
  if ((flow_id !== undefined && !flowId) || (contact_id !== undefined && !contactId)) return undefined
  return { status, engagement, flowId, contactId, isTest, query: query.query, ...days }
}

function readDays({ start_date, end_date }: FilterQuery, timezone: string): Pick<MessageFilter, 'from' | 'until'> {
  const problems: FieldProblem[] = []
  const first = start_date === undefined ? undefined : readDate('start_date', start_date, problems)
  const last = end_date === undefined ? undefined : readDate('end_date', end_date, problems)
  if (first !== undefined && last !== undefined && last < first)
    problems.push({ path: 'end_date', problem: `must not be before start_date (${first})` })
  const [problem, ...more] = problems
  if (problem) throw invalid(problem, ...more)
  const boundsOf = (date: string) => dayBounds(timezone, new Date(midnightOf(date)), 1)
  return {
    from: first === undefined ? undefined : new Date(boundsOf(first)[0]!),
    until: last === undefined ? undefined : new Date(boundsOf(last)[1]!),
  }
}

type Parts = { read: BoundedRead; waitingContext: (request: FastifyRequest) => WaitingContext }

export function messageListRoutes(
  api: Parameters<FastifyPluginAsyncTypebox>[0],
  { read, waitingContext }: Parts,
): void {
  api.get('/messages', {
    config: { permission: 'messages:read' },
    schema: {
      operationId: 'listMessages',
      summary: 'List messages',
      description:
        'Newest first. `status` is `queued`, `scheduled`, `sent`, `bounced`, `suppressed`, `failed` or `cancelled`. `query` searches in address and subject.',
      errors: { validation_failed: 'A date is invalid, or the range is reversed.' },
      querystring: Type.Object({ ...pageQuery, ...filterQuery }),
      response: pages(MessageOut),
    },
    handler: async (request) => {
      const organizationId = organizationIdOf(request)
      const filter = filterOf(request.query, timezoneOf(request))
      const { limit, cursor } = readPage(request.query, [uuidPart])
      if (!filter) return page({ items: [], nextCursor: null })
      const before = cursor?.[0] as MessageId | undefined
      const { items, nextCursor, events, waiting } = await read(organizationId, async (tx) => {
        const rows = await selectMessages(tx, organizationId, { ...filter, before }, limit + 1)
        const found = toPage(rows, limit, ({ id }) => [id])
        return {
          ...found,
          events: await selectEventsOf(tx, organizationId, found.items),
          waiting: await findWaiting(tx, organizationId, found.items, waitingContext(request)),
        }
      })
      const eventsOf = (id: MessageId) => events.filter(({ messageId }) => messageId === id)
      return page({ items: items.map((row) => messageOut(row, eventsOf(row.id), waiting.get(row.id))), nextCursor })
    },
  })

  api.get('/messages/export', {
    config: { permission: 'messages:read' },
    schema: {
      operationId: 'exportMessages',
      summary: 'Export messages',
      description: `A CSV file of the messages that match the filters of the list, newest first. Columns: ${exportColumns.map(([name]) => `\`${name}\``).join(', ')}. The response is streamed. Cells that a spreadsheet would run as a formula start with an apostrophe.`,
      errors: { validation_failed: 'A date is invalid, or the range is reversed.' },
      querystring: Type.Object(filterQuery),
      response: { 200: csvFile, ...errorsOnly },
    },
    handler: async (request, reply) => {
      const filter = filterOf(request.query, timezoneOf(request))
      return sendCsv(reply, 'messages.csv', exportColumns, exportedMessages(read, organizationIdOf(request), filter))
    },
  })
}
