import type { Db } from '../../platform/db/db.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { type ImportedMember, markTrusted, releaseApiKeys, selectMembers } from './confirm-import.sql.ts'

export type ConfirmedImport = { isOperator: boolean; apiKeys: number; members: ImportedMember[] }

/**
 * Gives an imported organization the rights of one that the operator created: its API keys work, and the limits for new
 * organizations do not apply. It becomes the operator's if there is no other. Returns undefined if it does not exist.
 */
export async function confirmImport(db: Db, id: OrganizationId): Promise<ConfirmedImport | undefined> {
  return db.begin(async (tx) => {
    const organization = await markTrusted(tx, id)
    if (!organization) return undefined
    return { ...organization, apiKeys: await releaseApiKeys(tx, id), members: await selectMembers(tx, id) }
  })
}
