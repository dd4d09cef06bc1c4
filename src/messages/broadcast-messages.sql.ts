import type { Tx } from '../db/db.ts'
import type { Outcome, SendRow } from './attempt.ts'

/**
 * A message of a broadcast and the outcome of its first attempt. `context` and `recipient` are JSON texts; the latter is null
 * if it is empty.
 */
export type BroadcastMessage = { row: SendRow; outcome: Outcome; context: string | null; recipient: string | null }

/** Inserts messages together with the outcome of their first attempt, so that each is written once. */
export function insertBroadcastMessages(tx: Tx, messages: readonly BroadcastMessage[]): void {
  if (messages.length === 0) return
  tx.send`
    insert into messages (organization_id, id, flow_id, flow_version_id, contact_id, email, subject, context, recipient,
      status, reason, relay_reply, queue_id, queued_at, sent_at, broadcast_id)
    select organization_id, id, flow_id, flow_version_id, contact_id, email, subject, context::jsonb, recipient::jsonb,
      status, reason, relay_reply, queue_id, queued_at, case status when 'sent' then now() end, broadcast_id
    from unnest(
      ${messages.map(({ row }) => row.organizationId)}::uuid[],
      ${messages.map(({ row }) => row.id)}::uuid[],
      ${messages.map(({ row }) => row.flowId)}::uuid[],
      ${messages.map(({ row }) => row.flowVersionId)}::uuid[],
      ${messages.map(({ row }) => row.contactId)}::uuid[],
      ${messages.map(({ row }) => row.email)}::text[],
      ${messages.map(({ row }) => row.subject)}::text[],
      ${messages.map(({ context }) => context)}::text[],
      ${messages.map(({ recipient }) => recipient)}::text[],
      ${messages.map(({ outcome }) => outcome.status)}::text[],
      ${messages.map(({ outcome }) => outcome.reason)}::text[],
      ${messages.map(({ outcome }) => outcome.relayReply)}::text[],
      ${messages.map(({ outcome }) => outcome.queueId)}::text[],
      ${messages.map(({ row }) => row.queuedAt)}::timestamptz[],
      ${messages.map(({ row }) => row.broadcastId)}::uuid[]
    ) as message (organization_id, id, flow_id, flow_version_id, contact_id, email, subject, context, recipient, status,
      reason, relay_reply, queue_id, queued_at, broadcast_id)
    on conflict do nothing`
}
