import type { Db } from '../../platform/db/db.ts'
import type { CheckUnchanged } from '../../platform/http/etag.ts'
import type { Actor } from '../../platform/values/actor.ts'
import { notFound, Refusal } from '../../platform/values/errors.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import { type FlowId, type FlowVersionId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import { checkName } from '../../platform/values/names.ts'
import {
  type Changes,
  checkBase,
  contentOf,
  type FlowContent,
  type FlowKey,
  type FlowRow,
  type FlowState,
  withChanges,
} from './flow-state.ts'
import { type FlowStatus, markFlowDeleted } from './flows.sql.ts'
import { type FlowParts, type FlowTarget, type Publication, publish } from './publish.ts'

export type FlowInput = FlowContent & { name: string; kind: FlowKind; status: Exclude<FlowStatus, 'draft'> }

/** Throws `Refusal` if the template is invalid or the sender is not allowed. */
export async function createFlow(
  parts: FlowParts,
  organizationId: OrganizationId,
  actor: Actor,
  { name, kind, status, ...content }: FlowInput,
): Promise<FlowId> {
  const flow = { organizationId, id: newId('flw'), name: checkName(name), kind, status, versionId: null }
  await publish(parts, flow, () => ({ content }), actor)
  return flow.id
}

/** `baseVersion` is the number of the version that the change is based on. */
export type FlowChanges = Changes<FlowInput> & {
  baseVersion?: number | undefined
  checkUnchanged?: CheckUnchanged<FlowRow> | undefined
}

/**
 * Updates the given fields; a change of the content creates a version. If another version was saved in the meantime, the
 * change is applied on top of it, so that neither is lost. Throws `Refusal` if `baseVersion` is outdated.
 */
export async function changeFlow(
  parts: FlowParts,
  flow: FlowTarget,
  actor: Actor,
  { name, kind, status, baseVersion, checkUnchanged, ...content }: FlowChanges,
): Promise<void> {
  const hasContent = Object.keys(content).length > 0
  const settings = { name: name === undefined ? undefined : checkName(name), kind, status }
  const plan = ({ flow, version }: FlowState): Publication => {
    if (!version) throw neverPublished('Save its draft, and publish it first.')
    checkUnchanged?.(flow)
    checkBase(baseVersion, version)
    return hasContent ? { ...settings, content: withChanges(contentOf(version), content) } : settings
  }
  await publish(parts, flow, plan, actor, { changesEmails: hasContent || kind !== undefined })
}

/**
 * Publishes the content of a flow again, with the current brand and parts. Does nothing if its emails would be the same.
 * Throws `Refusal` if the flow was never published, or another version is published at the same time.
 */
export async function rebuildFlow(parts: FlowParts, flow: FlowTarget, actor: Actor): Promise<void> {
  let base: FlowVersionId | undefined
  const plan = ({ version }: FlowState): Publication => {
    if (!version) throw neverPublished('Publish it first.')
    base ??= version.id
    if (version.id !== base)
      throw new Refusal('conflict', 'Another version of this flow was published in the meantime.')
    return { content: contentOf(version), rebuilds: true }
  }
  await publish(parts, flow, plan, actor)
}

const neverPublished = (advice: string) => new Refusal('conflict', `This flow was never published. ${advice}`)

export async function deleteFlow(db: Db, { organizationId, id }: FlowKey): Promise<void> {
  if (!(await markFlowDeleted(db.statement, organizationId, id))) throw notFound('flow')
}
