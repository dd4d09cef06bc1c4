import type { Db, Tx } from '../../platform/db/db.ts'
import type { CheckUnchanged } from '../../platform/http/etag.ts'
import type { Actor } from '../../platform/values/actor.ts'
import { notFound, Refusal } from '../../platform/values/errors.ts'
import { type FlowId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import { checkName } from '../../platform/values/names.ts'
import {
  type Draft,
  deleteDraft,
  findDraft,
  type NewDraft,
  replaceDraft,
  updateDraftRevision,
  updateTestVersion,
} from './drafts.sql.ts'
import { type Flow, findFlow, findVersions, insertFlow, insertVersion, updateFlow } from './flows.sql.ts'
import {
  checkBase,
  checkSender,
  compileVersion,
  contentOf,
  type FlowContent,
  type FlowInput,
  type FlowParts,
  givenFields,
  isSameVersion,
  versionsMax,
} from './flows.ts'

export type { Draft } from './drafts.sql.ts'

/** The fields of a flow that are published together. */
export type DraftContent = Omit<FlowInput, 'status'>

/** `baseRevision` is the revision of the draft that the change is based on, 0 if there was none. */
export type DraftChanges = Partial<DraftContent> & {
  baseVersion?: number | undefined
  baseRevision?: number | undefined
  checkUnchanged?: CheckUnchanged<Draft | undefined> | undefined
}

/** Of concurrent changes, one succeeds per round, so this many can succeed. */
const triesMax = 10
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
  const checked = { ...content, name: checkName(content.name) }
  await checkSender(organizationId, checked, senders)
  const { name, kind } = checked
  await db.by(actor).begin(async (tx) => {
    await insertFlow(tx, { organizationId, id: flowId, name, kind, status: 'draft', versionId: null })
    writeDraft(tx, { organizationId, flowId, revision: 1, baseVersion: 0, ...checked })
  })
  return flowId
}

export async function getDraft(db: Db, organizationId: OrganizationId, flowId: FlowId): Promise<Draft> {
  if (!(await findFlow(db, organizationId, flowId))) throw notFound('flow')
  const draft = await findDraft(db, organizationId, flowId)
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
  organizationId: OrganizationId,
  actor: Actor,
  flowId: FlowId,
  changes: DraftChanges,
): Promise<void> {
  await db.by(actor).begin(async (tx) => {
    const { flow, draft, version } = await lockFlow(tx, organizationId, flowId)
    changes.checkUnchanged?.(draft)
    checkRevision(changes.baseRevision, draft)
    const current = version?.number ?? 0
    checkBase(changes.baseVersion, current)
    const before = draft ? draftContentOf(draft) : { name: flow.name, kind: flow.kind, ...contentOf(version!) }
    const after = { ...before, ...givenFields(changes, before) }
    const content = { ...after, name: checkName(after.name) }
    await checkSender(organizationId, content, senders, tx)
    const revision = flow.draftRevision + 1
    const baseVersion = changes.baseVersion ?? draft?.baseVersion ?? current
    writeDraft(tx, { organizationId, flowId, revision, baseVersion, ...content })
  })
}

/**
 * Publishes the draft: creates a version, which emails are sent with from now on. Throws `Refusal` if there is no draft,
 * if its template is invalid, if `baseRevision` is outdated, or if another version was published since the draft was
 * started and `baseVersion` does not name it.
 */
export async function publishDraft(
  parts: FlowParts,
  organizationId: OrganizationId,
  actor: Actor,
  flowId: FlowId,
  guards: Pick<DraftChanges, 'baseVersion' | 'baseRevision' | 'checkUnchanged'>,
): Promise<void> {
  const { db } = parts
  for (let tries = 0; tries < triesMax; tries++) {
    const draft = await findDraftOf(db, organizationId, flowId)
    if (!draft) throw new Refusal('conflict', 'This flow has no unpublished changes.')
    checkRevision(guards.baseRevision, draft)
    // Compiling takes time, and nothing is locked during it.
    const compiled = await compileVersion(parts, organizationId, templateOf(draft))

    const isDone = await db.by(actor).begin(async (tx) => {
      const { flow, draft: now, version } = await lockFlow(tx, organizationId, flowId)
      guards.checkUnchanged?.(now)
      if (now?.revision !== draft.revision) return false
      checkPublishedVersion(guards.baseVersion, draft, version?.number ?? 0)
      const isSame = version && isSameVersion(version, compiled)
      if (!isSame && version && version.number! >= versionsMax)
        throw new Refusal('conflict', 'This flow has too many versions. Create a new flow.')
      const versionId = isSame ? version.id : newId('flv')
      if (!isSame) await insertVersion(tx, { ...compiled, organizationId, id: versionId, flowId })
      const status = flow.status === 'draft' ? 'active' : flow.status
      await updateFlow(tx, { organizationId, id: flowId, name: draft.name, kind: draft.kind, status, versionId })
      await deleteDraft(tx, organizationId, flowId)
      return true
    })
    if (isDone) return
  }
  throw new Refusal('conflict', 'The draft is being changed by several requests at the same time. Try again.')
}

