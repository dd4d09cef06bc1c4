import type { Reader } from '../../platform/db/db.ts'
import { invalid, notFound, Refusal } from '../../platform/values/errors.ts'
import { type Draft, findDraft } from './drafts.sql.ts'
import { type FlowContent, type FlowKey, type FlowRow, findFlow, findVersions, type Version } from './flows.sql.ts'
import type { Source } from './sources.ts'

export type { Draft } from './drafts.sql.ts'
export type { Flow, FlowContent, FlowKey, FlowRow, Version } from './flows.sql.ts'

/** A flow has a published version or a draft, or both. */
export type FlowState = { flow: FlowRow; version: Version | undefined; draft: Draft | undefined }

/** Every change of a flow, its versions or its draft locks the flow first. */
export async function getFlow(db: Reader, { organizationId, id }: FlowKey, lock = false) {
  const flow = await findFlow(db, organizationId, id, lock)
  if (!flow) throw notFound('flow')
  const [[version], draft] = await Promise.all([
    flow.versionId ? findVersions(db, [{ organizationId, id: flow.versionId }]) : [],
    findDraft(db, organizationId, id),
  ])
  // Published or deleted between the two queries.
  if (!version && !draft) throw notFound('flow')
  return { flow, version, draft }
}

/** Returns the content of a version or a draft. */
export const contentOf = (row: FlowContent): FlowContent => ({
  subject: row.subject,
  source: row.source,
  text: row.text,
  fromName: row.fromName,
  fromEmail: row.fromEmail,
  replyTo: row.replyTo,
  preheader: row.preheader,
  utm: row.utm,
})

/** The fields that a request sets. Each field of the source can be set alone. */
export type Changes<Content extends { source: Source }> = Partial<Omit<Content, 'source'>> & {
  source?: { [Name in keyof Source]: Source[Name] | undefined }
}

/** Returns the content with the fields of `changes` that are set and belong to it. */
export function withChanges<Content extends { source: Source }>(content: Content, changes: Changes<Content>): Content {
  const set = Object.entries(changes).filter(([name, value]) => name in content && value !== undefined)
  const { format = content.source.format, text = content.source.text } = changes.source ?? {}
  return { ...content, ...Object.fromEntries(set), source: { format, text } }
}

/** Throws `Refusal` if a change is based on another version than the current one. */
export function checkBase(base: number | undefined, version: Version | undefined): void {
  const current = version?.number ?? 0
  if (base === undefined || base === current) return
  if (base > current) throw invalid({ path: 'base_version', problem: `must be at most ${current}, the latest version` })
  throw new Refusal(
    'conflict',
    `Version ${current} of this flow was saved in the meantime. Reload it and apply your change again.`,
  )
}
