import type { Tx } from '../../platform/db/db.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'

/** Dates an organization and its users back, for sample data. */
export async function datePastAccount(tx: Tx, organizationId: OrganizationId, createdAt: Date): Promise<void> {
  tx.send`update users set created_at = ${createdAt} where organization_id = ${organizationId}`
  await tx`update organizations set created_at = ${createdAt} where id = ${organizationId}`
}
