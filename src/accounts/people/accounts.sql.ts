import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { first, only, onlyValue } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { OrganizationId, SessionId, UserId } from '../../platform/values/ids.ts'
import type { AlertKind } from './alerts.ts'
import type { DefaultSender } from './default-sender.sql.ts'

export type Role = 'owner' | 'member'

export type Organization = {
  id: OrganizationId
  name: string
  timezone: string
  keepAddresses: boolean
  defaultSender: DefaultSender | null
  /** The organization of the operator: its owners see the settings of the mail relay. */
  isOperator: boolean
  createdAt: Date
}

const chosenSender = sql`case when organizations.default_sender_email is not null
  then jsonb_build_object('name', organizations.default_sender_name, 'email', organizations.default_sender_email)
  end as default_sender`
const organizationColumns = sql`id, name, timezone, keep_addresses, ${chosenSender}, is_operator, created_at`

export type User = {
  id: UserId
  organizationId: OrganizationId
  email: string
  name: string | null
  role: Role
  /** Whether a member may start broadcasts. Owners always may. */
  mayBroadcast: boolean
  createdAt: Date
}

/** A user with the fields needed for authentication. */
export type Account = User & { passwordHash: string; sessionEpoch: number }

/** The first organization becomes the operator's. Must be called while holding `lockSignup`. */
type NewOrganization = { id: OrganizationId; name: string; selfRegistered: boolean; timezone?: string | undefined }

export const insertOrganization = (tx: Tx, { id, name, selfRegistered, timezone = 'UTC' }: NewOrganization) =>
  tx`
    insert into organizations (id, name, timezone, self_registered, is_operator)
    select ${id}::uuid, ${name}, ${timezone}, ${selfRegistered}::boolean,
      not exists (select from organizations where deleted_at is null)`

/** Returns undefined if the email address already has an account. */
export const insertUser = (
  tx: Tx,
  user: {
    id: UserId
    organizationId: OrganizationId
    email: string
    emailKey: string
    name?: string | null | undefined
    passwordHash: string
    role: Role
  },
) =>
  first(tx<Account>`
    insert into users (id, organization_id, email, email_key, name, password_hash, role)
    values (${user.id}, ${user.organizationId}, ${user.email}, ${user.emailKey}, ${user.name ?? null}, ${user.passwordHash},
      ${user.role})
    on conflict (email_key) do nothing
    returning id, organization_id, email, name, role, may_broadcast, created_at, password_hash, session_epoch`)

/** Locks until the end of the transaction, so that two concurrent registrations cannot both be the first. */
export async function lockSignup(tx: Tx): Promise<void> {
  const signupLock = 7_249_317
  await tx`select pg_advisory_xact_lock(${signupLock})`
}

export const hasUsers = (db: Reader) => onlyValue(db<{ any: boolean }>`select exists (select from users) as any`)

export const findUserByEmail = (db: Reader, emailKey: string) =>
  first(db<Account>`
    select id, organization_id, email, name, role, may_broadcast, created_at, password_hash, session_epoch
    from users where email_key = ${emailKey}`)

export type Member = Account & {
  organization: Organization
  /** Kinds of alerts that this user does not want by email. */
  mutedAlerts: string[]
  /** The session of the request. Undefined for a token from before sessions were stored. */
  session: { id: SessionId; lastUsedAt: Date } | undefined
}

type MemberRow = Account & {
  mutedAlerts: string[]
  organizationName: string
  timezone: string
  keepAddresses: boolean
  defaultSender: DefaultSender | null
  isOperator: boolean
  organizationCreatedAt: Date
  lastUsedAt: Date | null
}

/** Returns undefined if the user is no longer a member, or if the session (if given) has ended. */
export async function findMember(
  db: Reader,
  organizationId: OrganizationId,
  userId: UserId,
  sessionId: SessionId | undefined,
): Promise<Member | undefined> {
  const [row] = await db<MemberRow>`
    select users.id, users.organization_id, users.email, users.name, users.role, users.may_broadcast, users.created_at, users.password_hash,
      users.session_epoch, users.muted_alerts, organizations.name as organization_name, organizations.timezone,
      organizations.keep_addresses, ${chosenSender}, organizations.is_operator, organizations.created_at as organization_created_at,
      sessions.last_used_at
    from users
    join organizations on organizations.id = users.organization_id
    left join sessions on sessions.organization_id = users.organization_id and sessions.user_id = users.id
      and sessions.id = ${sessionId}::uuid and sessions.expires_at > now()
    where users.id = ${userId} and users.organization_id = ${organizationId}`
  if (!row || (sessionId && !row.lastUsedAt)) return undefined
  const {
    organizationName: name,
    timezone,
    keepAddresses,
    defaultSender,
    isOperator,
    organizationCreatedAt,
    lastUsedAt,
    ...user
  } = row
  return {
    ...user,
    organization: {
      ...{ id: organizationId, name, timezone, keepAddresses, defaultSender, isOperator },
      createdAt: organizationCreatedAt,
    },
    session: sessionId && lastUsedAt ? { id: sessionId, lastUsedAt } : undefined,
  }
}

export type OrganizationChange = {
  name?: string | undefined
  timezone?: string | undefined
  keepAddresses?: boolean | undefined
  defaultSender?: DefaultSender | null | undefined
}

export const getOrganization = (db: Reader, id: OrganizationId) =>
  only(db<Organization>`select ${organizationColumns} from organizations where id = ${id}`)

/** Undefined fields are not changed. */
export const updateOrganization = (
  db: Writer,
  id: OrganizationId,
  { name, timezone, keepAddresses, defaultSender: sender }: OrganizationChange,
) =>
  db`
    update organizations
    set name = coalesce(${name}, name), timezone = coalesce(${timezone}, timezone),
      keep_addresses = coalesce(${keepAddresses}::boolean, keep_addresses),
      default_sender_name = case when ${sender !== undefined} then ${sender?.name ?? null} else default_sender_name end,
      default_sender_email = case when ${sender !== undefined} then ${sender?.email ?? null} else default_sender_email end
    where id = ${id}`

export type ProfileChange = { name?: string | null | undefined; mutedAlerts?: AlertKind[] | undefined }

/** Undefined fields are not changed. */
export const updateProfile = (
  db: Writer,
  { organizationId, id }: { organizationId: OrganizationId; id: UserId },
  { name, mutedAlerts }: ProfileChange,
) =>
  db`
    update users
    set name = case when ${name !== undefined} then ${name ?? null} else name end,
      muted_alerts = coalesce(${mutedAlerts}::text[], muted_alerts)
    where organization_id = ${organizationId} and id = ${id}`
