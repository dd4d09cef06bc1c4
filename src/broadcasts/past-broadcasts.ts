import type { Tx } from '../platform/db/db.ts'
import type {
  BroadcastId,
  ContactId,
  FlowId,
  FlowVersionId,
  MessageId,
  OrganizationId,
  UserId,
} from '../platform/values/ids.ts'
import type { Audience, Schedule, Variant } from './broadcasts.sql.ts'

/** A broadcast for sample data, which was sent in the past. */
export type PastBroadcast = {
  id: BroadcastId
  name: string
  flowId: FlowId
  flowVersionId: FlowVersionId
  audience: Audience
  schedule: Schedule
  createdBy: UserId
  createdAt: Date
  startedAt: Date
  finishedAt: Date
  /** Contacts of the audience that were unsubscribed or suppressed at the start. */
  excluded: number
  recipients: PastRecipient[]
  test: { variants: Variant[]; percent: number; winner: number; decidedAt: Date } | null
}

export type PastRecipient = {
  contactId: ContactId
  status: 'sent' | 'bounced' | 'suppressed' | 'unsubscribed'
  /** Why the email bounced, or why there was none. */
  reason: string | null
  messageId: MessageId | null
  variant: number | null
}

/** Inserts a broadcast with its recipients and their counts. Nothing is sent or enqueued. */
export async function insertPastBroadcast(
  tx: Tx,
  organizationId: OrganizationId,
  { recipients, test, ...broadcast }: PastBroadcast,
): Promise<void> {
  await tx`
    insert into broadcasts (organization_id, id, name, status, flow_id, flow_version_id, audience, schedule, variants,
      test_percent, decides_at, winner, decided_at, starts_at, recipients, excluded, created_by, created_at, updated_at,
      started_at, finished_at)
    values (${organizationId}, ${broadcast.id}, ${broadcast.name}, 'sent', ${broadcast.flowId}, ${broadcast.flowVersionId},
      ${JSON.stringify(broadcast.audience)}::jsonb, ${JSON.stringify(broadcast.schedule)}::jsonb,
      ${JSON.stringify(test?.variants ?? [])}::jsonb, ${test?.percent ?? 20}, ${test?.decidedAt ?? null},
      ${test?.winner ?? null}, ${test?.decidedAt ?? null}, ${broadcast.startedAt}, ${recipients.length},
      ${broadcast.excluded}, ${broadcast.createdBy}, ${broadcast.createdAt}, ${broadcast.finishedAt},
      ${broadcast.startedAt}, ${broadcast.finishedAt})`
  await tx`
    insert into broadcast_recipients (organization_id, broadcast_id, contact_id, status, reason, message_id, variant)
    select ${organizationId}, ${broadcast.id}, contact_id, status, reason, message_id, variant
    from unnest(
      ${recipients.map(({ contactId }) => contactId)}::uuid[], ${recipients.map(({ status }) => status)}::text[],
      ${recipients.map(({ reason }) => reason)}::text[],
      ${recipients.map(({ messageId }) => messageId)}::uuid[], ${recipients.map(({ variant }) => variant)}::smallint[]
    ) as past (contact_id, status, reason, message_id, variant)`
  await tx`
    insert into broadcast_counts (organization_id, broadcast_id, status, recipients)
    select organization_id, broadcast_id, status, count(*) from broadcast_recipients
    where organization_id = ${organizationId} and broadcast_id = ${broadcast.id}
    group by 1, 2, 3`
}