/** Throws `Refusal` if there is no draft, or if the flow was never published. */
export async function discardDraft(
  db: Db,
  organizationId: OrganizationId,
  flowId: FlowId,
  checkUnchanged: CheckUnchanged<Draft | undefined> | undefined,
): Promise<void> {
  await db.begin(async (tx) => {
    const { flow, draft } = await lockFlow(tx, organizationId, flowId)
    if (!draft) throw notFound('draft')
    checkUnchanged?.(draft)
    if (flow.versionId === null)
      throw new Refusal(
        'conflict',
        'This flow was never published, so its draft is all there is. Delete the flow instead.',
      )
    await deleteDraft(tx, organizationId, flowId)
  })
}

/** Creates an unpublished copy, with the unpublished changes if there are any. */
export async function duplicateFlow(
  parts: FlowParts,
  organizationId: OrganizationId,
  actor: Actor,
  flowId: FlowId,
  name: string | undefined,
): Promise<FlowId> {
  const flow = await findFlow(parts.db, organizationId, flowId)
  if (!flow) throw notFound('flow')
  const draft = await findDraft(parts.db, organizationId, flowId)
  const content = draft ? draftContentOf(draft) : await publishedContentOf(parts.db, flow)
  const copyName = [...`${copyPrefix}${content.name}`].slice(0, nameLengthMax).join('')
  return createDraftFlow(parts, organizationId, actor, { ...content, name: name ?? copyName })
}

/**
 * Returns the id of a version with the content of the draft, for test emails. It is not published and has no number.
 * Throws `Refusal` if there is no draft or its template is invalid.
 */
export async function getTestVersion(parts: FlowParts, organizationId: OrganizationId, flowId: FlowId) {
  const draft = await findDraftOf(parts.db, organizationId, flowId)
  if (!draft) throw new Refusal('conflict', 'This flow has no unpublished changes.')
  const compiled = await compileVersion(parts, organizationId, templateOf(draft))
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

const draftContentOf = ({ name, kind, ...rest }: Draft): DraftContent => ({ name, kind, ...templateOf(rest) })

function templateOf(draft: FlowContent): FlowContent {
  const { subject, html, htmlFormat, text, fromName, fromEmail, replyTo, preheader, utm } = draft
  return { subject, html, htmlFormat, text, fromName, fromEmail, replyTo, preheader, utm }
}

async function publishedContentOf(db: Db, { organizationId, versionId, name, kind }: Flow): Promise<DraftContent> {
  const [version] = versionId ? await findVersions(db, [{ organizationId, id: versionId }]) : []
  if (!version) throw notFound('flow')
  return { name, kind, ...contentOf(version) }
}

async function findDraftOf(db: Db, organizationId: OrganizationId, flowId: FlowId): Promise<Draft | undefined> {
  if (!(await findFlow(db, organizationId, flowId))) throw notFound('flow')
  return findDraft(db, organizationId, flowId)
}

/** Every change of a draft locks its flow first. */
async function lockFlow(tx: Tx, organizationId: OrganizationId, flowId: FlowId) {
  const flow = await findFlow(tx, organizationId, flowId, true)
  if (!flow) throw notFound('flow')
  const draft = await findDraft(tx, organizationId, flowId)
  const [version] = flow.versionId ? await findVersions(tx, [{ organizationId, id: flow.versionId }]) : []
  return { flow, draft, version }
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

/** The caller confirms that the draft replaces a newer version by naming that version. */
function checkPublishedVersion(base: number | undefined, draft: Draft, current: number): void {
  checkBase(base, current)
  if (base === undefined && draft.baseVersion !== current)
    throw new Refusal(
      'conflict',
      `The draft is based on version ${draft.baseVersion}, but version ${current} was saved in the meantime. To replace it, publish with base_version ${current}.`,
    )
}
