import type { Actor } from '../../platform/values/actor.ts'
import type { User } from './accounts.sql.ts'
import type { KnownKey } from './api-keys.sql.ts'
import { hasScope, type Scope, scopes } from './scopes.ts'

/** What only owners may do. `installation:` concerns the whole installation, and counts in the organization of the operator. */
const ownerPermissions = [
  'organization:write',
  'organization:delete',
  'team:write',
  'notices:write',
  'sending:write',
  'mail_servers:confirm',
  'broadcasts:announce',
  'account_emails:read',
  'installation:read',
  'installation:write',
] as const

/** What a person may do. Those that are scopes can also be granted to API keys. */
export const permissions = [
  ...scopes,
  'messages:compose',
  'profile:read',
  'profile:write',
  'organization:read',
  'team:read',
  'api_keys:read',
  'api_keys:write',
  'api_requests:read',
  'domains:read',
  'domains:write',
  'mail_servers:read',
  'mail_servers:write',
  'receiving_sites:read',
  'receiving_sites:write',
  'sending:read',
  'inbox:read',
  'inbox:write',
  'notices:read',
  ...ownerPermissions,
] as const
export type Permission = (typeof permissions)[number]

/** What a route requires: `apiKey` is any valid API key, and `public` no credential. */
export type RoutePermission = Permission | 'apiKey' | 'public'

const notOfMembers: readonly Permission[] = [...ownerPermissions, 'broadcasts:send']

export const rolePermissions: Readonly<Record<User['role'], ReadonlySet<Permission>>> = {
  owner: new Set(permissions),
  member: new Set(permissions.filter((permission) => !notOfMembers.includes(permission))),
}

export type Person = Pick<User, 'role' | 'mayBroadcast'> & { organization?: { isOperator: boolean } }

export const personMay = ({ role, mayBroadcast, organization }: Person, permission: Permission): boolean =>
  permission.startsWith('installation:') && !organization?.isOperator
    ? false
    : rolePermissions[role].has(permission) || (mayBroadcast && permission === 'broadcasts:send')

export const permissionsOf = (person: Person): Permission[] =>
  permissions.filter((permission) => personMay(person, permission))

/** Of a signed-in user; other actors have no permission. */
export const actorMay = (actor: Actor, permission: Permission): boolean =>
  actor.type === 'user' && (actor.permissions?.includes(permission) ?? false)

/** Returns the scope that a key needs, or undefined if keys cannot do this. */
export function scopeOf(permission: RoutePermission): Scope | undefined {
  if (permission === 'broadcasts:announce') return 'broadcasts:send'
  return scopes.find((scope) => scope === permission)
}

/** A key starts broadcasts as long as its creator may. */
export function keyMay(key: Pick<KnownKey, 'scopes' | 'creatorMayBroadcast'>, permission: Permission): boolean {
  const scope = scopeOf(permission)
  return scope !== undefined && hasScope(key.scopes, scope) && (scope !== 'broadcasts:send' || key.creatorMayBroadcast)
}
