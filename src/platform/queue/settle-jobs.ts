import { perOrganization } from '../db/cluster/batches.ts'
import { onShardsOf } from '../db/cluster/shards.ts'
import type { Db, Tx } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import { groupBy } from '../values/group-by.ts'
import type { Claim } from './queue.ts'

/**
 * The job is deleted if `retryInMs` is null, otherwise postponed by that time on the clock of the database. If it is
 * `untried`, or if it has failed (`faults` times in a row), this does not count as an attempt.
 */
export type Settlement = { claim: Claim; retryInMs: number | null; untried?: boolean; faults?: number }

/**
 * Names a job as it was claimed. A process whose lease expired may claim the lane again: the same job is then settled twice, and
 * only with the token of the second claim.
 */
const keyOf = ({ id, token }: Pick<Claim, 'id' | 'token'>): string => `${id} ${token}`

const stateOf = ({ attempt, faults, ...key }: Pick<Claim, 'id' | 'token' | 'attempt' | 'faults'>): string =>
  `${keyOf(key)} ${attempt} ${faults}`

export const settlementsOf = (items: readonly { settlement: Settlement }[]): Settlement[] =>
  items.map(({ settlement }) => settlement)

/** Which jobs were settled. */
export class Settled {
  readonly #keys: ReadonlySet<string>

  constructor(rows: readonly Pick<Claim, 'id' | 'token'>[]) {
    this.#keys = new Set(rows.map(keyOf))
  }

  get size(): number {
    return this.#keys.size
  }

  has({ claim }: Pick<Settlement, 'claim'>): boolean {
    return this.#keys.has(keyOf(claim))
  }

  hasAll(items: readonly { settlement: Settlement }[]): boolean {
    return items.every(({ settlement }) => this.has(settlement))
  }
}

/**
 * Deletes or postpones jobs whose lanes this worker still holds, and returns them. Another worker runs the others, so their
 * outcome must not be recorded.
 */
export async function settleJobs(tx: Tx, settlements: readonly Settlement[]): Promise<Settled> {
  const rows = await settleAtCtid(tx, settlements)
  const settled = new Settled(rows)
  const others = settlements.filter((settlement) => !settled.has(settlement))
  if (others.length === 0) return settled
  const moved = await findMoved(tx, others)
  return moved.length > 0 ? new Settled([...rows, ...(await settleAtCtid(tx, moved))]) : settled
}

async function settleAtCtid(tx: Tx, settlements: readonly Settlement[]): Promise<Pick<Claim, 'id' | 'token'>[]> {
  const done = settlements.filter(({ retryInMs }) => retryInMs === null)
  const postponed = settlements.filter(({ retryInMs }) => retryInMs !== null)
  const rows = await Promise.all([
    done.length > 0 ? deleteJobs(tx, done) : [],
    postponed.length > 0 ? postponeJobs(tx, postponed) : [],
  ])
  return rows.flat()
}

/**
 * Returns the settlements whose rows were moved while this worker held their lanes, with their new place. A job that was postponed
 * since it was read is not among them: it was settled by a transaction whose commit was not confirmed.
 */
async function findMoved(tx: Tx, settlements: readonly Settlement[]): Promise<Settlement[]> {
  /** By `stateOf`. */
  const ctids = new Map<string, string>()
  for (const [, own] of groupBy(settlements, ({ claim }) => `${claim.organizationId} ${claim.kind}`)) {
    const claims = own.map(({ claim }) => claim)
    const { organizationId, kind } = claims[0]!
    const rows = await tx<Pick<Claim, 'id' | 'token' | 'attempt' | 'faults' | 'ctid'>>`
      select jobs.id, lanes.token, jobs.attempt - jobs.faults as attempt, jobs.faults, jobs.ctid
      from lanes
      join jobs using (organization_id, kind, lane)
      where lanes.organization_id = ${organizationId} and lanes.kind = ${kind}
        and lanes.lane = any (${[...new Set(claims.map(({ lane }) => lane))]}::text[])
        and lanes.token = any (${[...new Set(claims.map(({ token }) => token))]}::uuid[])
        and jobs.id = any (${claims.map(({ id }) => id)}::uuid[])`
    for (const { ctid, ...row } of rows) ctids.set(stateOf(row), ctid)
  }
  return settlements.flatMap(({ claim, ...rest }) => {
    const ctid = ctids.get(stateOf(claim))
    return ctid === undefined ? [] : [{ ...rest, claim: { ...claim, ctid } }]
  })
}

