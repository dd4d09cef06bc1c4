import type { Reader } from '../../platform/db/db.ts'
import { first } from '../../platform/db/rows.ts'
import type { FlowId, FlowVersionId, OrganizationId } from '../../platform/values/ids.ts'

/** Returns the organization that belongs to this owner and still has this name, or undefined. */
export const findDemo = (db: Reader, { emailKey, name }: { emailKey: string; name: string }) =>
  first(db<{ organizationId: OrganizationId; createdAt: Date }>`
    select organizations.id as organization_id, organizations.created_at
    from users
    join organizations on organizations.id = users.organization_id
    where users.email_key = ${emailKey} and organizations.name = ${name} and organizations.deleted_at is null`)

export async function findVersionId(db: Reader, organizationId: OrganizationId, flowId: FlowId) {
  const [row] = await db<{ versionId: FlowVersionId | null }>`
    select version_id from flows where organization_id = ${organizationId} and id = ${flowId}`
  return row?.versionId ?? undefined
}
