import type { Tx } from '../db/db.ts'
import type { OrganizationId } from '../values/ids.ts'
import type { JobKind } from './queue.ts'

/** Jobs of one kind of an organization. */
export type JobKeys = { organizationId: OrganizationId; kind: JobKind; jobs: readonly { lane: string; id: string }[] }
/** Both inclusive. Jobs have no index by id, so the search needs a range of due times. */
export type DueRange = { from: Date; to: Date }

const lanesOf = ({ jobs }: JobKeys) => [...new Set(jobs.map(({ lane }) => lane))]
const idsOf = ({ jobs }: JobKeys) => jobs.map(({ id }) => id)

/** Deletes jobs whose work no longer exists, and returns their ids. Otherwise, a worker would delete them when they are due. */
export async function deleteJobs(tx: Tx, keys: JobKeys, { from, to }: DueRange): Promise<Set<string>> {
  const rows = await tx<{ id: string }>`
    delete from jobs
    where organization_id = ${keys.organizationId} and kind = ${keys.kind} and lane = any (${lanesOf(keys)}::text[])
      and due_at between ${from} and ${to} and id = any (${idsOf(keys)}::uuid[])
    returning id`
  return new Set(rows.map(({ id }) => id))
}

/**
 * Deletes jobs whose lanes no worker has, and returns their ids. The lanes stay locked until the end of the transaction, so no
 * worker can claim them in between. A lane whose lease expired counts as claimed: its worker may only be slow.
 */
export async function withdrawJobs(tx: Tx, keys: JobKeys, due: DueRange): Promise<Set<string>> {
  const lanes = await tx<{ lane: string; isClaimed: boolean }>`
    select lane, token is not null as is_claimed from lanes
    where organization_id = ${keys.organizationId} and kind = ${keys.kind} and lane = any (${lanesOf(keys)}::text[])
    order by lane
    for update`
  const free = new Set(lanes.flatMap(({ lane, isClaimed }) => (isClaimed ? [] : [lane])))
  if (free.size === 0) return new Set()
  return deleteJobs(tx, { ...keys, jobs: keys.jobs.filter(({ lane }) => free.has(lane)) }, due)
}

/** Returns the attempts of jobs that were attempted before and are due after this time. Reads the later jobs of their lanes. */
export async function findPostponed(tx: Tx, keys: JobKeys, dueAfter: Date): Promise<Map<string, number>> {
  const rows = await tx<{ id: string; attempt: number }>`
    select id, attempt from jobs
    where organization_id = ${keys.organizationId} and kind = ${keys.kind} and lane = any (${lanesOf(keys)}::text[])
      and due_at > ${dueAfter} and id = any (${idsOf(keys)}::uuid[]) and attempt > 0`
  return new Map(rows.map(({ id, attempt }) => [id, attempt]))
}
