import type { Reader, Tx } from '../db/db.ts'
import type { OrganizationId } from '../values/ids.ts'

/** Returns undefined if the organization does not exist. It becomes the operator's if there is no other. */
export async function markTrusted(tx: Tx, id: OrganizationId): Promise<{ isOperator: boolean } | undefined> {
  const [row] = await tx<{ isOperator: boolean }>`
    update organizations
    set self_registered = false, is_operator = is_operator or not exists (select from organizations where is_operator)
    where id = ${id} and deleted_at is null
    returning is_operator`
  return row
}

/** Returns how many keys work from now on. */
export async function releaseApiKeys(tx: Tx, id: OrganizationId): Promise<number> {
  const rows = await tx`update api_keys set is_held = false where organization_id = ${id} and is_held returning id`
  return rows.length
}

export type ImportedMember = { email: string; role: string }

export async function selectMembers(db: Reader, id: OrganizationId): Promise<ImportedMember[]> {
  return db<ImportedMember>`select email, role from users where organization_id = ${id} order by id`
}
