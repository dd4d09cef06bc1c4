import type { Reader, Writer } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import { dataText, insertEventsAfter, type NewEvent } from '../events/record.ts'
import type { FlowKind } from '../flows/flows.ts'
import type { RecipientSnapshot } from '../flows/recipient.ts'
import { type Settlement, settleJobs } from '../queue/queue.ts'
import type { ContactId, FlowId, FlowVersionId, MessageId, OrganizationId } from '../values/ids.ts'

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
  recipient: RecipientSnapshot | null
  subscription: 'subscribed' | 'not_subscribed' | 'unsubscribed' | null
  suppressedBy: 'hard_bounce' | 'complaint' | 'manual' | null
}

/** Returns everything needed to send these messages. Skips messages that are no longer queued. */
export async function findMessagesToSend(
  db: Reader,
  keys: { organizationId: OrganizationId; id: string }[],
): Promise<SendRow[]> {
  return db<SendRow>`
    select messages.organization_id, messages.id, messages.flow_id, flow_version_id, flows.kind as flow_kind, contact_id,
      messages.email, subject, context, is_test, queued_at, recipient, contacts.subscription,
      (select reason from suppressions
        where suppressions.organization_id = messages.organization_id and suppressions.email_key = lower(messages.email collate "C")
          and reason <> 'unsubscribe'
        order by reason limit 1) as suppressed_by
    from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as key (organization_id, id)
    -- "offset 0" keeps the planner from scanning whole tables while their statistics are out of date.
    cross join lateral (
      select * from messages where organization_id = key.organization_id and messages.id = key.id offset 0
    ) as messages
    join flows on flows.organization_id = messages.organization_id and flows.id = messages.flow_id
    left join lateral (
      select * from contacts where organization_id = messages.organization_id and id = messages.contact_id offset 0
    ) as contacts on true
    where messages.status = 'queued'`
}

export type MessageChange = {
  settlement: Settlement
  status: 'queued' | 'sent' | 'bounced' | 'suppressed' | 'failed'
  reason: string | null
  relayReply: string | null
  queueId: string | null
  event: NewEvent | null
}

/**
 * Settles the jobs, updates their messages and records their events in one statement; in a transaction of several
 * statements, the counter rows would stay locked between them. Has no effect on messages whose lane another worker has
 * taken over.
 */
export async function settleMessages(db: Writer, changes: MessageChange[]): Promise<void> {
  const outcomes = {
    columns: sql`status, reason, relay_reply, queue_id, event_id, event_name, occurred_at, flow_id, contact_id, data`,
    arrays: sql`
      ${changes.map(({ status }) => status)}::text[],
      ${changes.map(({ reason }) => reason)}::text[],
      ${changes.map(({ relayReply }) => relayReply)}::text[],
      ${changes.map(({ queueId }) => queueId)}::text[],
      ${changes.map(({ event }) => event?.id)}::uuid[],
      ${changes.map(({ event }) => event?.eventName)}::text[],
      ${changes.map(({ event }) => event?.occurredAt)}::timestamptz[],
      ${changes.map(({ event }) => event?.flowId)}::uuid[],
      ${changes.map(({ event }) => event?.contactId)}::uuid[],
      ${changes.map(({ event }) => event && dataText(event.data))}::text[]`,
  }
  const settled = settleJobs(
    changes.map(({ settlement }) => settlement),
    outcomes,
  )
  const newEvents = changes.flatMap(({ event }) => event ?? [])
  await insertEventsAfter(db, newEvents, {
    ctes: settled,
    source: sql`
      select organization_id, event_id as id, event_name, occurred_at, id as message_id, flow_id, contact_id,
        false as machine, null::text as machine_reason, data
      from ours where event_id is not null`,
    messagesChanged: sql`
      messages_changed as (
        update messages
        set status = ours.status, reason = ours.reason, relay_reply = ours.relay_reply, queue_id = ours.queue_id,
          sent_at = case ours.status when 'sent' then now() end
        from ours
        where messages.organization_id = ours.organization_id and messages.id = ours.id and messages.status = 'queued'
      )`,
  })
}
