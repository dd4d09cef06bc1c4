import type { Db, Tx } from '../../platform/db/db.ts'
import type { CheckUnchanged } from '../../platform/http/etag.ts'
import type { Actor } from '../../platform/values/actor.ts'
import { notFound, Refusal } from '../../platform/values/errors.ts'
import { type FlowId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import { checkName } from '../../platform/values/names.ts'
import { deleteDraft, type NewDraft, replaceDraft, updateDraftRevision, updateTestVersion } from './drafts.sql.ts'
import {
  type Changes,
  checkBase,
  contentOf,
  type Draft,
  type FlowKey,
  type FlowState,
  getFlow,
  withChanges,
} from './flow-state.ts'
import { findVersions, insertFlow, insertVersion } from './flows.sql.ts'
import type { FlowInput } from './flows.ts'
import { checkSender, compileVersion, type FlowParts, type FlowTarget, isSameVersion, publish } from './publish.ts'

/** The fields of a flow that are published together. */
export type DraftContent = Omit<FlowInput, 'status'>

/** `baseRevision` is the revision of the draft that the change is based on, 0 if there was none. */
type Guards = {
  baseVersion?: number | undefined
  baseRevision?: number | undefined
  checkUnchanged?: CheckUnchanged<Draft | undefined> | undefined
}

const copyPrefix = 'Copy of '
const nameLengthMax = 200

/** Creates a flow that was never published. Its template may be invalid. */
export async function createDraftFlow(
  { db, senders }: FlowParts,
  organizationId: OrganizationId,
  actor: Actor,
  content: DraftContent,
): Promise<FlowId> {
  const flowId = newId('flw')
  const name = checkName(content.name)
  await checkSender(organizationId, content, senders)
  await db.by(actor).begin(async (tx) => {
    await insertFlow(tx, { organizationId, id: flowId, name, kind: content.kind, status: 'draft', versionId: null })
    writeDraft(tx, { organizationId, flowId, revision: 1, baseVersion: 0, ...content, name })
  })
  return flowId
}

export async function getDraft(db: Db, key: FlowKey): Promise<Draft> {
  const { draft } = await getFlow(db, key)
  if (!draft) throw notFound('draft')
  return draft
}

/**
 * Saves the given fields in the draft of a flow, and starts one from the published version if there is none. The
 * template is not compiled, so that unfinished work can be saved. Throws `Refusal` if `baseRevision` or `baseVersion` is
 * outdated.
 */
export async function saveDraft(
  { db, senders }: FlowParts,
  key: FlowKey,
  actor: Actor,
  { baseVersion, baseRevision, checkUnchanged, ...changes }: Changes<DraftContent> & Guards,
): Promise<void> {
  await db.by(actor).begin(async (tx) => {
    const state = await getFlow(tx, key, true)
    const { flow, draft, version } = state
    const { organizationId, id: flowId } = flow
    checkUnchanged?.(draft)
    checkRevision(baseRevision, draft)
    checkBase(baseVersion, version)
    const after = withChanges(editedContentOf(state), changes)
    const content = { ...after, name: checkName(after.name) }
    await checkSender(organizationId, content, senders, tx)
    const revision = flow.draftRevision + 1
    const base = baseVersion ?? draft?.baseVersion ?? version?.number ?? 0
    writeDraft(tx, { organizationId, flowId, revision, baseVersion: base, ...content })
  })
}

/**
 * Publishes the draft: creates a version, which emails are sent with from now on. Throws `Refusal` if there is no draft,
 * if its template is invalid, if `baseRevision` is outdated, or if another version was published since the draft was
 * started and `baseVersion` does not name it.
 */
export async function publishDraft(
  parts: FlowParts,
  flow: FlowTarget,
  actor: Actor,
  { baseVersion, baseRevision, checkUnchanged }: Guards,
): Promise<void> {
  const plan = (state: FlowState) => {
    const draft = draftIn(state)
    checkRevision(baseRevision, draft)
    checkUnchanged?.(draft)
    checkBase(baseVersion, state.version)
    const current = state.version?.number ?? 0
    // The caller confirms that the draft replaces a newer version by naming that version.
    if (baseVersion === undefined && draft.baseVersion !== current)
      throw new Refusal(
        'conflict',
        `The draft is based on version ${draft.baseVersion}, but version ${current} was saved in the meantime. To replace it, publish with base_version ${current}.`,
      )
    return { name: draft.name, kind: draft.kind, content: contentOf(draft), rebuilds: true, endsDraft: true }
  }
  await publish(parts, flow, plan, actor)
}

/** Throws `Refusal` if there is no draft, or if the flow was never published. */
export async function discardDraft(
  db: Db,
  key: FlowKey,
  checkUnchanged: CheckUnchanged<Draft | undefined> | undefined,
): Promise<void> {
  await db.begin(async (tx) => {
    const { flow, draft } = await getFlow(tx, key, true)
    if (!draft) throw notFound('draft')
    checkUnchanged?.(draft)
    if (flow.versionId === null)
      throw new Refusal(
        'conflict',
        'This flow was never published, so its draft is all there is. Delete the flow instead.',
      )
    await deleteDraft(tx, flow.organizationId, flow.id)
  })
}

/** Creates an unpublished copy, with the unpublished changes if there are any. */
export async function duplicateFlow(
  parts: FlowParts,
  key: FlowKey,
  actor: Actor,
  name: string | undefined,
): Promise<FlowId> {
  const content = editedContentOf(await getFlow(parts.db, key))
  const copyName = [...`${copyPrefix}${content.name}`].slice(0, nameLengthMax).join('')
  return createDraftFlow(parts, key.organizationId, actor, { ...content, name: name ?? copyName })
}

/**
 * Returns the id of a version with the content of the draft, for test emails. It is not published and has no number.
 * Throws `Refusal` if there is no draft or its template is invalid.
 */
export async function getTestVersion(parts: FlowParts, organizationId: OrganizationId, flowId: FlowId) {
  const draft = draftIn(await getFlow(parts.db, { organizationId, id: flowId }))
  const compiled = await compileVersion(parts, organizationId, contentOf(draft))
  const [earlier] = draft.testVersionId
    ? await findVersions(parts.db, [{ organizationId, id: draft.testVersionId }])
    : []
  // The brand may have changed since then.
  if (earlier && isSameVersion(earlier, compiled)) return earlier.id
  const id = newId('flv')
  await parts.db.begin(async (tx) => {
    await insertVersion(tx, { ...compiled, organizationId, id, flowId }, draft.kind)
    updateTestVersion(tx, draft, id)
  })
  return id
}

/** Returns the unpublished changes; if there are none, what is published. */
function editedContentOf({ flow, version, draft }: FlowState): DraftContent {
  const { name, kind } = draft ?? flow
  return { name, kind, ...contentOf(draft ?? version!) }
}

function draftIn({ draft }: FlowState): Draft {
  if (!draft) throw new Refusal('conflict', 'This flow has no unpublished changes.')
  return draft
}

function writeDraft(tx: Tx, draft: NewDraft): void {
  replaceDraft(tx, draft)
  updateDraftRevision(tx, draft)
}

function checkRevision(base: number | undefined, draft: Draft | undefined): void {
  if (base === undefined || base === (draft?.revision ?? 0)) return
  throw new Refusal(
    'conflict',
    draft
      ? 'The draft of this flow was changed in the meantime. Reload it and apply your change again.'
      : 'The draft of this flow was published or discarded in the meantime. Reload it and apply your change again.',
  )
}
