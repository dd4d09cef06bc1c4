import { isDeepStrictEqual } from 'node:util'
import type { Senders } from '../../delivery/delivery.ts'
import type { Db, Reader } from '../../platform/db/db.ts'
import type { UsedByBroadcasts } from '../../platform/http/policies.ts'
import type { Actor } from '../../platform/values/actor.ts'
import { parseEmailField } from '../../platform/values/email.ts'
import { invalid, Refusal } from '../../platform/values/errors.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import { newId, type OrganizationId } from '../../platform/values/ids.ts'
import { isLongerThan } from '../../platform/values/text.ts'
import { deleteDraft } from './drafts.sql.ts'
import {
  contentOf,
  type FlowContent,
  type FlowKey,
  type FlowRow,
  type FlowState,
  getFlow,
  type Version,
} from './flow-state.ts'
import { type FlowStatus, insertFlow, insertVersion, type NewVersion, updateFlow } from './flows.sql.ts'
import { toFieldProblems } from './preview.ts'
import type { TemplateRunner } from './template-runner.ts'

const versionsMax = 10_000
const senderNameMax = 200
/** Of concurrent changes, one succeeds per round, so this many can succeed. */
const triesMax = 10

export type FlowParts = { db: Db; senders: Pick<Senders, 'check'>; runner: TemplateRunner }

/** A flow that exists, for a request. */
export type FlowTarget = FlowKey & {
  /** Throws `Refusal` if a scheduled broadcast uses it and the caller may not decide what many contacts get. */
  checkScheduled: (changed: UsedByBroadcasts) => Promise<void>
}
/** No broadcast uses it. */
type NewFlow = FlowRow & { checkScheduled?: never }

/** What is published. Omitted fields keep their value; a flow that was never published becomes active. */
export type Publication = {
  name?: string | undefined
  kind?: FlowKind | undefined
  status?: FlowStatus | undefined
  content?: FlowContent | undefined
  /** Also content that stays the same is compiled, with the current brand and parts. */
  rebuilds?: boolean
  /** The content is that of the draft, which ends. */
  endsDraft?: boolean
}

/** What publishing changes. The version is undefined if emails stay the same. */
export type Change = Pick<FlowRow, 'name' | 'kind' | 'status'> & { version: CompiledVersion | undefined }

/**
 * The only way to publish: creates a version of the content, unless emails would be the same, and writes it with the other
 * fields to the flow. Versions are never edited. Compiling takes time, and nothing is locked during it: if the flow was
 * changed in the meantime so that `plan` returns other content, that is published instead. A dry run writes nothing.
 * `changesEmails` is false if only the name or the status is given.
 *
 * `plan` decides what is published, given the current state. It is called several times, at last while the flow is
 * locked, and throws `Refusal` if the state does not allow it. Throws `Refusal` if the template is invalid or the sender
 * is not allowed.
 */
export async function publish(
  parts: FlowParts,
  target: FlowTarget | NewFlow,
  plan: (state: FlowState) => Publication,
  actor: Actor,
  { changesEmails = true, dryRun = false }: { changesEmails?: boolean; dryRun?: boolean } = {},
): Promise<Change> {
  const { organizationId, id, checkScheduled } = target
  const read = async (db: Reader, lock = false): Promise<FlowState> =>
    target.checkScheduled ? getFlow(db, target, lock) : { flow: target, version: undefined, draft: undefined }
  if (changesEmails) await checkScheduled?.({ flowId: id })
  for (let tries = 0; tries < triesMax; tries++) {
    const state = await read(parts.db)
    const planned = plan(state)
    const compiled = needsVersion(planned, state)
      ? await compileVersion(parts, organizationId, planned.content)
      : undefined
    if (dryRun) return changeOf(state, planned, compiled)

    const done = await parts.db.by(actor).begin(async (tx) => {
      const locked = await read(tx, true)
      const publication = plan(locked)
      const isOutdated = !compiled && needsVersion(publication, locked)
      if (isOutdated || !isDeepStrictEqual(publication.content, planned.content)) return undefined
      const change = changeOf(locked, publication, compiled)
      const { version, ...fields } = change
      // Emails of a flow that was only rebuilt stay the same.
      if (publication.rebuilds && !publication.endsDraft && !version) return change
      const versionId = version ? newId('flv') : locked.flow.versionId
      await (checkScheduled ? updateFlow : insertFlow)(tx, { ...locked.flow, ...fields, versionId })
      if (version) await insertVersion(tx, { ...version, organizationId, id: versionId!, flowId: id })
      if (publication.endsDraft) await deleteDraft(tx, organizationId, id)
      return change
    })
    if (done) return done
  }
  throw new Refusal('conflict', 'The flow is being changed by several requests at the same time. Try again.')
}

const needsVersion = (
  publication: Publication,
  { version }: FlowState,
): publication is Publication & { content: FlowContent } =>
  publication.content !== undefined &&
  (publication.rebuilds || !version || !isDeepStrictEqual(publication.content, contentOf(version)))

function changeOf(
  { flow, version }: FlowState,
  { name = flow.name, kind = flow.kind, status = flow.status === 'draft' ? 'active' : flow.status }: Publication,
  compiled: CompiledVersion | undefined,
): Change {
  if (!compiled || (version && isSameVersion(version, compiled))) return { name, kind, status, version: undefined }
  if (version && version.number! >= versionsMax)
    throw new Refusal('conflict', 'This flow has too many versions. Create a new flow.')
  return { name, kind, status, version: compiled }
}

type CompiledVersion = Omit<NewVersion, 'organizationId' | 'id' | 'flowId'>

/** Throws `Refusal` if the template is invalid or the sender is not allowed. */
export async function compileVersion(
  { senders, runner }: FlowParts,
  organizationId: OrganizationId,
  content: FlowContent,
): Promise<CompiledVersion> {
  await checkSender(organizationId, content, senders)
  const { subject, source, text, preheader } = content
  const compilation = await runner.compile(organizationId, { subject, source, text, preheader })
  if (compilation.kind === 'faulty') {
    const [first, ...rest] = toFieldProblems(compilation.problems)
    throw new Refusal('validation_failed', `${first!.path}, line ${first!.line}: ${first!.problem}`, {
      fields: [first!, ...rest],
    })
  }
  const { stored } = compilation
  return {
    ...content,
    html: stored.html,
    derivedText: stored.text.from === 'template' ? stored.text.source : null,
    variables: variablesOut(compilation),
    brand: stored.brand,
  }
}

export const variablesOut = ({ variables }: { variables: readonly { name: string; hasDefault: boolean }[] }) =>
  variables.map(({ name, hasDefault }) => ({ name, has_default: hasDefault }))

/** Whether emails of both are the same: they have the same content, with the same brand and parts. */
export const isSameVersion = (version: Version, compiled: CompiledVersion): boolean =>
  isDeepStrictEqual(contentOf(version), contentOf(compiled)) &&
  version.html === compiled.html &&
  isDeepStrictEqual(version.brand, compiled.brand)

export async function checkSender(
  organizationId: OrganizationId,
  { fromName, fromEmail, replyTo }: FlowContent,
  senders: FlowParts['senders'],
  db?: Reader,
): Promise<void> {
  if (fromEmail !== null) parseEmailField('from_email', fromEmail)
  if (replyTo !== null) parseEmailField('reply_to', replyTo)
  await senders.check({ organizationId, address: fromEmail }, db)
  if (fromName !== null && isLongerThan(fromName, senderNameMax))
    throw invalid({ path: 'from_name', problem: `must have at most ${senderNameMax} characters` })
}
