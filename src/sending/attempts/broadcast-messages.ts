import type { Tx } from '../../platform/db/db.ts'
import type { Outcome, SendRow } from './attempt.ts'

/**
 * A message of a broadcast and the outcome of its first attempt. `context` and `recipient` are JSON texts; the latter is null
 * if it is empty.
 */
export type BroadcastMessage = { row: SendRow; outcome: Outcome; context: string | null; recipient: string | null }

/** Inserts messages of one broadcast together with the outcome of their first attempt, so that each is written once. */
export function insertBroadcastMessages(tx: Tx, messages: readonly BroadcastMessage[]): void {
  const [first] = messages
  if (!first) return
  // All of them have the context of the broadcast, except those of erased contacts.
  const context = messages.find((message) => message.context !== null)?.context ?? null
  tx.send`
    insert into messages (organization_id, id, flow_id, flow_version_id, contact_id, email, subject, context, recipient,
      status, reason, relay_reply, queue_id, mail_server_id, queued_at, sent_at, broadcast_id)
    select ${first.row.organizationId}::uuid, id, ${first.row.flowId}::uuid, flow_version_id, contact_id, email, subject,
      case when has_context then (select ${context}::jsonb) end, recipient::jsonb,
      status, reason, relay_reply, queue_id, mail_server_id, queued_at, case status when 'sent' then now() end,
      ${first.row.broadcastId}::uuid
    from unnest(
      ${messages.map(({ row }) => row.id)}::uuid[],
      ${messages.map(({ row }) => row.flowVersionId)}::uuid[],
      ${messages.map(({ row }) => row.contactId)}::uuid[],
      ${messages.map(({ row }) => row.email)}::text[],
      ${messages.map(({ row }) => row.subject)}::text[],
      ${messages.map((message) => message.context !== null)}::bool[],
      ${messages.map(({ recipient }) => recipient)}::text[],
      ${messages.map(({ outcome }) => outcome.status)}::text[],
      ${messages.map(({ outcome }) => outcome.reason)}::text[],
      ${messages.map(({ outcome }) => outcome.relayReply)}::text[],
      ${messages.map(({ outcome }) => outcome.queueId)}::text[],
      ${messages.map(({ outcome }) => outcome.mailServerId)}::uuid[],
      ${messages.map(({ row }) => row.queuedAt)}::timestamptz[]
    ) as message (id, flow_version_id, contact_id, email, subject, has_context, recipient, status, reason,
      relay_reply, queue_id, mail_server_id, queued_at)
    on conflict do nothing`
}
