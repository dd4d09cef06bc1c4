import type { Reader } from '../../platform/db/db.ts'
import type { FlowId, FlowVersionId, OrganizationId } from '../../platform/values/ids.ts'

/** Returns the subject of a version of a flow, or undefined if it does not exist. */
export async function findSubject(
  db: Reader,
  organizationId: OrganizationId,
  versionId: FlowVersionId,
): Promise<string | undefined> {
  const [row] = await db<{ subject: string }>`
    select subject from flow_versions where organization_id = ${organizationId} and id = ${versionId}`
  return row?.subject
}

/** Returns the senders of versions of a flow. Null is the default sender. */
export const selectSenders = (
  db: Reader,
  { organizationId, flowId }: { organizationId: OrganizationId; flowId: FlowId },
  { versionId, numbers }: { versionId: FlowVersionId; numbers: readonly number[] },
) =>
  db<{ fromEmail: string | null }>`
    select distinct from_email
    from flow_versions
    where organization_id = ${organizationId} and flow_id = ${flowId}
      and (id = ${versionId} or number = any (${numbers}::int[]))`

export type FlowOfBroadcast = {
  kind: 'transactional' | 'marketing'
  status: 'active' | 'paused' | 'archived'
  versionId: FlowVersionId
  organizationName: string
}

/** Returns undefined if the flow does not exist or, unless included, was deleted, or if its organization was deleted. */
export async function findFlowOf(
  db: Reader,
  organizationId: OrganizationId,
  flowId: FlowId,
  includeDeleted = false,
): Promise<FlowOfBroadcast | undefined> {
  const [row] = await db<FlowOfBroadcast>`
    select flows.kind, flows.status, flows.version_id, organizations.name as organization_name
    from flows
    join organizations on organizations.id = flows.organization_id and organizations.deleted_at is null
    where flows.organization_id = ${organizationId} and flows.id = ${flowId} and not flows.is_built_in
      and (${includeDeleted} or flows.deleted_at is null)`
  return row
}
