import type { Reader, Tx } from '../../platform/db/db.ts'
import { first, hasRows, onlyValue } from '../../platform/db/rows.ts'
import { type Sql, sql } from '../../platform/db/sql.ts'
import type { OrganizationId, UserId } from '../../platform/values/ids.ts'
import type { Account, Role, User } from './accounts.sql.ts'

export type TeamMember = User & { lastLoginAt: Date | null }

const membersOf = (organizationId: OrganizationId): Sql => sql`
  select users.id, users.organization_id, users.email, users.name, users.role, users.may_broadcast, users.created_at,
    greatest(sign_ins.last_at, users.last_login_at) as last_login_at
  from users
  left join sign_ins on sign_ins.organization_id = users.organization_id and sign_ins.user_id = users.id
  where users.organization_id = ${organizationId}`

/** Ordered by the time at which they joined. */
export const selectTeam = (db: Reader, organizationId: OrganizationId) =>
  db<TeamMember>`${membersOf(organizationId)} order by users.id`

export type RoleChange = { role?: Role | undefined; mayBroadcast?: boolean | undefined }

export async function updateRole(
  tx: Tx,
  organizationId: OrganizationId,
  id: UserId,
  { role, mayBroadcast }: RoleChange,
): Promise<TeamMember | undefined> {
  await tx`
    update users
    set role = coalesce(${role ?? null}, role), may_broadcast = coalesce(${mayBroadcast ?? null}, may_broadcast)
    where organization_id = ${organizationId} and id = ${id}`
  return first(tx<TeamMember>`${membersOf(organizationId)} and users.id = ${id}`)
}

/** Returns false if the member does not exist. */
export const deleteMember = (tx: Tx, organizationId: OrganizationId, id: UserId) =>
  hasRows(tx`delete from users where organization_id = ${organizationId} and id = ${id} returning id`)

export const isOwner = (db: Reader, organizationId: OrganizationId, id: UserId) =>
  hasRows(db`
    select from users where organization_id = ${organizationId} and id = ${id} and role = 'owner'`)

export const hasOwner = (db: Reader, organizationId: OrganizationId) =>
  onlyValue(db<{ any: boolean }>`
    select exists (select from users where organization_id = ${organizationId} and role = 'owner') as any`)

export const countTeam = (db: Reader, organizationId: OrganizationId) =>
  onlyValue(db<{ count: number }>`select count(*) from users where organization_id = ${organizationId}`)

/** Moves a user to another organization and ends their sessions. Returns undefined if they already left the first one. */
export const moveUser = (
  tx: Tx,
  { organizationId: from, id }: Pick<User, 'organizationId' | 'id'>,
  { organizationId, role }: Pick<User, 'organizationId' | 'role'>,
) =>
  first(tx<Account>`
    update users
    set organization_id = ${organizationId}, role = ${role}, may_broadcast = false, session_epoch = session_epoch + 1, muted_alerts = '{}'
    where organization_id = ${from} and id = ${id}
    returning id, organization_id, email, name, role, may_broadcast, created_at, password_hash, session_epoch`)
