import type { Db, Tx } from '../../platform/db/db.ts'
import type { OrganizationId, UserId } from '../../platform/values/ids.ts'

type UserKey = { organizationId: OrganizationId; id: UserId }

/** Sets the password, ends all sessions of the user, and makes links that were sent to them invalid. */
export async function updatePassword(tx: Tx, user: UserKey, passwordHash: string): Promise<void> {
  const { organizationId, id } = user
  await deleteCredentials(tx, user)
  await tx`update users set password_hash = ${passwordHash} where organization_id = ${organizationId} and id = ${id}`
}

/** Ends all sessions of the user, also those whose tokens have no session row. */
export async function endAllSessions(tx: Tx, { organizationId, id }: UserKey): Promise<void> {
  tx.send`delete from sessions where organization_id = ${organizationId} and user_id = ${id}`
  await tx`
    update users set session_epoch = session_epoch + 1 where organization_id = ${organizationId} and id = ${id}`
}

/** Deletes the sessions and pending links of a user. */
export async function deleteCredentials(tx: Tx, { organizationId, id }: UserKey): Promise<void> {
  tx.send`delete from sessions where organization_id = ${organizationId} and user_id = ${id}`
  tx.send`delete from password_resets where organization_id = ${organizationId} and user_id = ${id}`
  await tx`delete from email_changes where organization_id = ${organizationId} and user_id = ${id}`
}

/** Deletes expired sessions and links. */
export async function deleteExpiredCredentials({ statement }: Db): Promise<void> {
  await statement`delete from sessions where expires_at <= now()`
  await statement`delete from password_resets where expires_at <= now()`
  await statement`delete from email_changes where expires_at <= now()`
}
