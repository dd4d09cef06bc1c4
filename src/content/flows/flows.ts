import { isDeepStrictEqual } from 'node:util'
import type { Senders } from '../../delivery/delivery.ts'
import type { Db, Reader } from '../../platform/db/db.ts'
import type { CheckUnchanged } from '../../platform/http/etag.ts'
import type { Actor } from '../../platform/values/actor.ts'
import { parseEmailField } from '../../platform/values/email.ts'
import { invalid, notFound, Refusal } from '../../platform/values/errors.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import { type FlowId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import { checkName } from '../../platform/values/names.ts'
import { isLongerThan } from '../../platform/values/text.ts'
import { findDraft } from './drafts.sql.ts'
import {
  type Flow,
  type FlowContent,
  type FlowStatus,
  findFlow,
  findVersions,
  insertFlow,
  insertVersion,
  markFlowDeleted,
  type NewVersion,
  updateFlow,
  type Version,
} from './flows.sql.ts'
import { toFieldProblems } from './preview.ts'
import type { TemplateRunner } from './template-runner.ts'

export type { Flow, FlowContent, Version } from './flows.sql.ts'

export type FlowInput = FlowContent & { name: string; kind: FlowKind; status: Exclude<FlowStatus, 'draft'> }

export const versionsMax = 10_000
const senderNameMax = 200
/** Of concurrent updates, one succeeds per round, so this many can succeed. */
const triesMax = 10

export type FlowParts = { db: Db; senders: Pick<Senders, 'check'>; runner: TemplateRunner }

/** Throws `Refusal` if the template is invalid or the sender is not allowed. */
export async function createFlow(
  parts: FlowParts,
  organizationId: OrganizationId,
  actor: Actor,
  input: FlowInput,
): Promise<FlowId> {
  const version = await compileVersion(parts, organizationId, input)
  const id = newId('flw')
  const versionId = newId('flv')
  await parts.db.by(actor).begin(async (tx) => {
    await insertFlow(tx, {
      organizationId,
      id,
      name: checkName(input.name),
      kind: input.kind,
      status: input.status,
      versionId,
    })
    await insertVersion(tx, { ...version, organizationId, id: versionId, flowId: id })
  })
  return id
}

/** `baseVersion` is the number of the version that the change is based on. */
export type FlowChanges = Partial<FlowInput> & {
  baseVersion?: number | undefined
  checkUnchanged?: CheckUnchanged<Flow> | undefined
}

/**
 * Updates the given fields; a change of the content creates a version. Compiling takes time, and nothing is locked
 * during it: if another version was saved in the meantime, the change is applied again on top of it, so that neither is
 * lost. Throws `Refusal` if `baseVersion` is outdated.
 */
export async function changeFlow(
  parts: FlowParts,
  organizationId: OrganizationId,
  actor: Actor,
  id: FlowId,
  changes: FlowChanges,
): Promise<void> {
  const { db } = parts
  const { baseVersion, kind, status } = changes
  const name = changes.name === undefined ? undefined : checkName(changes.name)
  for (let tries = 0; tries < triesMax; tries++) {
    const { flow: read, version } = await getFlow(db, organizationId, id)
    if (!version) throw neverPublished()
    checkBase(baseVersion, version.number ?? 0)
    const before = contentOf(version)
    const changed = givenFields(changes, before)
    const compiled = await compileChange(parts, organizationId, version, { ...before, ...changed })
    // A change of the status alone does not depend on the content.
    const needsVersion = baseVersion !== undefined || Object.keys(changed).length > 0

    const isDone = await db.by(actor).begin(async (tx) => {
      const current = await findFlow(tx, organizationId, id, true)
      if (!current) throw notFound('flow')
      changes.checkUnchanged?.(current)
      if (needsVersion && current.versionId !== read.versionId) return false
      const versionId = compiled ? newId('flv') : current.versionId!
      if (compiled) await insertVersion(tx, { ...compiled, organizationId, id: versionId, flowId: id })
      await updateFlow(tx, {
        ...current,
        name: name ?? current.name,
        kind: kind ?? current.kind,
        status: status ?? current.status,
        versionId,
      })
      return true
    })
    if (isDone) return
  }
  throw new Refusal('conflict', 'The flow is being changed by several requests at the same time. Try again.')
}

export async function deleteFlow(db: Db, organizationId: OrganizationId, id: FlowId): Promise<void> {
  if (!(await markFlowDeleted(db.statement, organizationId, id))) throw notFound('flow')
}

