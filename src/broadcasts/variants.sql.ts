import type { Reader, Tx } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import { type IdRange, inRange } from '../segments/id-range.ts'
import type { FlowId, FlowVersionId, OrganizationId } from '../values/ids.ts'
import type { Broadcast } from './broadcasts.sql.ts'
import { idRangeOf } from './results.sql.ts'

const noResults = { recipients: 0, sent: 0, bounced: 0, opened: 0, clicked: 0, unsubscribed: 0, complained: 0 }
export type VariantResults = typeof noResults

type StatusRow = { variant: number; status: string; count: number }
type ReactionRow = { variant: number; eventName: string; count: number }

export const emptyResults = ({ variants }: Pick<Broadcast, 'variants'>): VariantResults[] =>
  variants.map(() => ({ ...noResults }))

/** Counts the recipients in the sample by variant, and those that reacted, each once and without machines. */
export async function countVariants(db: Reader, broadcast: Broadcast): Promise<VariantResults[]> {
  const { organizationId, id, variants } = broadcast
  const results = emptyResults(broadcast)
  const range = idRangeOf(broadcast)
  if (variants.length === 0 || !range) return results
  const byStatus = await db<StatusRow>`
    select variant, status, count(*) from broadcast_recipients
    where organization_id = ${organizationId} and broadcast_id = ${id} and variant is not null
    group by 1, 2`
  addStatuses(results, byStatus)
  const reactions = await db<ReactionRow>`
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
  addReactions(results, reactions)
  return results
}

/** Like `countVariants`, for the recipients of a range, and added to `results`. */
export async function addVariantsInRange(
  db: Reader,
  { organizationId, id }: Pick<Broadcast, 'organizationId' | 'id'>,
  range: IdRange,
  results: VariantResults[],
): Promise<void> {
  const inSample = sql`organization_id = ${organizationId} and broadcast_id = ${id}
    and ${inRange(range)(sql`contact_id`)} and variant is not null`
  const byStatus = await db<StatusRow>`
    select variant, status, count(*) from broadcast_recipients where ${inSample} group by 1, 2`
  // "offset 0" keeps the planner from reading the reactions to all emails while its statistics are out of date.
  const reactions = await db<ReactionRow>`
    select recipient.variant, reaction.event_name, count(*)
    from (
      select variant, message_id from broadcast_recipients where ${inSample} and message_id is not null offset 0
    ) as recipient
    cross join lateral (
      select event_name from first_occurrences
      where first_occurrences.organization_id = ${organizationId}
        and first_occurrences.subject_id = recipient.message_id and first_occurrences.occurred_at < 'infinity'
      offset 0
    ) as reaction
    group by 1, 2`
  addStatuses(results, byStatus)
  addReactions(results, reactions)
}

function addStatuses(results: VariantResults[], rows: readonly StatusRow[]): void {
  for (const { variant, status, count } of rows) {
    const result = results[variant]!
    result.recipients += count
    if (status === 'sent' || status === 'bounced') result.sent += count
    if (status === 'bounced') result.bounced += count
  }
}

function addReactions(results: VariantResults[], rows: readonly ReactionRow[]): void {
  for (const { variant, eventName, count } of rows) {
    const field = fieldOf[eventName]
    if (field) results[variant]![field] += count
  }
}

const fieldOf: Record<string, 'opened' | 'clicked' | 'unsubscribed' | 'complained'> = {
  emailOpen: 'opened',
  emailClick: 'clicked',
  contactUnsubscribe: 'unsubscribed',
  emailComplaint: 'complained',
}

/** Records that the sample was sent: the winner is chosen after the time set by the user. */
export const markSampleSent = (
  tx: Tx,
  { organizationId, id, decideAfterSeconds }: Pick<Broadcast, 'organizationId' | 'id' | 'decideAfterSeconds'>,
) =>
  tx`
    update broadcasts
    set decides_at = now() + ${decideAfterSeconds} * interval '1 second', updated_at = now()
    where organization_id = ${organizationId} and id = ${id}`

export const updateWinner = (
  tx: Tx,
  { organizationId, id }: Pick<Broadcast, 'organizationId' | 'id'>,
  winner: number,
) =>
  tx`
    update broadcasts set winner = ${winner}, updated_at = now()
    where organization_id = ${organizationId} and id = ${id}`

/** Records the winner and that it is being sent to the rest. */
export const markDecided = (tx: Tx, { organizationId, id }: Pick<Broadcast, 'organizationId' | 'id'>, winner: number) =>
  tx`
    update broadcasts set winner = ${winner}, decided_at = now(), updated_at = now()
    where organization_id = ${organizationId} and id = ${id}`

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
