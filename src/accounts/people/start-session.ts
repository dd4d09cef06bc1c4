import type { FastifyRequest } from 'fastify'
import type { Db } from '../../platform/db/db.ts'
import { newId, toText } from '../../platform/values/ids.ts'
import type { Account } from './accounts.sql.ts'
import { insertSession } from './sessions.sql.ts'
import type { Sessions } from './sessions.ts'
import { userOut } from './shapes.ts'

/** Signing in more often ends the oldest session. */
export const sessionsPerUserMax = 50
const userAgentLengthMax = 400

export type SessionParts = { db: Db; sessions: Sessions }

/** Signs the user in on the device that sent the request, and returns the session as a response. */
export async function startSession(
  { db, sessions }: SessionParts,
  user: Account,
  request: Pick<FastifyRequest, 'headers' | 'ip'>,
) {
  const id = newId('ses')
  const { token, expiresAt } = await sessions.issue(user, id)
  const device = { userAgent: printable(request.headers['user-agent'] ?? ''), ipAddress: request.ip }
  await db.begin((tx) => insertSession(tx, user, { id, expiresAt, ...device }, sessionsPerUserMax))
  return {
    token,
    expires_at: expiresAt.toISOString(),
    organization_id: toText('org', user.organizationId),
    user: userOut(user),
  }
}

const printable = (text: string): string => text.slice(0, userAgentLengthMax).replace(/[^\x20-\x7e]/g, '')
