import type { Tx } from '../db/db.ts'
import type { OrganizationId } from '../values/ids.ts'

export type ConfirmedImport = { isOperator: boolean; apiKeys: number; members: { email: string; role: string }[] }

/**
 * Gives an imported organization the rights of one that the operator created: its API keys work, and the limits for new
 * organizations do not apply. It becomes the operator's if there is no other. Returns undefined if it does not exist.
 */
export async function confirmImport(tx: Tx, id: OrganizationId): Promise<ConfirmedImport | undefined> {
  const [organization] = await tx<{ isOperator: boolean }>`
    update organizations
    set self_registered = false, is_operator = is_operator or not exists (select from organizations where is_operator)
    where id = ${id} and deleted_at is null
    returning is_operator`
  if (!organization) return undefined
  const keys = await tx`update api_keys set is_held = false where organization_id = ${id} and is_held returning id`
  const members = await tx<{ email: string; role: string }>`
    select email, role from users where organization_id = ${id} order by id`
  return { ...organization, apiKeys: keys.length, members }
}
