import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { targetOf } from '../../accounts/accounts.ts'
import type { Db } from '../../platform/db/db.ts'
import { FieldProblemOut, Named, Nullable, oneOf, Timestamp } from '../../platform/http/envelope.ts'
import { etagOf } from '../../platform/http/etag.ts'
import { fieldsIn, outOf } from '../../platform/http/out-of.ts'
import { toText } from '../../platform/values/ids.ts'
import { blockerCodes } from './blockers.ts'
import { checkNames } from './email-checks.ts'
import { contentOf, type FlowContent, type FlowKey, type FlowRow, getFlow, type Version } from './flow-state.ts'
import type { FlowSummary } from './flows.sql.ts'
import type { FlowTarget } from './publish.ts'
import type { Source } from './sources.ts'
import { UtmIn, UtmOut } from './utm.shapes.ts'
import { parseUtm } from './utm.ts'

// The shapes of flows, versions and drafts in requests and responses.

const Kind = oneOf('transactional', 'marketing')
/** A flow that was never published has the status `draft`, which cannot be set. */
export const SettableStatus = oneOf('active', 'paused', 'archived')
export const Status = oneOf('active', 'paused', 'archived', 'draft')
const Format = oneOf('html', 'mjml')
const Text = (maxLength: number) => Type.String({ maxLength })

/** The fields of a flow that are published together. */
export const draftFields = {
  name: Text(200),
  kind: Kind,
  subject: Text(2_000),
  html: Text(600_000),
  html_format: Type.Optional(Format),
  text: Type.Optional(Nullable(Text(600_000))),
  from_name: Type.Optional(Nullable(Text(500))),
  from_email: Type.Optional(Nullable(Text(500))),
  reply_to: Type.Optional(Nullable(Text(500))),
  preheader: Type.Optional(Nullable(Text(600))),
  utm: Type.Optional(UtmIn),
}
const DraftFields = Type.Object(draftFields)

export const VariableOut = Named('Variable', { name: Type.String(), has_default: Type.Boolean() })
export const BlockerCode = oneOf(...blockerCodes)
/** What `checkEmail` returns. */
export const BlockersOut = Type.Array(Named('Blocker', { code: BlockerCode, message: Type.String() }), {
  description:
    'What makes the email useless or unlawful for its recipients, with the senders and addresses that would be used now: links that only this machine can open, a sender that is rejected or not verified, a marketing email without a postal address. It does not prevent sending.',
})
export const checkFields = {
  blockers: BlockersOut,
  findings: Type.Array(
    Named('EmailFinding', {
      check: oneOf(...checkNames),
      ...FieldProblemOut.properties,
      advice: Type.String({ description: 'How to correct it.' }),
    }),
    { description: 'What should be corrected before the email is sent. It does not prevent sending.' },
  ),
  links: Type.Array(Type.String(), {
    description: 'The http links of the email, at most 50. Whether they can be reached is checked on request.',
  }),
  html_bytes: Type.Integer({ description: 'The size of the HTML as it is sent, with tracked links.' }),
}
const templateOut = {
  subject: Type.String(),
  html: Type.String(),
  html_format: Format,
  text: Nullable(Type.String()),
  from_name: Nullable(Type.String()),
  from_email: Nullable(Type.String()),
  reply_to: Nullable(Type.String()),
  preheader: Nullable(Type.String()),
  utm: UtmOut,
}
export const contentOut = { ...templateOut, variables: Type.Array(VariableOut) }

