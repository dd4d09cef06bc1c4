import type { Reader, Tx } from '../../platform/db/db.ts'
import type { BroadcastId, ContactId, MessageId, OrganizationId } from '../../platform/values/ids.ts'

export type MessageState = {
  id: MessageId
  sentAt: Date | null
  bounce: 'hard' | 'soft' | null
  reason: string | null
}

/** A bounce may be recorded before emailSent. The message then stays bounced, and only its `sent_at` is set. */
export function updateMessageStates(tx: Tx, organizationId: OrganizationId, states: readonly MessageState[]): void {
  tx.send`
    update messages
    set sent_at = coalesce(messages.sent_at, state.sent_at),
      status = case when state.bounce is not null then 'bounced' when status in ('queued', 'failed') then 'sent' else status end,
      reason = case when state.bounce = 'hard' or (state.bounce is not null and status <> 'bounced')
        then state.reason else messages.reason end
    from unnest(
      ${states.map((state) => state.id)}::uuid[],
      ${states.map((state) => state.sentAt)}::timestamptz[],
      ${states.map((state) => state.bounce)}::text[],
      ${states.map((state) => state.reason)}::text[]
    ) as state (id, sent_at, bounce, reason)
    where messages.organization_id = ${organizationId} and messages.id = state.id
      and messages.status <> 'suppressed'
      and (state.bounce = 'hard' or (state.bounce is not null and status <> 'bounced')
        or (messages.sent_at is null and state.sent_at is not null))`
}

export type BouncedRecipient = { organizationId: OrganizationId; broadcastId: BroadcastId }

/** Marks recipients of broadcasts whose email bounced after the relay had accepted it, and returns them. */
export const updateBouncedRecipients = (
  tx: Tx,
  organizationId: OrganizationId,
  states: readonly Pick<MessageState, 'id' | 'reason'>[],
) =>
  tx<BouncedRecipient>`
    update broadcast_recipients
    set status = 'bounced', reason = state.reason
    from unnest(${states.map(({ id }) => id)}::uuid[], ${states.map(({ reason }) => reason)}::text[]) as state (id, reason)
    join messages on messages.organization_id = ${organizationId} and messages.id = state.id
    where broadcast_recipients.organization_id = ${organizationId}
      and broadcast_recipients.broadcast_id = messages.broadcast_id
      and broadcast_recipients.contact_id = messages.contact_id and broadcast_recipients.message_id = messages.id
      and broadcast_recipients.status = 'sent'
    returning broadcast_recipients.organization_id, broadcast_recipients.broadcast_id`

/** A hard bounce replaces the reason of an earlier one, as in the message. */
export function updateBounceReasons(
  tx: Tx,
  organizationId: OrganizationId,
  hard: readonly Pick<MessageState, 'id' | 'reason'>[],
): void {
  if (hard.length === 0) return
  tx.send`
    update broadcast_recipients
    set reason = state.reason
    from unnest(${hard.map(({ id }) => id)}::uuid[], ${hard.map(({ reason }) => reason)}::text[]) as state (id, reason)
    join messages on messages.organization_id = ${organizationId} and messages.id = state.id
    where broadcast_recipients.organization_id = ${organizationId}
      and broadcast_recipients.broadcast_id = messages.broadcast_id
      and broadcast_recipients.contact_id = messages.contact_id and broadcast_recipients.message_id = messages.id
      and broadcast_recipients.status = 'bounced'`
}

export type BouncedRecipients = BouncedRecipient & { recipients: number }

export function countBouncedRecipients(tx: Tx, { organizationId, broadcastId, recipients }: BouncedRecipients): void {
  tx.send`
    insert into broadcast_counts (organization_id, broadcast_id, status, recipients)
    values (${organizationId}, ${broadcastId}, 'bounced', ${recipients}), (${organizationId}, ${broadcastId}, 'sent', ${-recipients})
    on conflict (organization_id, broadcast_id, status) do update
    set recipients = broadcast_counts.recipients + excluded.recipients`
}

/** Returns the addresses that messages were sent to. Those of erased contacts are missing. */
export async function findMessageAddresses(db: Reader, organizationId: OrganizationId, ids: readonly MessageId[]) {
  if (ids.length === 0) return new Map()
  const rows = await db<{ id: MessageId; email: string }>`
    select id, email from messages
    where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and email <> ''`
  return new Map(rows.map(({ id, email }) => [id, email]))
}

export type NewSuppression = {
  emailKey: string
  reason: string
  email: string
  detail: string | null
  messageId: MessageId | null
}

/** Of several rows with the same address and reason, the first is kept. */
export function insertSuppressions(tx: Tx, organizationId: OrganizationId, rows: readonly NewSuppression[]): void {
  tx.send`
    insert into suppressions (organization_id, email_key, reason, email, detail, message_id)
    select ${organizationId}::uuid, email_key, reason, email, detail, message_id
    from unnest(
      ${rows.map((row) => row.emailKey)}::text[],
      ${rows.map((row) => row.reason)}::text[],
      ${rows.map((row) => row.email)}::text[],
      ${rows.map((row) => row.detail)}::text[],
      ${rows.map((row) => row.messageId)}::uuid[]
    ) as row (email_key, reason, email, detail, message_id)
    on conflict do nothing`
}

export function unsubscribeContacts(tx: Tx, organizationId: OrganizationId, ids: readonly ContactId[]): void {
  tx.send`
    update contacts
    set subscription = 'unsubscribed', updated_at = now()
    where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and subscription <> 'unsubscribed'`
}
