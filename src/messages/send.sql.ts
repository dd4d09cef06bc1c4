import type { Db, Reader, Tx } from '../db/db.ts'
import type { FlowKind } from '../flows/flows.ts'
import type { ContactId, FlowId, FlowVersionId, MessageId, OrganizationId } from '../ids.ts'
import { type Settlement, settleJobs } from '../queue/queue.ts'

export type SendRow = {
  organizationId: OrganizationId
  id: MessageId
  flowId: FlowId
  flowVersionId: FlowVersionId
  flowKind: FlowKind
  contactId: ContactId
  email: string
  subject: string
  context: Record<string, unknown> | null
  isTest: boolean
  queuedAt: Date
  organizationName: string
  firstName: string | null
  lastName: string | null
  attributes: Record<string, unknown> | null
  subscription: 'subscribed' | 'not_subscribed' | 'unsubscribed' | null
  suppressedBy: 'hard_bounce' | 'complaint' | 'manual' | null
}

/** What there is to know about queued messages. Those that are queued no more are left out. */
export async function findMessagesToSend(
  db: Reader,
  keys: { organizationId: OrganizationId; id: string }[],
): Promise<SendRow[]> {
  return db<SendRow>`
    select messages.organization_id, messages.id, messages.flow_id, flow_version_id, flows.kind as flow_kind, contact_id,
      messages.email, subject, context, is_test, queued_at, organizations.name as organization_name,
      contacts.first_name, contacts.last_name, contacts.attributes, contacts.subscription,
      (select reason from suppressions
        where suppressions.organization_id = messages.organization_id and suppressions.email_key = lower(messages.email)
          and reason <> 'unsubscribe'
        order by reason limit 1) as suppressed_by
    from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as key (organization_id, id)
    join messages using (organization_id, id)
    join organizations on organizations.id = messages.organization_id
    join flows on flows.organization_id = messages.organization_id and flows.id = messages.flow_id
    left join contacts on contacts.organization_id = messages.organization_id and contacts.id = messages.contact_id
    where messages.status = 'queued'`
}

export type MessageChange = {
  settlement: Settlement
  status: 'queued' | 'sent' | 'bounced' | 'suppressed' | 'failed'
  reason: string | null
  relayReply: string | null
  queueId: string | null
}

/** Settles the jobs and writes what became of the messages. Answers with the messages that still were ours. */
export async function settleMessages(tx: Tx, changes: MessageChange[]): Promise<Set<string>> {
  const rows = await tx<{ id: string }>`
    with ${settleJobs(changes.map(({ settlement }) => settlement))},
    change as (
      select * from unnest(
        ${changes.map(({ settlement }) => settlement.claim.organizationId)}::uuid[],
        ${changes.map(({ settlement }) => settlement.claim.id)}::uuid[],
        ${changes.map(({ status }) => status)}::text[],
        ${changes.map(({ reason }) => reason)}::text[],
        ${changes.map(({ relayReply }) => relayReply)}::text[],
        ${changes.map(({ queueId }) => queueId)}::text[]
      ) as change (organization_id, id, status, reason, relay_reply, queue_id)
      join ours using (organization_id, id)
    )
    update messages
    set status = change.status, reason = change.reason, relay_reply = change.relay_reply, queue_id = change.queue_id,
      sent_at = case change.status when 'sent' then now() end
    from change
    where messages.organization_id = change.organization_id and messages.id = change.id and messages.status = 'queued'
    returning messages.id`
  return new Set(rows.map(({ id }) => id))
}

export type InboxRow = {
  organizationId: OrganizationId
  messageId: MessageId
  sender: string
  recipient: string
  subject: string
  raw: string
}

export async function insertIntoInbox(tx: Tx, rows: InboxRow[]): Promise<void> {
  await tx`
    insert into inbox (organization_id, message_id, sender, recipient, subject, raw)
    select organization_id, message_id, sender, recipient, subject, convert_to(raw, 'UTF8')
    from unnest(
      ${rows.map((row) => row.organizationId)}::uuid[],
      ${rows.map((row) => row.messageId)}::uuid[],
      ${rows.map((row) => row.sender)}::text[],
      ${rows.map((row) => row.recipient)}::text[],
      ${rows.map((row) => row.subject)}::text[],
      ${rows.map((row) => row.raw)}::text[]
    ) as row (organization_id, message_id, sender, recipient, subject, raw)
    on conflict do nothing`
}

/** The inbox is for looking at the newest mail, not an archive: per organization so many stay. */
export async function trimInbox(db: Db, keep: number): Promise<void> {
  await db.alone`
    delete from inbox
    using (
      select organization_id, message_id,
        row_number() over (partition by organization_id order by message_id desc) as place
      from inbox
    ) ranked
    where ranked.place > ${keep}
      and inbox.organization_id = ranked.organization_id and inbox.message_id = ranked.message_id`
}
