import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { hasRows } from '../../platform/db/rows.ts'
import type { OrganizationId, SessionId, UserId } from '../../platform/values/ids.ts'

/** The key of a user's sessions. */
export type SessionOwner = { organizationId: OrganizationId; id: UserId }

export type SessionRow = {
  id: SessionId
  userAgent: string
  ipAddress: string
  createdAt: Date
  lastUsedAt: Date
  expiresAt: Date
}

type NewSession = Pick<SessionRow, 'id' | 'userAgent' | 'ipAddress' | 'expiresAt'>

/** Also records the sign-in, and ends the oldest sessions of the user, so that at most `keep` remain. */
export async function insertSession(
  tx: Tx,
  { organizationId, id: userId }: SessionOwner,
  session: NewSession,
  keep: number,
): Promise<void> {
  tx.send`
    delete from sessions
    where organization_id = ${organizationId} and user_id = ${userId} and id in (
      select id from sessions
      where organization_id = ${organizationId} and user_id = ${userId}
      order by id desc offset ${keep - 1})`
  tx.send`
    insert into sign_ins (organization_id, user_id) values (${organizationId}, ${userId})
    on conflict (organization_id, user_id) do update set last_at = excluded.last_at`
  await tx`
    insert into sessions (organization_id, user_id, id, user_agent, ip_address, expires_at)
    values (${organizationId}, ${userId}, ${session.id}, ${session.userAgent}, ${session.ipAddress}, ${session.expiresAt})`
}

/** Most recently used first. */
export const selectSessions = (db: Reader, { organizationId, id: userId }: SessionOwner, limit: number) =>
  db<SessionRow>`
    select id, user_agent, ip_address, created_at, last_used_at, expires_at
    from sessions
    where organization_id = ${organizationId} and user_id = ${userId} and expires_at > now()
    order by last_used_at desc, id desc
    limit ${limit}`

export const touchSession = (db: Writer, { organizationId, id: userId }: SessionOwner, id: SessionId) =>
  db`
    update sessions set last_used_at = now()
    where organization_id = ${organizationId} and user_id = ${userId} and id = ${id}`

/** For a user who leaves the organization. */
export const deleteSignIn = (tx: Tx, { organizationId, id }: SessionOwner) =>
  tx`delete from sign_ins where organization_id = ${organizationId} and user_id = ${id}`

/** Returns false if the user has no such session. */
export const deleteSession = (db: Writer, { organizationId, id: userId }: SessionOwner, id: SessionId) =>
  hasRows(db`
    delete from sessions
    where organization_id = ${organizationId} and user_id = ${userId} and id = ${id}
    returning id`)
