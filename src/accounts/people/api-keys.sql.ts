import { lockOrganization } from '../../platform/db/cluster/lock-organization.ts'
import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { hasRows, onlyValue } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { ApiKeyId, OrganizationId, UserId } from '../../platform/values/ids.ts'
import type { Scope } from './scopes.ts'

export type ApiKey = {
  id: ApiKeyId
  organizationId: OrganizationId
  name: string
  hint: string
  scopes: Scope[]
  /** The key cannot call the management API. */
  publicOnly: boolean
  /** The key belongs to an imported organization and does not work until the operator confirms the import. */
  isHeld: boolean
  createdAt: Date
  lastUsedAt: Date | null
  createdBy: UserId | null
  /** Null if the creator is no longer a member. */
  createdByEmail: string | null
}

const apiKeyColumns = sql`id, organization_id, name, hint, scopes, public_only, is_held, created_at, last_used_at, created_by`

const columns = sql`${apiKeyColumns},
  (select email from users where users.id = api_keys.created_by and users.organization_id = api_keys.organization_id)
    as created_by_email`

export type NewApiKey = Omit<ApiKey, 'isHeld' | 'createdAt' | 'lastUsedAt' | 'createdBy' | 'createdByEmail'> & {
  createdBy: UserId
  keyHash: Buffer
}

/**
 * Returns undefined if the creator is no longer a member. The lock serializes this with the removal of the member.
 */
export async function insertApiKey(tx: Tx, key: NewApiKey): Promise<ApiKey | undefined> {
  await lockOrganization(tx, key.organizationId)
  const [creator] = await tx<{ email: string }>`
    select email from users where organization_id = ${key.organizationId} and id = ${key.createdBy}`
  if (!creator) return undefined
  const [row] = await tx<Omit<ApiKey, 'createdByEmail'>>`
    insert into api_keys (id, organization_id, name, key_hash, hint, scopes, public_only, created_by)
    values (${key.id}, ${key.organizationId}, ${key.name}, ${key.keyHash}, ${key.hint}, ${key.scopes}::text[],
      ${key.publicOnly}, ${key.createdBy})
    returning ${apiKeyColumns}`
  return { ...row!, createdByEmail: creator.email }
}

export const selectApiKeys = (db: Reader, organizationId: OrganizationId) =>
  db.run<ApiKey>(sql`
    select ${columns}
    from api_keys
    where organization_id = ${organizationId} and revoked_at is null
    order by id desc`)

export const revokeApiKeysOf = (tx: Tx, organizationId: OrganizationId, userId: UserId) =>
  tx`
    update api_keys set revoked_at = now()
    where organization_id = ${organizationId} and created_by = ${userId} and revoked_at is null`

export const countApiKeys = (db: Reader, organizationId: OrganizationId) =>
  onlyValue(db<{ count: number }>`
    select count(*) from api_keys where organization_id = ${organizationId} and revoked_at is null`)

/** Returns false if the key does not exist. */
export const revokeApiKey = (db: Writer, organizationId: OrganizationId, id: ApiKeyId) =>
  hasRows(db`
    update api_keys set revoked_at = now()
    where organization_id = ${organizationId} and id = ${id} and revoked_at is null
    returning id`)

export type KnownKey = {
  hash: string
  id: ApiKeyId
  organizationId: OrganizationId
  organizationName: string
  organizationTimezone: string
  scopes: Scope[]
  publicOnly: boolean
  /** Whether the creator of the key is still a member, and may start broadcasts. */
  creatorMayBroadcast: boolean
}

/** Returns the valid keys with these hashes (hex), of any organization. */
export const findKeysByHash = (db: Reader, hashes: string[]) =>
  db<KnownKey>`
    select encode(key_hash, 'hex') as hash, api_keys.id, organization_id, organizations.name as organization_name,
      organizations.timezone as organization_timezone, scopes, public_only,
      exists (
        select from users
        where users.id = created_by and users.organization_id = api_keys.organization_id
          and (users.role = 'owner' or users.may_broadcast)
      ) as creator_may_broadcast
    from api_keys
    join organizations on organizations.id = organization_id
    where key_hash = any (select decode(hash, 'hex') from unnest(${hashes}::text[]) as hash)
      and revoked_at is null and not is_held`

export const touchApiKeys = (db: Writer, ids: ApiKeyId[]) =>
  db`update api_keys set last_used_at = now() where id = any (${ids}::uuid[])`
