import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { first, hasRows, only } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { InvitationId, OrganizationId, UserId } from '../../platform/values/ids.ts'
import type { Role } from './accounts.sql.ts'

export type Invitation = {
  organizationId: OrganizationId
  id: InvitationId
  /** Null if anyone with the link may use it, once. */
  email: string | null
  role: Role
  invitedBy: UserId | null
  createdAt: Date
  expiresAt: Date
  /** When the link was last sent by email. Null if it never was. */
  sentAt: Date | null
  sentCount: number
}

/** Returns pending invitations, newest first. */
export const selectInvitations = (db: Reader, organizationId: OrganizationId) =>
  db<Invitation>`
    select organization_id, id, email, role, invited_by, created_at, expires_at, sent_at, sent_count
    from invitations
    where organization_id = ${organizationId} and expires_at > now()
    order by id desc`

export type NewInvitation = Pick<Invitation, 'organizationId' | 'id' | 'email' | 'role' | 'invitedBy'> & {
  tokenHash: Buffer
  /** Whether the link is sent by email. */
  isSent: boolean
}

export async function insertInvitation(tx: Tx, invitation: NewInvitation, days: number): Promise<Invitation> {
  const { organizationId, id, email, role, invitedBy, tokenHash, isSent } = invitation
  const [row] = await tx<Invitation>`
    insert into invitations (organization_id, id, email, role, invited_by, token_hash, expires_at, sent_at, sent_count)
    values (${organizationId}, ${id}, ${email}, ${role}, ${invitedBy}, ${tokenHash}, now() + ${days} * interval '1 day',
      ${isSent ? sql`now()` : sql`null`}, ${isSent ? 1 : 0})
    returning organization_id, id, email, role, invited_by, created_at, expires_at, sent_at, sent_count`
  return row!
}

/** Returns undefined if the invitation does not exist or has expired. Locks it until the end of the transaction. */
export const lockInvitation = (tx: Tx, organizationId: OrganizationId, id: InvitationId) =>
  first(tx<Invitation>`
    select organization_id, id, email, role, invited_by, created_at, expires_at, sent_at, sent_count
    from invitations
    where organization_id = ${organizationId} and id = ${id} and expires_at > now()
    for update`)

/** Replaces the link and restarts its expiry. The inviter is now the one who renewed it. */
export const renewInvitation = (
  tx: Tx,
  { organizationId, id }: Pick<Invitation, 'organizationId' | 'id'>,
  { tokenHash, invitedBy, isSent }: { tokenHash: Buffer; invitedBy: UserId; isSent: boolean },
  days: number,
) =>
  only(tx<Invitation>`
    update invitations
    set token_hash = ${tokenHash}, invited_by = ${invitedBy}, expires_at = now() + ${days} * interval '1 day',
      sent_at = ${isSent ? sql`now()` : sql`null`}, sent_count = sent_count + ${isSent ? 1 : 0}
    where organization_id = ${organizationId} and id = ${id}
    returning organization_id, id, email, role, invited_by, created_at, expires_at, sent_at, sent_count`)

/** Deletes expired invitations and returns the number of pending ones. */
export async function countInvitations(tx: Tx, organizationId: OrganizationId): Promise<number> {
  await tx`delete from invitations where organization_id = ${organizationId} and expires_at <= now()`
  const [row] = await tx<{ count: number }>`select count(*) from invitations where organization_id = ${organizationId}`
  return row!.count
}

/** Returns false if the invitation does not exist. */
export const deleteInvitation = (db: Writer, organizationId: OrganizationId, id: InvitationId) =>
  hasRows(db`delete from invitations where organization_id = ${organizationId} and id = ${id} returning id`)

export type FoundInvitation = Pick<Invitation, 'email' | 'role' | 'expiresAt'> & { organizationName: string }

export const findInvitation = (db: Reader, organizationId: OrganizationId, tokenHash: Buffer) =>
  first(db<FoundInvitation>`
    select organizations.name as organization_name, email, role, expires_at
    from invitations
    join organizations on organizations.id = organization_id
    where organization_id = ${organizationId} and token_hash = ${tokenHash} and expires_at > now()`)

/** Deletes a pending invitation. Returns false if it is no longer valid, so that it can be used only once. */
export const useInvitation = (tx: Tx, organizationId: OrganizationId, tokenHash: Buffer) =>
  hasRows(tx`
    delete from invitations
    where organization_id = ${organizationId} and token_hash = ${tokenHash} and expires_at > now()
    returning id`)

/** Called when the inviter is removed or demoted, so that their links cannot be used to rejoin. */
export const deleteInvitationsBy = (tx: Tx, organizationId: OrganizationId, inviter: UserId) =>
  tx`delete from invitations where organization_id = ${organizationId} and invited_by = ${inviter}`

/** Deletes the other invitations of a person who has joined. */
export const deleteInvitationsOf = (tx: Tx, organizationId: OrganizationId, emailKey: string) =>
  tx`delete from invitations where organization_id = ${organizationId} and lower(email collate "C") = ${emailKey}`
