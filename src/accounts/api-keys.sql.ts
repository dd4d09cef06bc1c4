import type { Reader, Tx } from '../db/db.ts'
import type { ApiKeyId, OrganizationId } from '../ids.ts'

export const scopes = ['contacts:write', 'flows:send', 'analytics:read'] as const
export type Scope = (typeof scopes)[number]

export type ApiKey = {
  id: ApiKeyId
  organizationId: OrganizationId
  name: string
  hint: string
  scopes: Scope[]
  createdAt: Date
  lastUsedAt: Date | null
}

export async function insertApiKey(
  tx: Tx,
  key: Omit<ApiKey, 'createdAt' | 'lastUsedAt'> & { keyHash: Buffer },
): Promise<ApiKey> {
  const [row] = await tx<ApiKey>`
    insert into api_keys (id, organization_id, name, key_hash, hint, scopes)
    values (${key.id}, ${key.organizationId}, ${key.name}, ${key.keyHash}, ${key.hint}, ${key.scopes})
    returning id, organization_id, name, hint, scopes, created_at, last_used_at`
  return row!
}

export async function selectApiKeys(db: Reader, organizationId: OrganizationId): Promise<ApiKey[]> {
  return db<ApiKey>`
    select id, organization_id, name, hint, scopes, created_at, last_used_at
    from api_keys
    where organization_id = ${organizationId} and revoked_at is null
    order by id desc`
}

export async function countApiKeys(db: Reader, organizationId: OrganizationId): Promise<number> {
  const [row] = await db<{ count: number }>`
    select count(*) from api_keys where organization_id = ${organizationId} and revoked_at is null`
  return row!.count
}

/** False when there is no such key. */
export async function revokeApiKey(tx: Tx, organizationId: OrganizationId, id: ApiKeyId): Promise<boolean> {
  const rows = await tx`
    update api_keys set revoked_at = now()
    where organization_id = ${organizationId} and id = ${id} and revoked_at is null
    returning id`
  return rows.length > 0
}

export type KnownKey = {
  hash: string
  id: ApiKeyId
  organizationId: OrganizationId
  organizationName: string
  scopes: Scope[]
}

/** The valid ones among the keys with these hashes (hex), of any organization. */
export async function findKeysByHash(db: Reader, hashes: string[]): Promise<KnownKey[]> {
  return db<KnownKey>`
    select encode(key_hash, 'hex') as hash, api_keys.id, organization_id, organizations.name as organization_name, scopes
    from api_keys
    join organizations on organizations.id = organization_id
    where key_hash = any (select decode(hash, 'hex') from unnest(${hashes}::text[]) as hash)
      and revoked_at is null`
}

export async function touchApiKeys(tx: Tx, ids: ApiKeyId[]): Promise<void> {
  await tx`update api_keys set last_used_at = now() where id = any (${ids}::uuid[])`
}
