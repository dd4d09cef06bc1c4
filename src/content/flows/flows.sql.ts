import { containsInAnyCase } from '../../platform/db/any-case.ts'
import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { first, hasRows, onlyValue } from '../../platform/db/rows.ts'
import { and, type Sql, sql } from '../../platform/db/sql.ts'
import { userOf } from '../../platform/values/actor.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import { type FlowId, type FlowVersionId, type OrganizationId, parseId } from '../../platform/values/ids.ts'
import type { BrandValues } from '../brands/brand-values.ts'
import type { Source } from './sources.ts'
import type { Utm } from './utm.ts'

/** `draft`: never published. */
export type FlowStatus = 'active' | 'paused' | 'archived' | 'draft'

/** The content of a flow. Every change of it creates a version. */
export type FlowContent = {
  subject: string
  source: Source
  text: string | null
  /** The hidden text that email clients show after the subject. */
  preheader: string | null
  fromName: string | null
  fromEmail: string | null
  replyTo: string | null
  utm: Utm | null
}

export type Version = FlowContent & {
  id: FlowVersionId
  flowId: FlowId
  /** Null for a draft of which test emails were sent. */
  number: number | null
  /** The kind of such a draft. The kind of other versions is that of the flow. */
  kind: FlowKind | null
  /** The compiled source. */
  html: string
  derivedText: string | null
  variables: { name: string; has_default: boolean }[]
  /** The values of `brand` when it was published. Null if the template does not read them. */
  brand: BrandValues | null
  createdAt: Date
}

export type Flow = {
  id: FlowId
  organizationId: OrganizationId
  name: string
  kind: FlowKind
  status: FlowStatus
  /** The published version; null if there is none. */
  versionId: FlowVersionId | null
  /** The revision of the latest draft. */
  draftRevision: number
  createdAt: Date
  updatedAt: Date
}

export type FlowKey = Pick<Flow, 'organizationId' | 'id'>
/** The columns that are written together. */
export type FlowRow = FlowKey & Pick<Flow, 'name' | 'kind' | 'status' | 'versionId'>

const flowColumns = sql`flows.id, flows.organization_id, flows.name, flows.kind, flows.status, flows.version_id,
  flows.draft_revision, flows.created_at, flows.updated_at`
const versionColumns = sql`versions.id, versions.flow_id, versions.number, versions.kind, versions.subject,
  json_build_object('format', versions.html_format, 'text', versions.source) as source, versions.html, versions.text, versions.derived_text, versions.from_name, versions.from_email,
  versions.reply_to, versions.preheader, versions.utm, versions.variables, versions.brand, versions.created_at`

export const insertFlow = (tx: Tx, flow: FlowRow) =>
  tx`
    insert into flows (organization_id, id, name, kind, status, version_id)
    values (${flow.organizationId}, ${flow.id}, ${flow.name}, ${flow.kind}, ${flow.status}, ${flow.versionId})`

export type NewVersion = Omit<Version, 'number' | 'kind' | 'createdAt'> & {
  organizationId: OrganizationId
}

/** `draftKind` is set for a draft of which test emails are sent: it has no number, because it is not published. */
export async function insertVersion(tx: Tx, version: NewVersion, draftKind: FlowKind | null = null): Promise<void> {
  const { organizationId, flowId } = version
  const number = draftKind === null ? await nextNumber(tx, organizationId, flowId) : null
  await tx`
    insert into flow_versions (organization_id, id, flow_id, kind, number, subject, source, html_format, html, text, derived_text,
      from_name, from_email, reply_to, preheader, utm, variables, brand, created_by)
    values (${organizationId}, ${version.id}, ${flowId},
      ${draftKind}, ${number}, ${version.subject}, ${version.source.text}, ${version.source.format}, ${version.html}, ${version.text}, ${version.derivedText},
      ${version.fromName}, ${version.fromEmail}, ${version.replyTo}, ${version.preheader}, ${version.utm && JSON.stringify(version.utm)},
      ${JSON.stringify(version.variables)}, ${version.brand && JSON.stringify(version.brand)}, ${userOf(tx.actor)})`
}

const nextNumber = (tx: Tx, organizationId: OrganizationId, flowId: FlowId) =>
  onlyValue(tx<{ number: number }>`
    select coalesce(max(number), 0) + 1 as number from flow_versions
    where organization_id = ${organizationId} and flow_id = ${flowId}`)

export const updateFlow = (tx: Tx, flow: FlowRow) =>
  tx`
    update flows
    set name = ${flow.name}, kind = ${flow.kind}, status = ${flow.status}, version_id = ${flow.versionId}, updated_at = now()
    where organization_id = ${flow.organizationId} and id = ${flow.id}`

