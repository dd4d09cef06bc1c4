import type { Reader, Writer } from '../../platform/db/db.ts'
import type { BroadcastId, OrganizationId } from '../../platform/values/ids.ts'
import type { LinkClicks } from './reactions.sql.ts'
import type { Reactions } from './reactions.ts'

/** Results as they were counted last. */
export type StoredResults = {
  broadcastId: BroadcastId
  countedAt: Date
  countMs: number
  reactions: Reactions
  links: LinkClicks[]
}

/** Links are null if they cannot be counted any more, because events were deleted. */
export type CountedResults = Omit<StoredResults, 'links'> & { links: LinkClicks[] | null }

/** The links are left out: a list does not show them. */
export type ListedResults = Omit<StoredResults, 'links'>

export const selectListed = (db: Reader, organizationId: OrganizationId, ids: readonly BroadcastId[]) =>
  db<ListedResults>`
    select broadcast_id, counted_at, count_ms, reactions from broadcast_results
    where organization_id = ${organizationId} and broadcast_id = any (${ids}::uuid[])`

export const selectResults = (db: Reader, organizationId: OrganizationId, id: BroadcastId) =>
  db<StoredResults>`
    select broadcast_id, counted_at, count_ms, reactions, links from broadcast_results
    where organization_id = ${organizationId} and broadcast_id = ${id}`

/** Results that were counted later stay, and so do links that were counted before. */
export const upsertResults = (
  db: Writer,
  organizationId: OrganizationId,
  { broadcastId, countedAt, countMs, reactions, links }: CountedResults,
) => db`
  insert into broadcast_results (organization_id, broadcast_id, counted_at, count_ms, reactions, links)
  values (${organizationId}, ${broadcastId}, ${countedAt}, ${Math.round(countMs)}, ${JSON.stringify(reactions)}::jsonb,
    ${JSON.stringify(links ?? [])}::jsonb)
  on conflict (organization_id, broadcast_id) do update
  set counted_at = excluded.counted_at, count_ms = excluded.count_ms, reactions = excluded.reactions,
    links = case when ${links === null} then broadcast_results.links else excluded.links end
  where broadcast_results.counted_at <= excluded.counted_at`
