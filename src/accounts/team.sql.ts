import type { Reader, Tx } from '../db/db.ts'
import type { OrganizationId, UserId } from '../values/ids.ts'
import type { Account, Role, User } from './accounts.sql.ts'

export type TeamMember = User & { lastLoginAt: Date | null }

/** Ordered by the time at which they joined. */
export async function selectTeam(db: Reader, organizationId: OrganizationId): Promise<TeamMember[]> {
  return db<TeamMember>`
    select id, organization_id, email, name, role, may_broadcast, created_at, last_login_at
    from users
    where organization_id = ${organizationId}
    order by id`
}

export type RoleChange = { role?: Role | undefined; mayBroadcast?: boolean | undefined }

export async function updateRole(
  tx: Tx,
  organizationId: OrganizationId,
  id: UserId,
  { role, mayBroadcast }: RoleChange,
): Promise<TeamMember | undefined> {
  const [row] = await tx<TeamMember>`
    update users
    set role = coalesce(${role ?? null}, role), may_broadcast = coalesce(${mayBroadcast ?? null}, may_broadcast)
    where organization_id = ${organizationId} and id = ${id}
    returning id, organization_id, email, name, role, may_broadcast, created_at, last_login_at`
  return row
}

/** Returns false if the member does not exist. */
export async function deleteMember(tx: Tx, organizationId: OrganizationId, id: UserId): Promise<boolean> {
  const rows = await tx`delete from users where organization_id = ${organizationId} and id = ${id} returning id`
  return rows.length > 0
}

export async function isOwner(db: Reader, organizationId: OrganizationId, id: UserId): Promise<boolean> {
  const rows = await db`
    select from users where organization_id = ${organizationId} and id = ${id} and role = 'owner'`
  return rows.length > 0
}

export async function hasOwner(db: Reader, organizationId: OrganizationId): Promise<boolean> {
  const [row] = await db<{ any: boolean }>`
    select exists (select from users where organization_id = ${organizationId} and role = 'owner') as any`
  return row!.any
}

export async function countTeam(db: Reader, organizationId: OrganizationId): Promise<number> {
  const [row] = await db<{ count: number }>`select count(*) from users where organization_id = ${organizationId}`
  return row!.count
}

/** Moves a user to another organization and signs them out of the current one. Returns undefined if they left it already. */
export async function moveUser(
  tx: Tx,
  { organizationId: from, id }: Pick<User, 'organizationId' | 'id'>,
  { organizationId, role }: Pick<User, 'organizationId' | 'role'>,
): Promise<Account | undefined> {
  const [row] = await tx<Account>`
    update users
    set organization_id = ${organizationId}, role = ${role}, may_broadcast = false, session_epoch = session_epoch + 1, muted_alerts = '{}',
      last_login_at = now()
    where organization_id = ${from} and id = ${id}
    returning id, organization_id, email, name, role, may_broadcast, created_at, password_hash, session_epoch`
  return row
}
