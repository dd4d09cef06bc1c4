import { lockOrganization } from '../../platform/db/cluster/lock-organization.ts'
import type { Reader, Tx } from '../../platform/db/db.ts'
import { hasRows } from '../../platform/db/rows.ts'
import type { ApiKeyId, OrganizationId } from '../../platform/values/ids.ts'

/** Returns whether the owners of this organization operate the installation and other organizations exist. */
export const isNeededByOthers = (db: Reader, id: OrganizationId) =>
  hasRows(db`
    select from organizations
    where id = ${id} and is_operator
      and exists (select from organizations as other where other.id <> ${id} and other.deleted_at is null)`)

/**
 * Marks the organization as deleted and stops all of its activity: nobody can sign in or call the
 * API, no email is accepted or sent from the queue, and events reach no webhook. The remaining rows are erased later.
 * Returns the ids of its API keys, or undefined if the organization is already deleted.
 */
export async function stopOrganization(tx: Tx, id: OrganizationId): Promise<ApiKeyId[] | undefined> {
  await lockOrganization(tx, id)
  const [stopped] = await tx`
    update organizations set deleted_at = now(), is_operator = false
    where id = ${id} and deleted_at is null
    returning id`
  if (!stopped) return undefined
  const keys = await tx<{ id: ApiKeyId }>`delete from api_keys where organization_id = ${id} returning id`
  tx.send`delete from users where organization_id = ${id}`
  tx.send`delete from invitations where organization_id = ${id}`
  // Held instead of deleted: a lane that is created again would offer all of its jobs.
  tx.send`update lanes set held = true where organization_id = ${id}`
  tx.send`
    update flows set status = 'archived', deleted_at = least(deleted_at, now()) where organization_id = ${id}`
  tx.send`delete from webhooks where organization_id = ${id}`
  return keys.map((key) => key.id)
}

/** Makes the oldest organization that did not register itself the operator's. Returns false if there is none. */
export const appointOperator = (tx: Tx) =>
  hasRows(tx`
    update organizations set is_operator = true
    where id = (
      select id from organizations where deleted_at is null and not self_registered order by created_at, id limit 1
    )
    returning id`)
