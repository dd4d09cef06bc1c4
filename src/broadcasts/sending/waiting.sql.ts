import type { Reader } from '../../platform/db/db.ts'
import type { BroadcastId, OrganizationId } from '../../platform/values/ids.ts'
import { broadcastKind, retryLane } from '../ledger/lanes.ts'

type Key = { organizationId: OrganizationId; id: BroadcastId }

export type WaitingPart = {
  /** When it goes on. In the past while it is being sent. */
  dueAt: Date
  zone: string | null
  isStarted: boolean
}

/** Returns the parts that have not ended, those that go on soonest first. */
export const selectWaitingParts = (db: Reader, { organizationId, id }: Key, limit: number) =>
  db<WaitingPart>`
    select first.due_at, parts.zone, parts.chunks <> '[]' as is_started
    from broadcast_parts as parts
    cross join lateral (
      select due_at from jobs
      where jobs.organization_id = ${organizationId} and jobs.kind = ${broadcastKind}
        and jobs.lane = ${id}::text || '/' || parts.part
      order by due_at
      limit 1
    ) as first
    where parts.organization_id = ${organizationId} and parts.broadcast_id = ${id} and parts.done_at is null
    order by first.due_at
    limit ${limit}`

export type WaitingEmail = { dueAt: Date; reason: string | null; relayReply: string | null }

/** Returns emails that are tried again, those that are due first. */
export const selectWaitingEmails = (db: Reader, { organizationId, id }: Key, limit: number) =>
  db<WaitingEmail>`
    select first.due_at, messages.reason, messages.relay_reply
    from (
      select id, due_at from jobs
      where organization_id = ${organizationId} and kind = 'message.send' and lane = ${retryLane(id)}
      order by due_at, id
      limit ${limit}
    ) as first
    join messages on messages.organization_id = ${organizationId} and messages.id = first.id
    order by first.due_at`
