import type { Tx, Writer } from '../../platform/db/db.ts'
import type { Claim } from '../../platform/queue/queue.ts'
import type { MessageId, OrganizationId } from '../../platform/values/ids.ts'

/** Marks messages as being sent, after which they cannot be cancelled. Returns those that are still queued. */
export async function markSending(
  db: Writer,
  organizationId: OrganizationId,
  claims: readonly Claim[],
): Promise<MessageId[]> {
  const rows = await db<{ id: MessageId }>`
    update messages set sending = true
    where organization_id = ${organizationId} and id = any (${claims.map(({ id }) => id)}::uuid[]) and status = 'queued'
    returning id`
  return rows.map(({ id }) => id)
}

/**
 * Takes the marks back, of lanes that this worker still holds: another worker may be sending the others. The locks keep
 * the lanes from being claimed until the commit.
 */
export async function unmarkSending(tx: Tx, organizationId: OrganizationId, claims: readonly Claim[]): Promise<void> {
  const lanes = await tx<{ lane: string; token: string }>`
    select lane, token from lanes
    where organization_id = ${organizationId} and kind = 'message.send'
      and lane = any (${claims.map(({ lane }) => lane)}::text[])
      and token = any (${claims.map(({ token }) => token)}::uuid[])
    order by lane
    for share`
  const claimedLanes = new Set(lanes.map(({ lane, token }) => `${lane} ${token}`))
  const ids = claims.flatMap(({ lane, token, id }) => (claimedLanes.has(`${lane} ${token}`) ? [id] : []))
  await tx`
    update messages set sending = false
    where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and status = 'queued'`
}
