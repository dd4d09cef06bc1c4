import { randomUUID } from 'node:crypto'
import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { allValues, first, onlyValue } from '../../platform/db/rows.ts'
import type { OrganizationId, UserId } from '../../platform/values/ids.ts'
import type { Account } from './accounts.sql.ts'
import type { LinkToken } from './link-tokens.ts'

export const insertResetRequest = (db: Writer, emailKey: string) =>
  db`insert into password_reset_requests (id, email_key) values (${randomUUID()}, ${emailKey})`

/** The oldest requests. */
export const selectResetRequests = (db: Reader, limit: number) =>
  allValues(db<{ id: string }>`select id from password_reset_requests order by requested_at limit ${limit}`)

/** Deletes requests and returns their addresses. Skips requests that another process is handling. */
export async function takeResetRequests(tx: Tx, ids: readonly string[], minutesMax: number): Promise<string[]> {
  const rows = await tx<{ emailKey: string; isRecent: boolean }>`
    delete from password_reset_requests
    where id in (
      select id from password_reset_requests where id = any (${ids}::uuid[]) order by requested_at for update skip locked)
    returning email_key, requested_at > now() - ${minutesMax} * interval '1 minute' as is_recent`
  return rows.filter(({ isRecent }) => isRecent).map(({ emailKey }) => emailKey)
}

export const countResets = (db: Reader, { organizationId, id }: { organizationId: OrganizationId; id: UserId }) =>
  onlyValue(db<{ count: number }>`
    select count(*) from password_resets
    where organization_id = ${organizationId} and user_id = ${id} and expires_at > now()`)

export const insertReset = (
  tx: Tx,
  { organizationId, id }: { organizationId: OrganizationId; id: UserId },
  tokenHash: Buffer,
  minutes: number,
) =>
  tx`
    insert into password_resets (organization_id, token_hash, user_id, expires_at)
    values (${organizationId}, ${tokenHash}, ${id}, now() + ${minutes} * interval '1 minute')`

export type FoundReset = { email: string; expiresAt: Date }

export const findReset = (db: Reader, { organizationId, tokenHash }: LinkToken) =>
  first(db<FoundReset>`
    select users.email, password_resets.expires_at
    from password_resets
    join users on users.organization_id = password_resets.organization_id and users.id = password_resets.user_id
    where password_resets.organization_id = ${organizationId} and token_hash = ${tokenHash} and expires_at > now()`)

/** Deletes the link, so that it can be used only once. Returns its user, or undefined if it is no longer valid. */
export async function useReset(tx: Tx, { organizationId, tokenHash }: LinkToken): Promise<Account | undefined> {
  const [used] = await tx<{ userId: UserId }>`
    delete from password_resets
    where organization_id = ${organizationId} and token_hash = ${tokenHash} and expires_at > now()
    returning user_id`
  if (!used) return undefined
  const [user] = await tx<Account>`
    select id, organization_id, email, name, role, may_broadcast, created_at, password_hash, session_epoch
    from users where organization_id = ${organizationId} and id = ${used.userId}`
  return user
}