/**
 * Runs `write`, which settles the jobs of these items and records their outcomes in one transaction, and returns what
 * `settleJobs` returned. Lanes are rarely lost, so it does not wait for that answer before it writes more. If one was lost
 * (`!settled.hasAll(items)`), it rolls everything back, and is called again without the items of that lane.
 */
export async function settling<Item extends { settlement: Settlement }>(
  items: readonly Item[],
  write: (items: readonly Item[]) => Promise<Settled>,
): Promise<void> {
  let ours = items
  while (ours.length > 0) {
    const settled = await write(ours)
    if (settled.hasAll(ours)) return
    ours = ours.filter(({ settlement }) => settled.has(settlement))
  }
}

/** Settles jobs that have nothing else to record. */
export async function endJobs(db: Db, settlements: readonly Settlement[]): Promise<void> {
  const items = settlements.map((settlement) => ({ ...settlement, organizationId: settlement.claim.organizationId }))
  const settle = async (some: readonly Settlement[]) => {
    await db.begin((tx) => settleJobs(tx, some))
    return []
  }
  await perOrganization(db, items, settle, rethrow)
}

const rethrow = (_items: unknown, error: unknown) => {
  throw error
}

// By ctid: if the statistics of the queue are out of date, the planner would look the keys up by reading the whole queue
// of an organization, and so the organization is not joined. The id is compared as well: if the lane was dropped, the
// ctid may belong to another job.

function deleteJobs(tx: Tx, settlements: readonly Settlement[]): Promise<{ id: string; token: string }[]> {
  return tx<{ id: string; token: string }>`
    delete from jobs
    using unnest(
      ${settlements.map(({ claim }) => claim.organizationId)}::uuid[],
      ${settlements.map(({ claim }) => claim.kind)}::text[],
      ${settlements.map(({ claim }) => claim.lane)}::text[],
      ${settlements.map(({ claim }) => claim.token)}::uuid[],
      ${settlements.map(({ claim }) => claim.ctid)}::tid[],
      ${settlements.map(({ claim }) => claim.id)}::uuid[]
    ) as settled (organization_id, kind, lane, token, row_ctid, id)
    join lanes using (organization_id, kind, lane, token)
    where jobs.ctid = settled.row_ctid and jobs.id = settled.id ${onShardsOfJobs(tx, settlements)}
    returning jobs.id, settled.token`
}

const onShardsOfJobs = (tx: Tx, settlements: readonly Settlement[]) =>
  onShardsOf(
    tx,
    settlements.map(({ claim }) => claim),
    sql`jobs.organization_id`,
    sql`lanes.organization_id`,
  )

function postponeJobs(tx: Tx, settlements: readonly Settlement[]): Promise<{ id: string; token: string }[]> {
  return tx<{ id: string; token: string }>`
    update jobs
    set due_at = settled.due_at, attempt = jobs.attempt - jobs.faults + settled.counted + settled.faults, faults = settled.faults
    from (select row.*, now() + retry_in_ms * interval '1 ms' as due_at from unnest(
      ${settlements.map(({ claim }) => claim.organizationId)}::uuid[],
      ${settlements.map(({ claim }) => claim.kind)}::text[],
      ${settlements.map(({ claim }) => claim.lane)}::text[],
      ${settlements.map(({ claim }) => claim.token)}::uuid[],
      ${settlements.map(({ claim }) => claim.ctid)}::tid[],
      ${settlements.map(({ claim }) => claim.id)}::uuid[],
      ${settlements.map(({ retryInMs }) => retryInMs)}::int8[],
      ${settlements.map(({ untried, faults }) => (untried || faults ? 0 : 1))}::int[],
      ${settlements.map(({ faults = 0 }) => faults)}::int[]
    ) as row (organization_id, kind, lane, token, row_ctid, id, retry_in_ms, counted, faults) offset 0) as settled
    join lanes using (organization_id, kind, lane, token)
    where jobs.ctid = settled.row_ctid and jobs.id = settled.id ${onShardsOfJobs(tx, settlements)}
    returning jobs.id, settled.token`
}
