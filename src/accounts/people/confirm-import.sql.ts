import type { Reader, Tx } from '../../platform/db/db.ts'
import { countRows, first } from '../../platform/db/rows.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'

/** Returns undefined if the organization does not exist. It becomes the operator's if there is no other. */
export const markTrusted = (tx: Tx, id: OrganizationId) =>
  first(tx<{ isOperator: boolean }>`
    update organizations
    set self_registered = false, is_operator = is_operator or not exists (select from organizations where is_operator)
    where id = ${id} and deleted_at is null
    returning is_operator`)

/** Returns the number of activated keys. */
export const releaseApiKeys = (tx: Tx, id: OrganizationId) =>
  countRows(tx`update api_keys set is_held = false where organization_id = ${id} and is_held returning id`)

export type ImportedMember = { email: string; role: string }

export const selectMembers = (db: Reader, id: OrganizationId) =>
  db<ImportedMember>`select email, role from users where organization_id = ${id} order by id`
