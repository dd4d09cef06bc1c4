import type { Tx } from '../../platform/db/db.ts'
import type { FlowId, OrganizationId } from '../../platform/values/ids.ts'

/** Dates flows and their versions back, for sample data. */
export async function datePastFlows(tx: Tx, organizationId: OrganizationId, ids: readonly FlowId[], at: Date) {
  tx.send`
    update flow_versions set created_at = ${at}
    where organization_id = ${organizationId} and flow_id = any (${ids}::uuid[])`
  await tx`
    update flows set created_at = ${at}, updated_at = ${at}
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])`
}
