import type { Reader } from '../platform/db/db.ts'
import { sql } from '../platform/db/sql.ts'
import { type FlowId, type OrganizationId, type SegmentId, toText } from '../platform/values/ids.ts'

/** What a scheduled broadcast reads when it starts, and thereby what its recipients get. */
export type Used = { flowId: FlowId } | { segmentIds: SegmentId[] }

/** Returns the name of a broadcast that is scheduled or collects its recipients, with this flow or one of these segments, or undefined if there is none. */
export async function findScheduledWith(
  db: Reader,
  organizationId: OrganizationId,
  used: Used,
): Promise<string | undefined> {
  const uses =
    'flowId' in used
      ? sql`flow_id = ${used.flowId}`
      : sql`(audience -> 'segment_ids') || (audience -> 'exclude_segment_ids') ?| ${used.segmentIds.map((id) => toText('seg', id))}::text[]`
  const [row] = await db<{ name: string }>`
    select name from broadcasts
    where organization_id = ${organizationId} and status in ('scheduled', 'preparing') and recipients is null and ${uses}
    limit 1`
  return row?.name
}
