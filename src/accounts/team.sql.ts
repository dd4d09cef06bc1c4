import type { Reader, Tx } from '../db/db.ts'
import { first, hasRows, onlyValue } from '../db/rows.ts'
import type { OrganizationId, UserId } from '../values/ids.ts'
import type { Account, Role, User } from './accounts.sql.ts'

export type TeamMember = User & { lastLoginAt: Date | null }

/** Ordered by the time at which they joined. */
export const selectTeam = (db: Reader, organizationId: OrganizationId) =>
  db<TeamMember>`
    select id, organization_id, email, name, role, may_broadcast, created_at, last_login_at
    from users
    where organization_id = ${organizationId}
    order by id`

export type RoleChange = { role?: Role | undefined; mayBroadcast?: boolean | undefined }

export const updateRole = (tx: Tx, organizationId: OrganizationId, id: UserId, { role, mayBroadcast }: RoleChange) =>
  first(tx<TeamMember>`
    update users
    set role = coalesce(${role ?? null}, role), may_broadcast = coalesce(${mayBroadcast ?? null}, may_broadcast)
    where organization_id = ${organizationId} and id = ${id}
    returning id, organization_id, email, name, role, may_broadcast, created_at, last_login_at`)

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
    set organization_id = ${organizationId}, role = ${role}, may_broadcast = false, session_epoch = session_epoch + 1, muted_alerts = '{}',
      last_login_at = now()
    where organization_id = ${from} and id = ${id}
    returning id, organization_id, email, name, role, may_broadcast, created_at, password_hash, session_epoch`)
