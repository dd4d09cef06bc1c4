import type { Reader, Tx } from '../platform/db/db.ts'
import type { FlowId, FlowVersionId, OrganizationId } from '../platform/values/ids.ts'
import type { Broadcast } from './broadcasts.sql.ts'

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
