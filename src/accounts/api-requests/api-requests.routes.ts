import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import {
  answers,
  FieldProblemOut,
  FreeObject,
  Named,
  Nullable,
  ok,
  oneOf,
  page,
  pages,
  Timestamp,
} from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { pageQuery, readPage, timePart, toPage } from '../../platform/http/paging.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { existing } from '../../platform/values/errors.ts'
import { type ApiKeyId, type MessageId, type OrganizationId, parseId, toText } from '../../platform/values/ids.ts'
import { organizationIdOf } from '../people/guards.ts'
import { keptDays, keptPerKey } from './api-request-log.ts'
import {
  type ApiRequest,
  apiRequestSources,
  findApiRequest,
  selectApiRequests,
  selectMessagesOfEmails,
} from './api-requests.sql.ts'
import { idsIn } from './responses.ts'

const requestIdLengthMax = 100
const messagesMax = 100
const requestIdPart = new RegExp(`^[\\w-]{1,${requestIdLengthMax}}$`)
const statusClasses = ['2xx', '3xx', '4xx', '5xx'] as const
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

const ApiRequestOut = Named('ApiRequest', {
  request_id: Type.String({ description: 'The `X-Request-Id` of the response.' }),
  at: Timestamp,
  api_key_id: Type.String(),
  api_key_name: Nullable(Type.String()),
  via: Type.Unsafe<(typeof apiRequestSources)[number]>({
    ...oneOf(...apiRequestSources),
    description: 'How the request was made. For an email sent by SMTP, `status` is the code of the reply.',
  }),
  method: Type.String(),
  route: Type.String({ description: 'The pattern of the path, or `*` for an unknown path.' }),
  path: Type.String({ description: 'Without the query.' }),
  status: Type.Integer(),
  duration_ms: Type.Number(),
  client: Nullable(Type.String({ description: 'The IP address of the client.' })),
  user_agent: Nullable(Type.String()),
  error_type: Nullable(Type.String()),
  error_message: Nullable(Type.String()),
  not_sent: Nullable(
    Type.String({
      description:
        'Why emails of a successful request are not sent, such as `unsubscribed`, separated by commas. Null if all of them are.',
    }),
  ),
})

const DetailOut = Named('ApiRequestDetails', {
  ...ApiRequestOut.properties,
  error_fields: Type.Array(FieldProblemOut),
  query: Nullable(
    Type.Unsafe<Record<string, unknown>>({
      ...FreeObject,
      description: 'The query parameters of a rejected request (4xx), redacted.',
    }),
  ),
  body: Nullable(
    Type.String({
      description:
        'The body of a rejected request (4xx), as JSON text: secrets are replaced, and long texts and lists are shortened. Null if it was not valid JSON, or if a contact that it mentions was erased.',
    }),
  ),
  response: Nullable(
    Type.String({
      description:
        'The body of the response, redacted and shortened like the body of the request. Null for a successful read, a response of more than 64 KiB, and an email sent by SMTP.',
    }),
  ),
  message_ids: Type.Array(Type.String(), {
    description: `The messages that the response names, or those of the emails it names, up to ${messagesMax}.`,
  }),
})

export function apiRequestRoutes({ read }: { read: BoundedRead }): FastifyPluginAsyncTypebox {
  const messagesOf = async (organizationId: OrganizationId, { response }: ApiRequest): Promise<MessageId[]> => {
    const named = idsIn('msg', response)
    const emails = named.length > 0 ? [] : idsIn('eml', response)
    if (emails.length === 0) return named
    const found = await read(organizationId, (tx) => selectMessagesOfEmails(tx, organizationId, emails, messagesMax))
    return found.map(({ id }) => id)
  }
  return async (api) => {
    tagRoutes(api, 'API requests')
    api.get('/api-requests', {
      config: { permission: 'api_requests:read' },
      schema: {
        operationId: 'listApiRequests',
        summary: 'List requests of API keys',
        description: `Newest first. A request appears within about two seconds. Not every request is kept: of each key, the last ${keptPerKey} successful and the last ${keptPerKey} rejected ones, for ${keptDays} days; and of a busy key, one successful and two rejected ones per second. Requests with an unknown key are not recorded.`,
        querystring: Type.Object({
          ...pageQuery,
          api_key_id: Type.Optional(Type.String({ description: 'Only requests of this key.' })),
          status: Type.Optional(
            Type.Unsafe<(typeof statusClasses)[number]>({
              ...oneOf(...statusClasses),
              description: 'Only requests with a status of this class.',
            }),
          ),
          method: Type.Optional(
            Type.Unsafe<(typeof methods)[number]>({
              ...oneOf(...methods),
              description: 'Only requests with this HTTP method.',
            }),
          ),
          path: Type.Optional(Type.String({ maxLength: 200, description: 'Part of the path.' })),
          request_id: Type.Optional(
            Type.String({ maxLength: requestIdLengthMax, description: 'The `X-Request-Id` of a response.' }),
          ),
        }),
        response: pages(ApiRequestOut),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const { api_key_id: keyText, status, method, path, request_id: requestId } = request.query
        const { limit, cursor } = readPage(request.query, [timePart, requestIdPart])
        const apiKeyId = keyText === undefined ? undefined : parseId('key', keyText)
        // No request has an id that is not one.
        if (keyText !== undefined && !apiKeyId) return page({ items: [], nextCursor: null })
        const filter = {
          apiKeyId: apiKeyId as ApiKeyId | undefined,
          statusClass: status && Number(status[0]),
          method,
          path,
          requestId,
          before: cursor && { at: cursor[0]!, requestId: cursor[1]! },
          limit: limit + 1,
        }
        const rows = await read(organizationId, (tx) => selectApiRequests(tx, organizationId, filter))
        const { items, nextCursor } = toPage(rows, limit, (row) => [row.at.toISOString(), row.requestId])
        return page({ items: items.map(apiRequestOut), nextCursor })
      },
    })

    api.get('/api-requests/:id', {
      config: { permission: 'api_requests:read' },
      schema: {
        operationId: 'getApiRequest',
        summary: 'Get a request of an API key',
        description:
          'By the `X-Request-Id` of its response, which errors also contain as `request_id`. Includes the query and the body of a rejected request (4xx), and what was responded, redacted.',
        params: Type.Object({ id: Type.String({ description: 'The `X-Request-Id` of the response.' }) }),
        response: answers(DetailOut),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const find = () =>
          read(organizationId, (tx) =>
            findApiRequest(tx, organizationId, request.params.id.slice(0, requestIdLengthMax)),
          )
        const found = await existing('API request', find())
        return ok(detailOut({ ...found, messageIds: await messagesOf(organizationId, found) }))
      },
    })
  }
}

const apiRequestOut = outOf(ApiRequestOut, { api_key_id: 'key' })

const detailOut = outOf(
  DetailOut,
  { api_key_id: 'key' },
  {
    error_fields: ({ errorFields }: ApiRequest) => errorFields ?? [],
    message_ids: ({ messageIds }: { messageIds: MessageId[] }) => messageIds.map((id) => toText('msg', id)),
    query: ({ query }: ApiRequest) => query && JSON.parse(query),
  },
)
