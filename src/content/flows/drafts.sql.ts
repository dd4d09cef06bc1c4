import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { first, hasRows } from '../../platform/db/rows.ts'
import { userOf } from '../../platform/values/actor.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import type { FlowId, FlowVersionId, OrganizationId } from '../../platform/values/ids.ts'
import type { FlowContent } from './flows.sql.ts'

export type Draft = FlowContent & {
  organizationId: OrganizationId
  flowId: FlowId
  /** Increases with every change, also across drafts of the same flow. */
  revision: number
  /** The number of the published version that the draft is based on; 0 if there was none. */
  baseVersion: number
  name: string
  kind: FlowKind
  /** The version of test emails of this revision, if any were sent. */
  testVersionId: FlowVersionId | null
  updatedAt: Date
  /** The email address of the user; null for API keys and removed users. */
  updatedBy: string | null
}

export const findDraft = (db: Reader, organizationId: OrganizationId, flowId: FlowId) =>
  first(db<Draft>`
    select drafts.organization_id, drafts.flow_id, drafts.revision, drafts.base_version, drafts.name, drafts.kind,
      drafts.subject, json_build_object('format', drafts.html_format, 'text', drafts.html) as source, drafts.text, drafts.from_name, drafts.from_email, drafts.reply_to,
      drafts.preheader, drafts.utm,
      drafts.test_version_id, drafts.updated_at, users.email as updated_by
    from flow_drafts drafts
    left join users on users.id = drafts.updated_by and users.organization_id = ${organizationId}
    where drafts.organization_id = ${organizationId} and drafts.flow_id = ${flowId}`)

export type NewDraft = Omit<Draft, 'testVersionId' | 'updatedAt' | 'updatedBy'>

/** The caller holds the lock of the flow. */
export function replaceDraft(tx: Tx, draft: NewDraft): void {
  tx.send`
    insert into flow_drafts (organization_id, flow_id, revision, base_version, name, kind, subject, html, html_format, text,
      from_name, from_email, reply_to, preheader, utm, updated_by)
    values (${draft.organizationId}, ${draft.flowId}, ${draft.revision}, ${draft.baseVersion}, ${draft.name}, ${draft.kind},
      ${draft.subject}, ${draft.source.text}, ${draft.source.format}, ${draft.text}, ${draft.fromName}, ${draft.fromEmail},
      ${draft.replyTo}, ${draft.preheader}, ${draft.utm && JSON.stringify(draft.utm)}, ${userOf(tx.actor)})
    on conflict (organization_id, flow_id) do update
    set revision = excluded.revision, base_version = excluded.base_version, name = excluded.name, kind = excluded.kind,
      subject = excluded.subject, html = excluded.html, html_format = excluded.html_format, text = excluded.text,
      from_name = excluded.from_name, from_email = excluded.from_email, reply_to = excluded.reply_to, preheader = excluded.preheader,
      utm = excluded.utm, test_version_id = null,
      updated_at = excluded.updated_at, updated_by = excluded.updated_by`
}

/** The name and kind of a flow that was never published are those of its draft. */
export function updateDraftRevision(tx: Tx, { organizationId, flowId, revision, name, kind }: NewDraft): void {
  tx.send`
    update flows
    set draft_revision = ${revision},
      name = case when version_id is null then ${name} else flows.name end,
      kind = case when version_id is null then ${kind} else flows.kind end
    where organization_id = ${organizationId} and id = ${flowId}`
}

/** Returns false if there is no draft. */
export const deleteDraft = (db: Writer, organizationId: OrganizationId, flowId: FlowId) =>
  hasRows(db`
    delete from flow_drafts where organization_id = ${organizationId} and flow_id = ${flowId} returning 1`)

/** Has no effect if the draft was changed since. */
export function updateTestVersion(tx: Tx, draft: Draft, versionId: FlowVersionId): void {
  tx.send`
    update flow_drafts set test_version_id = ${versionId}
    where organization_id = ${draft.organizationId} and flow_id = ${draft.flowId} and revision = ${draft.revision}`
}
