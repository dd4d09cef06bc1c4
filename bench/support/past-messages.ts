import type { Writer } from '../../src/platform/db/db.ts'
import type {
  BroadcastId,
  ContactId,
  FlowId,
  FlowVersionId,
  MessageId,
  OrganizationId,
} from '../../src/platform/values/ids.ts'

/** A message that was sent in the past. */
export type PastMessage = {
  id: MessageId
  flowId: FlowId
  flowVersionId: FlowVersionId
  contactId: ContactId
  email: string
  subject: string
  context: object
  status: 'sent' | 'bounced'
  sentAt: Date
  broadcastId?: BroadcastId | null
}

/** Inserts messages without sending them or recording events. */
export async function insertPastMessages(
  db: Writer,
  organizationId: OrganizationId,
  messages: readonly PastMessage[],
): Promise<void> {
  await db`
    insert into messages (organization_id, id, flow_id, flow_version_id, contact_id, email, subject, context, recipient,
      status, queued_at, sent_at, broadcast_id)
    select ${organizationId}, past.id, flow_id, flow_version_id, contact_id, past.email, subject, context::jsonb,
      jsonb_strip_nulls(jsonb_build_object('first_name', first_name, 'last_name', last_name, 'attributes', attributes,
        'organization', organizations.name)),
      status, sent_at, sent_at, broadcast_id
    from unnest(
      ${messages.map(({ id }) => id)}::uuid[], ${messages.map(({ flowId }) => flowId)}::uuid[],
      ${messages.map(({ flowVersionId }) => flowVersionId)}::uuid[], ${messages.map(({ contactId }) => contactId)}::uuid[],
      ${messages.map(({ email }) => email)}::text[], ${messages.map(({ subject }) => subject)}::text[],
      ${messages.map(({ context }) => JSON.stringify(context))}::text[], ${messages.map(({ status }) => status)}::text[],
      ${messages.map(({ sentAt }) => sentAt)}::timestamptz[],
      ${messages.map(({ broadcastId }) => broadcastId ?? null)}::uuid[]
    ) as past (id, flow_id, flow_version_id, contact_id, email, subject, context, status, sent_at, broadcast_id)
    join contacts on contacts.organization_id = ${organizationId} and contacts.id = past.contact_id
    join organizations on organizations.id = ${organizationId}`
}
