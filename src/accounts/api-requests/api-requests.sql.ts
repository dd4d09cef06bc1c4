import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { countRows, first } from '../../platform/db/rows.ts'
import { and, sql } from '../../platform/db/sql.ts'
import type { FieldProblem } from '../../platform/values/errors.ts'
import type { ApiKeyId, EmailId, MessageId, OrganizationId } from '../../platform/values/ids.ts'

/** How a request was made. */
export const apiRequestSources = ['api', 'mcp', 'smtp'] as const
export type ApiRequestSource = (typeof apiRequestSources)[number]

export type NewApiRequest = {
  organizationId: OrganizationId
  apiKeyId: ApiKeyId
  requestId: string
  at: Date
  via: ApiRequestSource
  method: string
  /** The pattern of the path, for example `/public/api/v1/token/check`. */
  route: string
  path: string
  status: number
  durationMs: number
  client: string | null
  userAgent: string | null
  errorType: string | null
  errorMessage: string | null
  errorFields: FieldProblem[] | null
  /** Redacted JSON. */
  query: string | null
  body: string | null
  response: string | null
  /** Why emails that were accepted are not sent. */
  notSent: string | null
}

export async function insertApiRequests(tx: Tx, rows: readonly NewApiRequest[]): Promise<void> {
  await tx`
    insert into api_requests (organization_id, request_id, api_key_id, at, via, method, route, path, status, duration_ms,
      client, user_agent, error_type, error_message, error_fields, query, body, response, not_sent)
    select organization_id, request_id, api_key_id, at, via, method, route, path, status, duration_us / 1000.0, client,
      user_agent, error_type, error_message, error_fields::json, query, body, response, not_sent
    from unnest(
      ${rows.map((row) => row.organizationId)}::uuid[], ${rows.map((row) => row.requestId)}::text[],
      ${rows.map((row) => row.apiKeyId)}::uuid[], ${rows.map((row) => row.at)}::timestamptz[],
      ${rows.map((row) => row.via)}::text[], ${rows.map((row) => row.method)}::text[],
      ${rows.map((row) => row.route)}::text[], ${rows.map((row) => row.path)}::text[],
      ${rows.map((row) => row.status)}::int[], ${rows.map((row) => Math.round(row.durationMs * 1000))}::int8[],
      ${rows.map((row) => row.client)}::text[], ${rows.map((row) => row.userAgent)}::text[],
      ${rows.map((row) => row.errorType)}::text[], ${rows.map((row) => row.errorMessage)}::text[],
      ${rows.map((row) => row.errorFields && JSON.stringify(row.errorFields))}::text[],
      ${rows.map((row) => row.query)}::text[], ${rows.map((row) => row.body)}::text[],
      ${rows.map((row) => row.response)}::text[], ${rows.map((row) => row.notSent)}::text[]
    ) as row (organization_id, request_id, api_key_id, at, via, method, route, path, status, duration_us, client,
      user_agent, error_type, error_message, error_fields, query, body, response, not_sent)`
}

/** The rows that are trimmed together: rejected or successful requests, of one key or of the whole organization. */
export type TrimmedRows = { organizationId: OrganizationId; apiKeyId: ApiKeyId | undefined; isRejected: boolean }

/** Deletes all but the newest `keep` of the rows. */
export async function trimApiRequests(db: Writer, rows: TrimmedRows, keep: number): Promise<void> {
  const chosen = and([
    sql`organization_id = ${rows.organizationId}`,
    sql`(status >= 400) = ${rows.isRejected}`,
    ...(rows.apiKeyId ? [sql`api_key_id = ${rows.apiKeyId}`] : []),
  ])
  await db`
    delete from api_requests
    where ${chosen} and at <= (select at from api_requests where ${chosen} order by at desc offset ${keep} limit 1)`
}

/** Deletes up to `limit` rows of any organization. Returns how many. */
export const deleteOldApiRequests = (db: Writer, olderThanDays: number, limit: number) =>
  countRows(db`
    delete from api_requests
    using (
      select organization_id, request_id from api_requests
      where at < now() - ${olderThanDays} * interval '1 day'
      limit ${limit}
    ) old
    where api_requests.organization_id = old.organization_id and api_requests.request_id = old.request_id
    returning 1`)

export type ApiRequest = Omit<NewApiRequest, 'organizationId'> & {
  /** Null if the key does not exist in this installation any more. */
  apiKeyName: string | null
}

const listColumns = sql`request_id, api_key_id, at, via, method, route, path, status, duration_ms, client, user_agent,
  error_type, error_message, not_sent,
  (select name from api_keys where api_keys.id = api_key_id and api_keys.organization_id = api_requests.organization_id)
    as api_key_name`

export type ApiRequestRow = Omit<ApiRequest, 'errorFields' | 'query' | 'body' | 'response'>

export type ApiRequestFilter = {
  apiKeyId?: ApiKeyId | undefined
  /** The first digit of the status. */
  statusClass?: number | undefined
  /** Part of the path. */
  path?: string | undefined
  requestId?: string | undefined
  method?: string | undefined
  before?: { at: string; requestId: string } | undefined
  limit: number
}

/** Newest first. */
export async function selectApiRequests(
  db: Reader,
  organizationId: OrganizationId,
  filter: ApiRequestFilter,
): Promise<ApiRequestRow[]> {
  const { apiKeyId, statusClass, path, requestId, method, before } = filter
  const conditions = [
    sql`organization_id = ${organizationId}`,
    ...(apiKeyId ? [sql`api_key_id = ${apiKeyId}`] : []),
    ...(statusClass ? [sql`status >= ${statusClass * 100} and status < ${statusClass * 100 + 100}`] : []),
    ...(path ? [sql`strpos(path, ${path}) > 0`] : []),
    ...(requestId ? [sql`request_id = ${requestId}`] : []),
    ...(method ? [sql`method = ${method}`] : []),
    ...(before ? [sql`(at, request_id) < (${before.at}::timestamptz, ${before.requestId})`] : []),
  ]
  return db<ApiRequestRow>`
    select ${listColumns} from api_requests
    where ${and(conditions)}
    order by at desc, request_id desc
    limit ${filter.limit}`
}

/** Returns the messages of emails without a flow, up to `limit`. */
export const selectMessagesOfEmails = (
  db: Reader,
  organizationId: OrganizationId,
  ids: readonly EmailId[],
  limit: number,
) =>
  db<{ id: MessageId }>`
    select id from messages
    where organization_id = ${organizationId} and content_id = any (${ids}::uuid[])
    order by id
    limit ${limit}`

export const findApiRequest = (db: Reader, organizationId: OrganizationId, requestId: string) =>
  first(
    db<ApiRequest>`
      select ${listColumns}, error_fields, query, body, response from api_requests
      where organization_id = ${organizationId} and request_id = ${requestId}`,
  )