/** Returns false if the flow does not exist. */
export const markFlowDeleted = (db: Writer, organizationId: OrganizationId, id: FlowId) =>
  hasRows(db`
    update flows set deleted_at = now(), status = 'archived'
    where organization_id = ${organizationId} and id = ${id} and deleted_at is null and not is_built_in
    returning id`)

export const findFlow = (db: Reader, organizationId: OrganizationId, id: FlowId, lock = false) =>
  first(
    db<Flow>`
    select ${flowColumns} from flows
    where organization_id = ${organizationId} and id = ${id} and deleted_at is null and not is_built_in
    ${lock ? sql`for update` : sql``}`,
  )

export const findVersions = (db: Reader, keys: { organizationId: OrganizationId; id: FlowVersionId }[]) =>
  db<Version>`
    select ${versionColumns}
    from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as key (organization_id, id)
    join flow_versions versions on versions.organization_id = key.organization_id and versions.id = key.id`

export type VersionSummary = Pick<Version, 'subject' | 'createdAt'> & { number: number; createdBy: string | null }

export const selectVersions = (db: Reader, organizationId: OrganizationId, flowId: FlowId) =>
  db<VersionSummary>`
    select versions.number, versions.subject, versions.created_at, users.email as created_by
    from flow_versions versions
    left join users on users.id = versions.created_by
    where versions.organization_id = ${organizationId} and flow_id = ${flowId} and number is not null
    order by number desc
    limit 200`

export const findVersionByNumber = (db: Reader, organizationId: OrganizationId, flowId: FlowId, number: number) =>
  first(
    db<Version>`
    select ${versionColumns} from flow_versions versions
    where organization_id = ${organizationId} and flow_id = ${flowId} and number = ${number}`,
  )

export type FlowSummary = Flow & {
  subject: string
  /** 0 if the flow was never published. */
  number: number
  /** Null, like the other fields of the draft, if there is none. */
  draftBaseVersion: number | null
  draftUpdatedAt: Date | null
  sent: number
  opensUnique: number
  clicksUnique: number
  bounces: number
}

export type FlowFilter = {
  status?: FlowStatus | undefined
  query?: string | undefined
  includesBuiltIn?: boolean | undefined
  before?: FlowId | undefined
  limit: number
}

/** The text is the id of the flow, or occurs in its name. */
function matchesQuery(query: string): Sql {
  const id = parseId('flw', query.trim().toLowerCase())
  return id ? sql`flows.id = ${id}` : containsInAnyCase(sql`flows.name`, query)
}

/** Newest first, with the statistics of the last 30 days. */
export async function selectFlows(
  db: Reader,
  organizationId: OrganizationId,
  filter: FlowFilter,
): Promise<FlowSummary[]> {
  const conditions = [
    sql`flows.organization_id = ${organizationId}`,
    sql`flows.deleted_at is null`,
    ...(filter.includesBuiltIn ? [] : [sql`not flows.is_built_in`]),
    filter.status ? sql`flows.status = ${filter.status}` : sql`flows.status <> 'archived'`,
    ...(filter.query ? [matchesQuery(filter.query)] : []),
    ...(filter.before ? [sql`flows.id < ${filter.before}`] : []),
  ]
  return db<FlowSummary>`
    select ${flowColumns}, coalesce(versions.subject, drafts.subject) as subject, coalesce(versions.number, 0) as number,
      drafts.base_version as draft_base_version, drafts.updated_at as draft_updated_at,
      coalesce(figures.sent, 0)::int8 as sent, coalesce(figures.opens, 0)::int8 as opens_unique,
      coalesce(figures.clicks, 0)::int8 as clicks_unique, coalesce(figures.bounces, 0)::int8 as bounces
    from flows
    left join flow_versions versions on versions.organization_id = ${organizationId} and versions.id = flows.version_id
    left join flow_drafts drafts on drafts.organization_id = ${organizationId} and drafts.flow_id = flows.id
    left join lateral (
      -- Emails, as in the results of a flow (src/engagement/reports/flow-results.ts).
      select sum(uniques) filter (where event_name in ('emailSent', 'emailRejected')) as sent,
        sum(uniques) filter (where event_name = 'emailOpen') as opens,
        sum(uniques) filter (where event_name = 'emailClick') as clicks,
        sum(uniques) filter (where event_name in ('emailReturned', 'emailRejected')) as bounces
      from event_counters
      where organization_id = ${organizationId} and flow_id = flows.id and grain = 'day'
        and event_name = any ('{emailSent,emailOpen,emailClick,emailReturned,emailRejected}')
        and starts_at > now() - interval '30 days'
    ) figures on true
    where ${and(conditions)}
    order by flows.id desc
    limit ${filter.limit}`
}
