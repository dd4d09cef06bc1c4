import type { FastifyRequest } from 'fastify'
import type { Db } from '../db/db.ts'
import type { RateLimit } from '../runtime/rate-limit.ts'
import { Refusal } from '../values/errors.ts'
import { type Account, findMember, type Organization } from './accounts.sql.ts'
import type { KnownKey, Scope } from './api-keys.sql.ts'
import type { KeyCache } from './key-cache.ts'
import { passwordMark, type Sessions } from './sessions.ts'

export type Member = Account & { organization: Organization }

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard of the public API. Read it with keyOf. */
    apiKey: KnownKey | null
    /** Set by the guard of the management API. Read it with memberOf. */
    member: Member | null
  }
}

const keyPattern = /^wxk_[A-Za-z0-9_-]{32,128}$/
const bearerPattern = /^Bearer ([A-Za-z0-9_.-]{1,2048})$/i

/** Guard of the public API: a valid key, within its rate. */
export function requireApiKey({ keys, keyLimit }: { keys: KeyCache; keyLimit: RateLimit }) {
  return async (request: FastifyRequest): Promise<void> => {
    const text = request.headers['x-api-token']
    const found = typeof text === 'string' && keyPattern.test(text) ? keys.find(text) : undefined
    // Awaited only when it has to be: a cached key costs no turn of the event loop.
    const key = found instanceof Promise ? await found : found
    // Missing, malformed, unknown and revoked look alike.
    if (!key) throw new Refusal('unauthorized', 'The API key is missing or not valid. Send it as X-Api-Token.')
    keyLimit.take(key.id)
    request.apiKey = key
  }
}

/** Guard of one route: the key must carry this scope. */
export function requireScope(scope: Scope) {
  return async (request: FastifyRequest): Promise<void> => {
    if (!keyOf(request).scopes.includes(scope))
      throw new Refusal('insufficient_scope', `This API key lacks the scope ${scope}.`)
  }
}

/** Guard of the management API: a valid session of someone who still is a member, with the same password. */
export function requireMember({ db, sessions, userLimit }: { db: Db; sessions: Sessions; userLimit: RateLimit }) {
  return async (request: FastifyRequest): Promise<void> => {
    const token = bearerPattern.exec(request.headers.authorization ?? '')?.[1]
    const session = token === undefined ? undefined : await sessions.verify(token)
    // Before the database is asked.
    if (session) userLimit.take(session.userId)
    const member = session && (await findMember(db, session.organizationId, session.userId))
    if (!member || passwordMark(member) !== session.passwordMark || member.sessionEpoch !== session.epoch)
      throw new Refusal('unauthorized', 'Log in again: the session is missing or has expired.')
    request.member = member
  }
}

/** Guard of what only owners may do. */
export async function requireOwner(request: FastifyRequest): Promise<void> {
  if (memberOf(request).role !== 'owner') throw new Refusal('forbidden', 'Only owners of the organization can do this.')
}

/** Guard of what concerns the whole installation: owners of the operator's organization. */
export async function requireOperator(request: FastifyRequest): Promise<void> {
  if (!isOperator(memberOf(request)))
    throw new Refusal('forbidden', 'Only owners of the organization that runs this installation can do this.')
}

export const isOperator = ({ role, organization }: Member): boolean => role === 'owner' && organization.isOperator

export function keyOf(request: FastifyRequest): KnownKey {
  if (!request.apiKey) throw new Error('This route has no API key guard.')
  return request.apiKey
}

export function memberOf(request: FastifyRequest): Member {
  if (!request.member) throw new Error('This route has no member guard.')
  return request.member
}
