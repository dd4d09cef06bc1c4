import type { Reader, Tx } from '../db/db.ts'
import type { OrganizationId, UserId } from '../ids.ts'

export type Role = 'owner' | 'member'

export type Organization = {
  id: OrganizationId
  name: string
  timezone: string
  keepAddresses: boolean
  createdAt: Date
}

export type User = {
  id: UserId
  organizationId: OrganizationId
  email: string
  role: Role
  createdAt: Date
}

export async function insertOrganization(tx: Tx, id: OrganizationId, name: string): Promise<void> {
  await tx`insert into organizations (id, name) values (${id}, ${name})`
}

/** Undefined when the address has an account already. */
export async function insertUser(
  tx: Tx,
  user: {
    id: UserId
    organizationId: OrganizationId
    email: string
    emailKey: string
    passwordHash: string
    role: Role
  },
): Promise<User | undefined> {
  const [row] = await tx<User>`
    insert into users (id, organization_id, email, email_key, password_hash, role)
    values (${user.id}, ${user.organizationId}, ${user.email}, ${user.emailKey}, ${user.passwordHash}, ${user.role})
    on conflict (email_key) do nothing
    returning id, organization_id, email, role, created_at`
  return row
}

/** Held until the end of the transaction: two first users cannot both be the first. */
export async function lockSignup(tx: Tx): Promise<void> {
  const signupLock = 7_249_317
  await tx`select pg_advisory_xact_lock(${signupLock})`
}

export async function hasUsers(db: Reader): Promise<boolean> {
  const [row] = await db<{ any: boolean }>`select exists (select from users) as any`
  return row!.any
}

export async function findUserByEmail(
  db: Reader,
  emailKey: string,
): Promise<(User & { passwordHash: string }) | undefined> {
  const [row] = await db<User & { passwordHash: string }>`
    select id, organization_id, email, role, created_at, password_hash from users where email_key = ${emailKey}`
  return row
}

export async function findMember(
  db: Reader,
  organizationId: OrganizationId,
  userId: UserId,
): Promise<(User & { organization: Organization }) | undefined> {
  const [row] = await db<
    User & { name: string; timezone: string; keepAddresses: boolean; organizationCreatedAt: Date }
  >`
    select users.id, users.organization_id, users.email, users.role, users.created_at,
      organizations.name, organizations.timezone, organizations.keep_addresses,
      organizations.created_at as organization_created_at
    from users
    join organizations on organizations.id = users.organization_id
    where users.id = ${userId} and users.organization_id = ${organizationId}`
  if (!row) return undefined
  const { name, timezone, keepAddresses, organizationCreatedAt, ...user } = row
  return {
    ...user,
    organization: { id: organizationId, name, timezone, keepAddresses, createdAt: organizationCreatedAt },
  }
}
