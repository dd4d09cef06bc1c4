import type { Reader } from '../db/db.ts'
import type { FlowId, OrganizationId } from '../ids.ts'

export async function flowExists(db: Reader, organizationId: OrganizationId, id: FlowId): Promise<boolean> {
  return (await db`select from flows where organization_id = ${organizationId} and id = ${id}`).length > 0
}
