import type { Reader, Tx } from '../db/db.ts'
import type { ApiKeyId, OrganizationId } from '../values/ids.ts'

/** Returns whether the owners of this organization operate the installation and other organizations exist. */
export async function isNeededByOthers(db: Reader, id: OrganizationId): Promise<boolean> {
  const rows = await db`
    select from organizations
    where id = ${id} and is_operator
      and exists (select from organizations as other where other.id <> ${id} and other.deleted_at is null)`
  return rows.length > 0
}

/**
 * Marks the organization as deleted and stops all of its activity, in one statement: nobody can sign in or call the
 * API, no email is accepted or sent from the queue, and events reach no webhook. The remaining rows are erased later.
 * Returns the ids of its API keys, or undefined if the organization is already deleted.
 */
export async function stopOrganization(tx: Tx, id: OrganizationId): Promise<ApiKeyId[] | undefined> {
  const [row] = await tx<{ keys: ApiKeyId[] }>`
    with organization as (
      update organizations set deleted_at = now(), is_operator = false where id = ${id} and deleted_at is null returning id
    ),
    keys as (delete from api_keys using organization where organization_id = organization.id returning api_keys.id),
    users_deleted as (delete from users using organization where organization_id = organization.id),
    invitations_deleted as (delete from invitations using organization where organization_id = organization.id),
    -- Held instead of deleted: a lane that is created again would offer all of its jobs.
    lanes_held as (update lanes set held = true from organization where organization_id = organization.id),
    flows_archived as (
      update flows set status = 'archived', deleted_at = coalesce(deleted_at, now())
      from organization where organization_id = organization.id
    ),
    webhooks_deleted as (delete from webhooks using organization where organization_id = organization.id),
    notice_mails_deleted as (delete from notice_mails using organization where organization_id = organization.id)
    select array(select id from keys) as keys from organization`
  return row?.keys
}

/** Makes the oldest organization that did not register itself the operator's. Returns false if there is none. */
export async function appointOperator(tx: Tx): Promise<boolean> {
  const rows = await tx`
    update organizations set is_operator = true
    where id = (
      select id from organizations where deleted_at is null and not self_registered order by created_at, id limit 1
    )
    returning id`
  return rows.length > 0
}
