import type { Tx, Writer } from '../db/db.ts'
import type { OrganizationId, UserId } from '../values/ids.ts'

type UserKey = { organizationId: OrganizationId; id: UserId }

/** Sets the password, ends all sessions of the user, and makes links that were sent to them invalid. */
export async function updatePassword(db: Writer, { organizationId, id }: UserKey, passwordHash: string): Promise<void> {
  await db`
    with sessions_ended as (delete from sessions where organization_id = ${organizationId} and user_id = ${id}),
    resets_deleted as (delete from password_resets where organization_id = ${organizationId} and user_id = ${id}),
    changes_deleted as (delete from email_changes where organization_id = ${organizationId} and user_id = ${id})
    update users set password_hash = ${passwordHash} where organization_id = ${organizationId} and id = ${id}`
}

/** Ends all sessions of the user, also those whose tokens have no session row. */
export async function endAllSessions(db: Writer, { organizationId, id }: UserKey): Promise<void> {
  await db`
    with sessions_ended as (delete from sessions where organization_id = ${organizationId} and user_id = ${id})
    update users set session_epoch = session_epoch + 1 where organization_id = ${organizationId} and id = ${id}`
}

/** Deletes the sessions and pending links of a user who leaves the organization. */
export async function deleteCredentials(tx: Tx, { organizationId, id }: UserKey): Promise<void> {
  await tx`
    with sessions_ended as (delete from sessions where organization_id = ${organizationId} and user_id = ${id}),
    resets_deleted as (delete from password_resets where organization_id = ${organizationId} and user_id = ${id})
    delete from email_changes where organization_id = ${organizationId} and user_id = ${id}`
}

/** Deletes expired sessions and links. */
export async function deleteExpiredCredentials(db: Writer): Promise<void> {
  await db`
    with sessions_deleted as (delete from sessions where expires_at <= now()),
    resets_deleted as (delete from password_resets where expires_at <= now()),
    mails_deleted as (delete from account_mails where expires_at <= now())
    delete from email_changes where expires_at <= now()`
}
