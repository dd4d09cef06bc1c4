import type { Reader, Tx } from '../db/db.ts'
import type { FlowId, FlowVersionId, OrganizationId } from '../values/ids.ts'
import type { Broadcast } from './broadcasts.sql.ts'
import { idRangeOf } from './results.sql.ts'

const noResults = { recipients: 0, sent: 0, bounced: 0, opened: 0, clicked: 0, unsubscribed: 0, complained: 0 }
export type VariantResults = typeof noResults

type Row = { variant: number; count: number }

/** Counts the recipients in the sample by variant, and those that reacted, each once and without machines. */
export async function countVariants(db: Reader, broadcast: Broadcast): Promise<VariantResults[]> {
  const { organizationId, id, variants } = broadcast
  const results = variants.map(() => ({ ...noResults }))
  const range = idRangeOf(broadcast)
  if (variants.length === 0 || !range) return results
  const byStatus = await db<Row & { status: string }>`
    select variant, status, count(*) from broadcast_recipients
    where organization_id = ${organizationId} and broadcast_id = ${id} and variant is not null
    group by 1, 2`
  for (const { variant, status, count } of byStatus) {
    const result = results[variant]!
    result.recipients += count
    if (status === 'sent' || status === 'bounced') result.sent += count
    if (status === 'bounced') result.bounced += count
  }
  const reactions = await db<Row & { eventName: string }>`
    select recipient.variant, first_occurrences.event_name, count(*)
    from first_occurrences
    join messages on messages.organization_id = first_occurrences.organization_id
      and messages.id = first_occurrences.subject_id
    join broadcast_recipients recipient on recipient.organization_id = messages.organization_id
      and recipient.broadcast_id = messages.broadcast_id and recipient.contact_id = messages.contact_id
    where first_occurrences.organization_id = ${organizationId}
      and first_occurrences.subject_id between ${range.from} and ${range.until}
      and first_occurrences.occurred_at < 'infinity' and messages.broadcast_id = ${id}
      and recipient.variant is not null
    group by 1, 2`
  for (const { variant, eventName, count } of reactions) {
    const field = fieldOf[eventName]
    if (field) results[variant]![field] += count
  }
  return results
}

const fieldOf: Record<string, 'opened' | 'clicked' | 'unsubscribed' | 'complained'> = {
  emailOpen: 'opened',
  emailClick: 'clicked',
  contactUnsubscribe: 'unsubscribed',
  emailComplaint: 'complained',
}

/** Records that the sample was sent: the winner is chosen after the time set by the user. */
export async function markSampleSent(
  tx: Tx,
  { organizationId, id, decideAfterSeconds }: Pick<Broadcast, 'organizationId' | 'id' | 'decideAfterSeconds'>,
): Promise<void> {
  await tx`
    update broadcasts
    set decides_at = now() + ${decideAfterSeconds} * interval '1 second', updated_at = now()
    where organization_id = ${organizationId} and id = ${id}`
}

export async function updateWinner(
  tx: Tx,
  { organizationId, id }: Pick<Broadcast, 'organizationId' | 'id'>,
  winner: number,
): Promise<void> {
  await tx`
    update broadcasts set winner = ${winner}, updated_at = now()
    where organization_id = ${organizationId} and id = ${id}`
}

/** Records the winner and that it is being sent to the rest. */
export async function markDecided(
  tx: Tx,
  { organizationId, id }: Pick<Broadcast, 'organizationId' | 'id'>,
  winner: number,
): Promise<void> {
  await tx`
    update broadcasts set winner = ${winner}, decided_at = now(), updated_at = now()
    where organization_id = ${organizationId} and id = ${id}`
}

/** Returns the ids of published versions of a flow by their number. */
export async function findVersionIds(
  db: Reader,
  organizationId: OrganizationId,
  flowId: FlowId,
  numbers: readonly number[],
): Promise<Map<number, FlowVersionId>> {
  const rows = await db<{ number: number; id: FlowVersionId }>`
    select number, id from flow_versions
    where organization_id = ${organizationId} and flow_id = ${flowId} and number = any (${numbers}::int[])`
  return new Map(rows.map(({ number, id }) => [number, id]))
}
