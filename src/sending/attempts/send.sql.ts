import type { Standing } from '../../audience/audience.ts'
import type { RecipientSnapshot } from '../../content/content.ts'
import type { NewEvent } from '../../events/events.ts'
import type { Reader, Tx } from '../../platform/db/db.ts'
import type { Settlement } from '../../platform/queue/settle-jobs.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import type {
  BroadcastId,
  ContactId,
  EmailId,
  FlowId,
  FlowVersionId,
  MailServerId,
  MessageId,
  OrganizationId,
} from '../../platform/values/ids.ts'
import type { Tag } from '../attachments/content.ts'
import type { InboxRow } from '../inbox/inbox.ts'

export type SendRow = {
  organizationId: OrganizationId
  id: MessageId
  flowId: FlowId
  flowVersionId: FlowVersionId
  flowKind: FlowKind
  contactId: ContactId
  /** The current address and name of the contact; null if it was erased. */
  contactEmail: string | null
  contactFirstName: string | null
  email: string
  subject: string
  context: Record<string, unknown> | null
  isTest: boolean
  /** The broadcast that the message belongs to. */
  broadcastId: BroadcastId | null
  /** The time for which the email was scheduled, or else when it was accepted. */
  queuedAt: Date
  isScheduled: boolean
  recipient: RecipientSnapshot | null
  subscription: Standing['subscription']
  suppressedBy: Standing['suppressedBy']
  /** Null if everything comes from the flow. */
  contentId: EmailId | null
  tags: Tag[] | null
  /** The only mail server that may carry the email, because it may have accepted it already. */
  mailServerId: MailServerId | null
  /** Whether it had to wait before, for whatever reason. */
  hasWaited: boolean
}

/** Returns everything needed to send these messages. Skips messages that are no longer queued. */
export async function findMessagesToSend(
  db: Reader,
  keys: { organizationId: OrganizationId; id: string }[],
): Promise<SendRow[]> {
  return db<SendRow>`
    select messages.organization_id, messages.id, messages.flow_id, flow_version_id, contact_id,
      -- Of a broadcast, the kind that was confirmed: that of the flow may have changed since.
      coalesce((select case when service_announcement then 'transactional' else 'marketing' end from broadcasts
        where broadcasts.organization_id = messages.organization_id and broadcasts.id = messages.broadcast_id), flows.kind) as flow_kind,
      messages.email, subject, context, is_test, broadcast_id, content_id, tags, mail_server_id,
      messages.reason is not null as has_waited,
      coalesce(send_at, queued_at) as queued_at,
      send_at is not null as is_scheduled, recipient, contacts.subscription,
      contacts.email as contact_email, contacts.first_name as contact_first_name,
      (select reason from suppressions
        where suppressions.organization_id = messages.organization_id and suppressions.email_key = lower(messages.email collate "C")
          and reason <> 'unsubscribe'
        order by reason limit 1) as suppressed_by
    from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as key (organization_id, id)
    -- "offset 0" keeps the planner from scanning whole tables while their statistics are out of date.
    cross join lateral (
      select * from messages
      where messages.organization_id = key.organization_id and messages.id = key.id
      offset 0
    ) as messages
    join flows on flows.organization_id = messages.organization_id and flows.id = messages.flow_id
    left join lateral (
      select * from contacts
      where contacts.organization_id = messages.organization_id and contacts.id = messages.contact_id
      offset 0
    ) as contacts on true
    where messages.status = 'queued'`
}

/** The outcome of an attempt. `retryInMs` is null if it is final. */
export type Outcome = {
  status: 'queued' | 'sent' | 'bounced' | 'suppressed' | 'failed' | 'cancelled'
  retryInMs: number | null
  reason: string | null
  relayReply: string | null
  queueId: string | null
  event: NewEvent | null
  inbox: InboxRow | null
  mailServerId: MailServerId | null
  /** Set if nothing was attempted, because all mail servers for the email are down or at a limit. No attempt is counted then. */
  waiting: 'server' | 'limit' | 'site' | null
}

export type MessageChange = { settlement: Settlement; row: SendRow; outcome: Outcome }

/** Returns the messages that were still queued. */
export async function updateMessages(tx: Tx, changes: readonly MessageChange[]): Promise<Set<MessageId>> {
  const rows = await tx<{ id: MessageId }>`
    update messages
    set status = change.status, reason = change.reason, relay_reply = change.relay_reply, queue_id = change.queue_id,
      -- A server that may have accepted the email stays the only one.
      mail_server_id = coalesce(change.mail_server_id, messages.mail_server_id),
      sent_at = case when change.status = 'sent' then now end, sending = false
    from unnest(
      ${changes.map(({ row }) => row.organizationId)}::uuid[],
      ${changes.map(({ row }) => row.id)}::uuid[],
      ${changes.map(({ outcome }) => outcome.status)}::text[],
      ${changes.map(({ outcome }) => outcome.reason)}::text[],
      ${changes.map(({ outcome }) => outcome.relayReply)}::text[],
      ${changes.map(({ outcome }) => outcome.queueId)}::text[],
      ${changes.map(({ outcome }) => outcome.mailServerId)}::uuid[]
    ) as change (organization_id, id, status, reason, relay_reply, queue_id, mail_server_id), now() as now
    where messages.organization_id = change.organization_id and messages.id = change.id and messages.status = 'queued'
    returning messages.id`
  return new Set(rows.map(({ id }) => id))
}
