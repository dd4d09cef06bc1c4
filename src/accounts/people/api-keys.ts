import { randomInt } from 'node:crypto'
import type { Db, Tx } from '../../platform/db/db.ts'
import { conflict, invalid, notFound, Refusal } from '../../platform/values/errors.ts'
import { type ApiKeyId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import { checkName } from '../../platform/values/names.ts'
import type { User } from './accounts.sql.ts'
import { type ApiKey, countApiKeys, insertApiKey, revokeApiKey } from './api-keys.sql.ts'
import { hashKey } from './key-cache.ts'
import { personMay } from './permissions.ts'
import { publicScopes, type Scope, scopes } from './scopes.ts'

const keysMax = 100
const hintLength = 8
/** Only letters and digits, so that a double click selects the whole key. 43 characters are 256 bits. */
const keyCharacters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const keyLength = 43

/**
 * The key itself is returned only here; only its hash is stored. Throws `Refusal` if the creator does not have the
 * permission for a scope.
 */
export async function createApiKey(
  db: Db,
  creator: Pick<User, 'organizationId' | 'id' | 'role' | 'mayBroadcast'>,
  input: { name: string; scopes?: Scope[] | undefined },
): Promise<{ record: ApiKey; key: string }> {
  const { organizationId, id: createdBy } = creator
  const name = checkName(input.name)
  if (input.scopes?.length === 0)
    throw invalid({ path: 'scopes', problem: `must contain at least one of ${scopes.join(', ')}` })
  if (input.scopes?.includes('broadcasts:send') && !personMay(creator, 'broadcasts:send'))
    throw new Refusal(
      'forbidden',
      "You can't start broadcasts, so you can't create a key with the scope broadcasts:send. Ask an owner for permission.",
    )
  if ((await countApiKeys(db, organizationId)) >= keysMax)
    throw conflict(`An organization can have at most ${keysMax} API keys. Delete one that is no longer used.`)

  const random = Array.from({ length: keyLength }, () => keyCharacters[randomInt(keyCharacters.length)])
  const key = `wxk_${random.join('')}`
  const insert = (tx: Tx) =>
    insertApiKey(tx, {
      id: newId('key'),
      organizationId,
      name,
      keyHash: Buffer.from(hashKey(key), 'hex'),
      hint: key.slice(0, hintLength),
      scopes: [...new Set(input.scopes ?? publicScopes)],
      publicOnly: input.scopes === undefined,
      createdBy,
    })
  const record = await db.begin(insert)
  if (!record) throw new Refusal('unauthorized', 'You are no longer a member of this organization.')
  return { record, key }
}

export async function deleteApiKey(db: Db, organizationId: OrganizationId, id: ApiKeyId): Promise<void> {
  if (!(await revokeApiKey(db.statement, organizationId, id))) throw notFound('API key')
}
