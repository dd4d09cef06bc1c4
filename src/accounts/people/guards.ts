import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../../platform/db/db.ts'
import type { RequestsInFlight } from '../../platform/http/in-flight.ts'
import { createRequestLimit } from '../../platform/http/rate-limit-headers.ts'
import type { RateLimit } from '../../platform/runtime/rate-limit.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { findMember, type Member } from './accounts.sql.ts'
import type { KnownKey } from './api-keys.sql.ts'
import { apiKeyPattern, type KeyCache } from './key-cache.ts'
import { keyMay, type Permission, personMay } from './permissions.ts'
import { touchSession } from './sessions.sql.ts'
import { passwordMark, type Sessions } from './sessions.ts'

export type { Member } from './accounts.sql.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard of the public API. Read it with keyOf. */
    apiKey: KnownKey | null
    /** Set by the guard of the management API. Read it with memberOf. */
    member: Member | null
  }
}

/** The time of the last use of a session is stored this often at most. */
const touchEveryMs = 5 * 60_000
const bearerPattern = /^Bearer ([A-Za-z0-9_.-]{1,2048})$/i

type KeyParts = { keys: KeyCache; keyLimit: RateLimit; inFlight: RequestsInFlight }
type MemberParts = { db: Db; sessions: Sessions; userLimit: RateLimit; inFlight: RequestsInFlight }
type Done = (error?: Error) => void

/**
 * Guard of the public API: requires a valid API key within its rate limit, in `X-Api-Token` or as a bearer token. Uses a
 * callback instead of a promise, so that a cached key is accepted in the same turn of the event loop.
 */
export function requireApiKey({ keys, keyLimit, inFlight }: KeyParts) {
  const limitRequest = createRequestLimit(keyLimit, 'api-key', inFlight)
  const useKey = (key: KnownKey | undefined, request: FastifyRequest, reply: FastifyReply) => {
    // The same response for missing, malformed, unknown and revoked keys.
    if (!key) throw new Refusal('unauthorized', `The API key is missing or invalid. ${howToSend(request)}`)
    // Also known if the request is rejected below: the request log and the access log say whose it was.
    request.apiKey = key
    limitRequest(key.id, reply)
  }
  return (request: FastifyRequest, reply: FastifyReply, done: Done): void => {
    const found = findKey(keys, keyTextOf(request), request.ip)
    if (found instanceof Promise) found.then((key) => useKey(key, request, reply)).then(() => done(), done)
    else done(errorOf(() => useKey(found, request, reply)))
  }
}

function errorOf(check: () => void): Error | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    return error as Error
  }
}

/** Clients of the public API can send either header. Those of the Resend API and of MCP only know the other one. */
const howToSend = ({ url, headers }: FastifyRequest): string =>
  url.startsWith('/public/') && headers.authorization === undefined
    ? 'Send it in the X-Api-Token header.'
    : 'Send it in the Authorization header, as Bearer wxk_….'

const bearerKey = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : /^Bearer (wxk_.*)$/i.exec(authorization)?.[1]

/** Returns the API key as the client sent it. */
export function keyTextOf({ headers }: FastifyRequest): string | undefined {
  const header = headers['x-api-token'] ?? bearerKey(headers.authorization)
  return typeof header === 'string' ? header : undefined
}

/** Returns the API key of a request that no guard has checked, or undefined if it has none that is valid. */
export const keyOfUnguarded = async (keys: KeyCache, request: FastifyRequest): Promise<KnownKey | undefined> =>
  findKey(keys, keyTextOf(request), request.ip)

const findKey = (keys: KeyCache, text: unknown, address: string) =>
  typeof text === 'string' && apiKeyPattern.test(text) ? keys.find(text, address) : undefined

/** Returns the organization of the API key or session, or undefined on routes without one. */
export const organizationOf = (request: FastifyRequest): OrganizationId | undefined =>
  request.apiKey?.organizationId ?? request.member?.organizationId

/** Guard of the management API: requires a valid session of a current member whose password has not changed since. */
export function requireMember({ db, sessions, userLimit, inFlight }: MemberParts) {
  const limitRequest = createRequestLimit(userLimit, 'user', inFlight)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const token = bearerPattern.exec(request.headers.authorization ?? '')?.[1]
    const session = token === undefined ? undefined : await sessions.verify(token)
    // Limited before the database is queried.
    if (session) limitRequest(session.userId, reply)
    const member = session && (await findMember(db, session.organizationId, session.userId, session.id))
    if (!member || passwordMark(member) !== session.passwordMark || member.sessionEpoch !== session.epoch)
      throw new Refusal('unauthorized', 'The session is missing or has expired. Sign in again.')
    request.member = member
    await touch(db, member)
  }
}

async function touch(db: Db, member: Member): Promise<void> {
  const { session } = member
  if (!session || Date.now() - session.lastUsedAt.getTime() < touchEveryMs) return
  // Only shown to the user, so the request continues if it cannot be stored, for example in a read-only database.
  await touchSession(db.statement, member, session.id).catch(() => {})
}

/**
 * Guard of the management API: requires a session, or an API key. The key is sent in `X-Api-Token` or as a bearer token.
 */
export function requireCaller(parts: MemberParts & KeyParts) {
  const requireSession = requireMember(parts)
  const limitRequest = createRequestLimit(parts.keyLimit, 'api-key', parts.inFlight)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { authorization, 'x-api-token': header } = request.headers
    const text = authorization === undefined ? header : bearerKey(authorization)
    if (text === undefined) return requireSession(request, reply)
    const key = await findKey(parts.keys, text, request.ip)
    if (!key) throw new Refusal('unauthorized', 'The API key is invalid. Send a valid key or sign in.')
    request.apiKey = key
    limitRequest(key.id, reply)
  }
}

/** Whether the caller has the permission. */
export const may = ({ apiKey, member }: FastifyRequest, permission: Permission): boolean =>
  apiKey ? keyMay(apiKey, permission) : !!member && personMay(member, permission)

export function keyOf(request: FastifyRequest): KnownKey {
  if (!request.apiKey) throw new Error('This route has no API key guard.')
  return request.apiKey
}

/** Returns the organization on whose behalf the request is made. */
export function organizationIdOf(request: FastifyRequest): OrganizationId {
  const id = organizationOf(request)
  if (!id) throw new Error('This route has no guard.')
  return id
}

/** Returns the organization of the caller, and the id in the path. Throws `Refusal` if it cannot be such an id. */
export const targetOf = <Prefix extends Parameters<typeof parseIdParam>[0]>(request: FastifyRequest, prefix: Prefix) =>
  [organizationIdOf(request), parseIdParam(prefix, (request.params as { id: string }).id)] as const

export const organizationNameOf = (request: FastifyRequest): string =>
  request.apiKey?.organizationName ?? memberOf(request).organization.name

export const timezoneOf = (request: FastifyRequest): string =>
  request.apiKey?.organizationTimezone ?? memberOf(request).organization.timezone

export function memberOf(request: FastifyRequest): Member {
  if (!request.member) throw new Error('This route has no member guard.')
  return request.member
}