const draftMark = {
  revision: Type.Integer({ description: 'Increases with every change of the draft.' }),
  base_version: Type.Integer({ description: 'The published version that the draft is based on; 0 if there was none.' }),
  updated_at: Timestamp,
}
export const DraftOut = Named('FlowDraft', {
  flow_id: Type.String(),
  ...draftMark,
  updated_by: Nullable(Type.String({ description: 'The email address of the user.' })),
  name: Type.String(),
  kind: Kind,
  ...templateOut,
})
const Unpublished = Nullable(
  Named('UnpublishedChanges', draftMark, { description: 'The unpublished changes; null if there are none.' }),
)
const PublishedVersion = Type.Integer({ description: 'The published version; 0 if the flow was never published.' })
export const FlowOut = Named('Flow', {
  id: Type.String(),
  name: Type.String(),
  kind: Kind,
  status: Status,
  version: PublishedVersion,
  ...contentOut,
  draft: Unpublished,
  created_at: Timestamp,
  updated_at: Timestamp,
})
const count = Type.Integer()
const Stats = Type.Object({
  sent: Type.Integer({ description: 'Emails that were delivered or bounced.' }),
  opens_unique: count,
  clicks_unique: count,
  bounces: Type.Integer({ description: 'Emails that bounced, each once, by the day on which they were sent.' }),
})
export const FlowSummaryOut = Named('FlowSummary', {
  id: Type.String(),
  name: Type.String(),
  kind: Kind,
  status: Status,
  subject: Type.String(),
  version: PublishedVersion,
  draft: Unpublished,
  created_at: Timestamp,
  updated_at: Timestamp,
  stats_30d: Stats,
})

/** The flow in the path of a request. */
export function flowIn(request: FastifyRequest): FlowTarget {
  const [organizationId, id] = targetOf(request, 'flw')
  return { organizationId, id, checkScheduled: (changed) => request.checkScheduled(changed) }
}

const toFields = fieldsIn(DraftFields)
const emptiable = ['text', 'fromName', 'fromEmail', 'replyTo', 'preheader'] as const

/** Returns the fields of a flow in a request. Omitted fields stay omitted; empty texts become null. */
export function contentIn(body: Partial<Static<typeof DraftFields>>) {
  const fields: Partial<ReturnType<typeof toFields>> = toFields(body as Static<typeof DraftFields>)
  const { utm, html, htmlFormat, ...content } = fields
  for (const name of emptiable) if (content[name] === '') content[name] = null
  return {
    ...content,
    ...((html ?? htmlFormat) !== undefined && { source: { text: html, format: htmlFormat } }),
    ...(utm !== undefined && { utm: parseUtm(utm) }),
  }
}

/** The content of a new flow before its fields are set. */
export const emptyContent: FlowContent = {
  subject: '',
  source: { format: 'html', text: '' },
  text: null,
  fromName: null,
  fromEmail: null,
  replyTo: null,
  preheader: null,
  utm: null,
}

const sourceOut = {
  html: ({ source }: { source: Source }) => source.text,
  html_format: ({ source }: { source: Source }) => source.format,
}
const toTemplateOut = outOf(Type.Object(templateOut), {}, sourceOut)

export const toContentOut = (version: Version) => ({
  ...toTemplateOut(contentOf(version)),
  variables: version.variables,
})

const toMark = outOf(Type.Object(draftMark), {})

export const toDraftOut = outOf(DraftOut, { flow_id: 'flw' }, sourceOut)

export const tagOfFlow = ({ name, kind, status, versionId }: FlowRow) => etagOf(name, kind, status, versionId)

/** Reads the flow, and sets the entity tag of the response. The content of a flow that was never published is its draft. */
export async function flowOut(db: Db, key: FlowKey, reply: FastifyReply) {
  const { flow, version, draft } = await getFlow(db, key)
  reply.header('etag', tagOfFlow(flow))
  const { name, kind, status } = flow
  return {
    id: toText('flw', flow.id),
    name,
    kind,
    status,
    version: version?.number ?? 0,
    ...(version ? toContentOut(version) : { ...toTemplateOut(draft!), variables: [] }),
    draft: draft ? toMark(draft) : null,
    created_at: flow.createdAt.toISOString(),
    updated_at: flow.updatedAt.toISOString(),
  }
}

function markOf({ draftRevision: revision, draftBaseVersion: baseVersion, draftUpdatedAt: updatedAt }: FlowSummary) {
  return baseVersion === null || updatedAt === null ? null : toMark({ revision, baseVersion, updatedAt })
}

export const toSummaryOut = outOf(
  FlowSummaryOut,
  { id: 'flw' },
  { version: ({ number }: FlowSummary) => number, draft: markOf, stats_30d: outOf(Stats, {}) },
)
