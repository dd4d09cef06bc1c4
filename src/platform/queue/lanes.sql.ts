import { randomUUID } from 'node:crypto'
import type { Db, Reader, Tx, Writer } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import type { OrganizationId } from '../values/ids.ts'
import type { Claim, JobKind } from './queue.ts'

export type LaneKey = { organizationId: OrganizationId; lane: string }

export type ClaimOptions = {
  token: string
  leaseMs: number
  limit: number
  /** No lanes of these organizations are claimed. */
  except?: readonly OrganizationId[]
  /** Of lanes that the worker holds already, although their leases may have expired. They are renewed instead. */
  heldTokens?: readonly string[]
  /** Claims only lanes of this organization. */
  organizationId?: OrganizationId | undefined
}

const isNotHeld = (tokens: readonly string[]) =>
  tokens.length === 0 ? sql`` : sql`and (token is null or token <> all (${tokens}::uuid[]))`

const isNoneOf = (organizationIds: readonly OrganizationId[]) =>
  organizationIds.length === 0 ? sql`` : sql`and organization_id <> all (${organizationIds}::uuid[])`

/** Claims due lanes that no worker holds. Rows locked by another worker are skipped. */
export async function claimLanes(
  db: Writer,
  kind: JobKind,
  { token, leaseMs, limit, except = [], heldTokens = [], organizationId }: ClaimOptions,
): Promise<LaneKey[]> {
  const isOwn = organizationId === undefined ? sql`` : sql`and lanes.organization_id = ${organizationId}`
  return db<LaneKey>`
    with due as materialized (
      select organization_id, kind, lane
      from lanes
      where kind = ${kind} and next_due_at <= now() and not held and leased_until < now() ${isOwn} ${isNoneOf(except)}
        ${isNotHeld(heldTokens)}
      order by next_due_at
      limit ${limit}
      for update skip locked
    )
    update lanes
    set token = ${token}, leased_until = now() + ${leaseMs} * interval '1 ms'
    from due
    where lanes.organization_id = due.organization_id and lanes.kind = due.kind and lanes.lane = due.lane ${isOwn}
    returning lanes.organization_id, lanes.lane`
}

export type DueKind = { kind: JobKind; inMs: number }

/** Returns the kinds with lanes that no worker holds and that are due within this time, and when the first of them is due. */
export const findDueKinds = (db: Reader, kinds: readonly JobKind[], withinMs: number) =>
  db<DueKind>`
    select kind, ceil(extract(epoch from min(next_due_at) - now()) * 1000)::float8 as in_ms
    from lanes
    where kind = any (${kinds}::text[]) and next_due_at <= now() + ${withinMs} * interval '1 ms' and not held
      and leased_until < now()
    group by kind`

/** Returns the organizations that have due lanes which no worker holds, those that have waited longest first. */
export async function findDueOrganizations(
  db: Reader,
  kind: JobKind,
  {
    limit,
    except = [],
    among,
  }: Pick<ClaimOptions, 'limit' | 'except'> & { among?: readonly OrganizationId[] | undefined },
): Promise<{ organizationId: OrganizationId }[]> {
  const isAmong = among === undefined ? sql`` : sql`and organization_id = any (${among}::uuid[])`
  return db<{ organizationId: OrganizationId }>`
    select organization_id
    from lanes
    where kind = ${kind} and next_due_at <= now() and not held and leased_until < now() ${isAmong} ${isNoneOf(except)}
    group by organization_id
    order by min(next_due_at)
    limit ${limit}`
}

export type LaneHold = LaneKey & { token: string }

/** Extends the leases and returns the lanes whose token still matches, and whether they are paused. */
export const renewLanes = (db: Writer, kind: JobKind, holds: readonly LaneHold[], leaseMs: number) =>
  db<LaneKey & { isPaused: boolean }>`
    update lanes
    set leased_until = now() + ${leaseMs} * interval '1 ms'
    from unnest(
      ${holds.map((hold) => hold.organizationId)}::uuid[],
      ${holds.map((hold) => hold.lane)}::text[],
      ${holds.map((hold) => hold.token)}::uuid[]
    ) as hold (organization_id, lane, token)
    where lanes.organization_id = hold.organization_id and lanes.kind = ${kind} and lanes.lane = hold.lane
      and lanes.token = hold.token
    returning lanes.organization_id, lanes.lane, lanes.held as is_paused`

export type LaneRead = LaneHold & { afterDue: Date; afterId: string; limit: number }
export type JobRow = LaneKey & Pick<Claim, 'id' | 'ctid' | 'attempt' | 'faults' | 'payload'> & { dueAt: Date }

