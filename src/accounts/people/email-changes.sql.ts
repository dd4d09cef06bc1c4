import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { first, only } from '../../platform/db/rows.ts'
import type { OrganizationId, UserId } from '../../platform/values/ids.ts'
import type { LinkToken } from './link-tokens.ts'

type UserKey = { organizationId: OrganizationId; id: UserId }

export type PendingEmail = { email: string; expiresAt: Date }

/** Replaces an earlier change of the user, whose link becomes invalid. */
export const insertEmailChange = (
  tx: Tx,
  { organizationId, id }: UserKey,
  change: { email: string; emailKey: string; tokenHash: Buffer },
  minutes: number,
) =>
  only(tx<PendingEmail>`
    insert into email_changes (organization_id, user_id, email, email_key, token_hash, expires_at)
    values (${organizationId}, ${id}, ${change.email}, ${change.emailKey}, ${change.tokenHash},
      now() + ${minutes} * interval '1 minute')
    on conflict (organization_id, user_id) do update
    set email = excluded.email, email_key = excluded.email_key, token_hash = excluded.token_hash,
      created_at = excluded.created_at, expires_at = excluded.expires_at
    returning email, expires_at`)

export const findPendingEmail = (db: Reader, { organizationId, id }: UserKey) =>
  first(db<PendingEmail>`
    select email, expires_at from email_changes
    where organization_id = ${organizationId} and user_id = ${id} and expires_at > now()`)

export const deleteEmailChange = (db: Writer, { organizationId, id }: UserKey) =>
  db`delete from email_changes where organization_id = ${organizationId} and user_id = ${id}`

export type FoundEmailChange = { oldEmail: string; newEmail: string; expiresAt: Date }

export const findEmailChange = (db: Reader, { organizationId, tokenHash }: LinkToken) =>
  first(db<FoundEmailChange>`
    select users.email as old_email, email_changes.email as new_email, email_changes.expires_at
    from email_changes
    join users on users.organization_id = email_changes.organization_id and users.id = email_changes.user_id
    where email_changes.organization_id = ${organizationId} and token_hash = ${tokenHash} and expires_at > now()`)

export type ConfirmedEmail = UserKey & { oldEmail: string; newEmail: string; newKey: string }

/** Deletes the change, so that its link can be used only once. Returns undefined if it is no longer valid. */
export async function useEmailChange(tx: Tx, { organizationId, tokenHash }: LinkToken) {
  const [used] = await tx<{ userId: UserId; newEmail: string; newKey: string }>`
    delete from email_changes
    where organization_id = ${organizationId} and token_hash = ${tokenHash} and expires_at > now()
    returning user_id, email as new_email, email_key as new_key`
  if (!used) return undefined
  const { userId: id, newEmail, newKey } = used
  const [user] = await tx<{ oldEmail: string }>`
    select email as old_email from users where organization_id = ${organizationId} and id = ${id}`
  return user && { organizationId, id, oldEmail: user.oldEmail, newEmail, newKey }
}

/** Also deletes password resets, whose links were sent to the old address. Returns false if the address is taken. */
export async function updateEmail(tx: Tx, { organizationId, id, newEmail, newKey }: ConfirmedEmail): Promise<boolean> {
  tx.send`delete from password_resets where organization_id = ${organizationId} and user_id = ${id}`
  const rows = await tx`
    update users set email = ${newEmail}, email_key = ${newKey}
    where organization_id = ${organizationId} and id = ${id}
      and not exists (select from users as other where other.email_key = ${newKey} and other.id <> ${id})
    returning id`
  return rows.length > 0
}
