import { insertRows } from '../../platform/db/cluster/insert-rows.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { Outcome, SendRow } from './send.sql.ts'

/**
 * A message of a broadcast and the outcome of its first attempt. `context` and `recipient` are JSON texts; the latter is null
 * if it is empty.
 */
export type BroadcastMessage = { row: SendRow; outcome: Outcome; context: string | null; recipient: string | null }

/** Inserts messages of one broadcast together with the outcome of their first attempt, so that each is written once. */
export function insertBroadcastMessages(tx: Tx, messages: readonly BroadcastMessage[]): void {
  const [first] = messages
  if (!first) return
  const { organizationId, flowId, broadcastId } = first.row
  tx.send`
    insert into messages (organization_id, id, flow_id, flow_version_id, contact_id, email, subject, context, recipient,
      status, reason, relay_reply, queue_id, mail_server_id, queued_at, sent_at, broadcast_id)
    ${insertRows(
      tx,
      {
        organization_id: ['uuid', messages.map(() => organizationId)],
        id: ['uuid', messages.map(({ row }) => row.id)],
        flow_id: ['uuid', messages.map(() => flowId)],
        flow_version_id: ['uuid', messages.map(({ row }) => row.flowVersionId)],
        contact_id: ['uuid', messages.map(({ row }) => row.contactId)],
        email: ['text', messages.map(({ row }) => row.email)],
        subject: ['text', messages.map(({ row }) => row.subject)],
        context: ['text', messages.map(({ context }) => context)],
        recipient: ['text', messages.map(({ recipient }) => recipient)],
        status: ['text', messages.map(({ outcome }) => outcome.status)],
        reason: ['text', messages.map(({ outcome }) => outcome.reason)],
        relay_reply: ['text', messages.map(({ outcome }) => outcome.relayReply)],
        queue_id: ['text', messages.map(({ outcome }) => outcome.queueId)],
        mail_server_id: ['uuid', messages.map(({ outcome }) => outcome.mailServerId)],
        queued_at: ['timestamptz', messages.map(({ row }) => row.queuedAt)],
        // Null unless it was sent: the nodes of a cluster reject the time in a condition.
        sent_ago: ['interval', messages.map(({ outcome }) => (outcome.status === 'sent' ? '0' : null))],
        broadcast_id: ['uuid', messages.map(() => broadcastId)],
      },
      `organization_id, id, flow_id, flow_version_id, contact_id, email, subject, context::jsonb, recipient::jsonb, status,
      reason, relay_reply, queue_id, mail_server_id, queued_at, now() - sent_ago, broadcast_id`,
    )}
    on conflict do nothing`
}