/**
 * Returns the next due jobs of several claimed lanes that are not paused. Each read starts after the last row of the
 * previous one: deleted jobs leave dead entries at the low end of the index, which cannot be removed while an old
 * snapshot is open.
 */
export const readJobs = (db: Reader, kind: JobKind, reads: readonly LaneRead[]) =>
  db<JobRow>`
    select job.*
    from unnest(
      ${reads.map((read) => read.organizationId)}::uuid[],
      ${reads.map((read) => read.lane)}::text[],
      ${reads.map((read) => read.token)}::uuid[],
      ${reads.map((read) => read.afterDue)}::timestamptz[],
      ${reads.map((read) => read.afterId)}::uuid[],
      ${reads.map((read) => read.limit)}::int[]
    ) as read (organization_id, lane, token, after_due, after_id, row_limit)
    join lanes on lanes.organization_id = read.organization_id and lanes.kind = ${kind} and lanes.lane = read.lane
      and lanes.token = read.token and not lanes.held
    cross join lateral (
      select jobs.organization_id, jobs.lane, jobs.id, jobs.due_at, jobs.attempt - jobs.faults as attempt, jobs.faults,
        jobs.payload, jobs.ctid
      from jobs
      where jobs.organization_id = read.organization_id and jobs.kind = ${kind} and jobs.lane = read.lane
        and (jobs.due_at, jobs.id) > (read.after_due, read.after_id)
        and jobs.due_at <= now()
      order by jobs.due_at, jobs.id
      limit read.row_limit
    ) as job`

/** `waitMs`: its jobs are not due before this time has passed. */
export type LaneRelease = LaneHold & { waitMs: number }

/**
 * Releases lanes with their next due time, and deletes those without jobs, which enqueueing a job creates again: each part of a
 * broadcast has a lane. The lane rows are locked first and the jobs read in further statements, so that jobs of a transaction that
 * held the lane's row are visible. Otherwise a lane could be left without a due time, or deleted, although it has jobs. With
 * `offset 0`, Citus computes the times before it sends the update to the nodes.
 */
export async function releaseLanes(db: Db, kind: JobKind, releases: readonly LaneRelease[]): Promise<void> {
  const organizationIds = releases.map((release) => release.organizationId)
  const lanes = releases.map((release) => release.lane)
  const tokens = releases.map((release) => release.token)
  const release = async (tx: Tx) => {
    await tx`
      select from lanes
      join unnest(${organizationIds}::uuid[], ${lanes}::text[]) as release (organization_id, lane)
        on lanes.organization_id = release.organization_id and lanes.lane = release.lane and lanes.kind = ${kind}
      order by lanes.organization_id, lanes.kind, lanes.lane
      for update of lanes`
    tx.send`
      delete from lanes
      using unnest(${organizationIds}::uuid[], ${lanes}::text[], ${tokens}::uuid[]) as release (organization_id, lane, token)
      where lanes.organization_id = release.organization_id and lanes.kind = ${kind} and lanes.lane = release.lane
        and lanes.token = release.token and not lanes.held
        and not exists (
          select from jobs
          where jobs.organization_id = lanes.organization_id and jobs.kind = lanes.kind and jobs.lane = lanes.lane)`
    await tx`
      update lanes
      set token = null, leased_until = '-infinity', next_due_at = greatest((
        select min(due_at) from jobs
        where jobs.organization_id = lanes.organization_id and jobs.kind = lanes.kind and jobs.lane = lanes.lane),
        release.not_before)
      from (
        select organization_id, lane, token, now() + nullif(wait_ms, 0) * interval '1 ms' as not_before
        from unnest(
          ${organizationIds}::uuid[], ${lanes}::text[], ${tokens}::uuid[], ${releases.map(({ waitMs }) => waitMs)}::int8[]
        ) as given (organization_id, lane, token, wait_ms) offset 0
      ) as release
      where lanes.organization_id = release.organization_id and lanes.kind = ${kind} and lanes.lane = release.lane
        and lanes.token = release.token`
  }
  await db.begin(release, { rows: releases.length })
}

/**
 * Gives lanes another token until their leases expire, so that outcomes of jobs in flight are not recorded and nobody else
 * takes the lanes over before.
 */
export const abandonLanes = (
  db: Db,
  kind: JobKind,
  organizationId: OrganizationId,
  held: readonly Pick<LaneRelease, 'lane' | 'token'>[],
) =>
  db.statement`
    update lanes set token = ${randomUUID()}
    where organization_id = ${organizationId} and kind = ${kind} and lane = any (${held.map(({ lane }) => lane)}::text[])
      and token = any (${held.map(({ token }) => token)}::uuid[])`