/** A flow has a published version or a draft, or both. */
export async function getFlow(db: Db, organizationId: OrganizationId, id: FlowId) {
  const flow = await findFlow(db, organizationId, id)
  if (!flow) throw notFound('flow')
  const [[version], draft] = await Promise.all([
    flow.versionId ? findVersions(db, [{ organizationId, id: flow.versionId }]) : [],
    findDraft(db, organizationId, id),
  ])
  // Published or deleted between the two queries.
  if (!version && !draft) throw notFound('flow')
  return { flow, version, draft }
}

const neverPublished = () =>
  new Refusal('conflict', 'This flow was never published. Save its draft, and publish it first.')

export const contentOf = (version: Version): FlowContent => ({
  subject: version.subject,
  html: version.source,
  htmlFormat: version.htmlFormat,
  text: version.text,
  fromName: version.fromName,
  fromEmail: version.fromEmail,
  replyTo: version.replyTo,
  preheader: version.preheader,
  utm: version.utm,
})

export const variablesOut = ({ variables }: { variables: readonly { name: string; hasDefault: boolean }[] }) =>
  variables.map(({ name, hasDefault }) => ({ name, has_default: hasDefault }))

export type CompiledVersion = Omit<NewVersion, 'organizationId' | 'id' | 'flowId'>

/** Throws `Refusal` if the template is invalid or the sender is not allowed. */
export async function compileVersion(
  { senders, runner }: FlowParts,
  organizationId: OrganizationId,
  content: FlowContent,
): Promise<CompiledVersion> {
  await checkSender(organizationId, content, senders)
  const { subject, html, htmlFormat, text, preheader } = content
  const compilation = await runner.compile(organizationId, { subject, html, htmlFormat, text, preheader })
  if (compilation.kind === 'faulty') {
    const [first, ...rest] = toFieldProblems(compilation.problems)
    throw new Refusal('validation_failed', `${first!.path}, line ${first!.line}: ${first!.problem}`, {
      fields: [first!, ...rest],
    })
  }
  const { stored } = compilation
  return {
    ...content,
    source: content.html,
    html: stored.html,
    derivedText: stored.text.from === 'template' ? stored.text.source : null,
    variables: variablesOut(compilation),
    brand: stored.brand,
  }
}

/** Whether emails of both are the same: they have the same content, with the same brand and parts. */
export const isSameVersion = (version: Version, { source: html, ...compiled }: CompiledVersion): boolean =>
  isDeepStrictEqual(contentOf(version), contentOf({ ...version, ...compiled, source: html })) &&
  version.html === compiled.html &&
  isDeepStrictEqual(version.brand, compiled.brand)

/** Returns undefined if the content equals that of `version`. */
async function compileChange(parts: FlowParts, organizationId: OrganizationId, version: Version, content: FlowContent) {
  if (isDeepStrictEqual(content, contentOf(version))) return undefined
  if (version.number! >= versionsMax)
    throw new Refusal('conflict', 'This flow has too many versions. Create a new flow.')
  return compileVersion(parts, organizationId, content)
}

/** Throws `Refusal` if a change is based on another version than the current one. */
export function checkBase(base: number | undefined, current: number): void {
  if (base === undefined || base === current) return
  if (base > current) throw invalid({ path: 'base_version', problem: `must be at most ${current}, the latest version` })
  throw new Refusal(
    'conflict',
    `Version ${current} of this flow was saved in the meantime. Reload it and apply your change again.`,
  )
}

export async function checkSender(
  organizationId: OrganizationId,
  { fromName, fromEmail, replyTo }: FlowContent,
  senders: FlowParts['senders'],
  db?: Reader,
): Promise<void> {
  for (const [path, value] of [
    ['from_email', fromEmail],
    ['reply_to', replyTo],
  ] as const) {
    if (value !== null) parseEmailField(path, value)
  }
  await senders.check({ organizationId, address: fromEmail }, db)
  if (fromName !== null && isLongerThan(fromName, senderNameMax))
    throw invalid({ path: 'from_name', problem: `must have at most ${senderNameMax} characters` })
}

/** Returns the fields of `changes` that are set and belong to `like`. */
export function givenFields<Like extends object>(changes: Partial<Like>, like: Like): Partial<Like> {
  return Object.fromEntries(
    Object.entries(changes).filter(([name, value]) => name in like && value !== undefined),
  ) as Partial<Like>
}
