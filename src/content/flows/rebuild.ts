import type { Actor } from '../../platform/values/actor.ts'
import { notFound, Refusal } from '../../platform/values/errors.ts'
import { type FlowId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import { findFlow, insertVersion, updateFlow } from './flows.sql.ts'
import { compileVersion, contentOf, type FlowParts, getFlow, isSameVersion, versionsMax } from './flows.ts'

/**
 * Publishes the content of a flow again, with the current brand and parts. Does nothing if its emails would be the same. Throws
 * `Refusal` if the flow was never published, or is changed at the same time.
 */
export async function rebuildFlow(
  parts: FlowParts,
  organizationId: OrganizationId,
  actor: Actor,
  id: FlowId,
): Promise<void> {
  const { flow: read, version } = await getFlow(parts.db, organizationId, id)
  if (!version) throw new Refusal('conflict', 'This flow was never published. Publish it first.')
  const compiled = await compileVersion(parts, organizationId, contentOf(version))
  if (isSameVersion(version, compiled)) return
  if (version.number! >= versionsMax)
    throw new Refusal('conflict', 'This flow has too many versions. Create a new flow.')
  await parts.db.by(actor).begin(async (tx) => {
    const current = await findFlow(tx, organizationId, id, true)
    if (!current) throw notFound('flow')
    if (current.versionId !== read.versionId)
      throw new Refusal('conflict', 'Another version of this flow was published in the meantime.')
    const versionId = newId('flv')
    await insertVersion(tx, { ...compiled, organizationId, id: versionId, flowId: id })
    await updateFlow(tx, { ...current, versionId })
  })
}
