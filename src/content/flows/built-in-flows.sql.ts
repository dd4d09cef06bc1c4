import type { Tx } from '../../platform/db/db.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import type { FlowId, FlowVersionId, OrganizationId } from '../../platform/values/ids.ts'

export type BuiltInFlow = {
  organizationId: OrganizationId
  id: FlowId
  versionId: FlowVersionId
  name: string
  kind: FlowKind
}

export async function insertBuiltInFlow(tx: Tx, flow: BuiltInFlow): Promise<void> {
  const { organizationId, id, versionId, name, kind } = flow
  await tx`
    insert into flows (organization_id, id, name, kind, status, version_id, is_built_in)
    values (${organizationId}, ${id}, ${name}, ${kind}, 'active', ${versionId}, true)
    on conflict do nothing`
  await tx`
    insert into flow_versions (organization_id, id, flow_id, number, subject, source, html_format, html, text, variables)
    values (${organizationId}, ${versionId}, ${id}, 1, ${name}, '', 'html', '', '', '[]')
    on conflict do nothing`
}
