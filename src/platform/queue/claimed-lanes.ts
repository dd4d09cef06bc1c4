import { randomUUID } from 'node:crypto'
import { perOrganization } from '../db/cluster/batches.ts'
import { Claims } from '../db/cluster/claims.ts'
import type { Db } from '../db/db.ts'
import type { Log } from '../runtime/log.ts'
import { groupBy } from '../values/group-by.ts'
import type { OrganizationId } from '../values/ids.ts'
import { Lane, laneName } from './lane.ts'
import { abandonLanes, claimLanes, findDueOrganizations, type LaneKey, releaseLanes, renewLanes } from './lanes.sql.ts'
import type { WorkerSpec } from './worker-spec.ts'

const leaseMs = 10_000
const renewEveryMs = 3_000
const lanesMax = 2_000
/**
 * An empty lane is released after this time. Until then, a new job needs no claim and no read, and no scan over dead index
 * entries.
 */
const lingerMs = 5_000
const faultLoggedEveryMs = 10_000

/** The minimum remaining lease of a lane. Also below the ten seconds a container usually has to stop. */
export const leaseMsMin = leaseMs - renewEveryMs

/** The lanes that a worker has leased. Iterating gives them in the order in which they take turns. */
export class ClaimedLanes<Work> {
  readonly #db: Db
  readonly #log: Log
  readonly #spec: Pick<WorkerSpec<Work>, 'kind' | 'laneWidthMax' | 'laneWidthFirst'>
  readonly #claims: Claims
  readonly #lanes = new Map<string, Lane<Work>>()
  #renewedAt = performance.now()
  #faultLoggedAt = Number.NEGATIVE_INFINITY

  constructor(db: Db, log: Log, spec: WorkerSpec<Work>) {
    this.#db = db
    this.#log = log
    this.#spec = spec
    this.#claims = new Claims(db)
  }

  get size(): number {
    return this.#lanes.size
  }

  /** How many more lanes may be claimed. */
  get room(): number {
    return lanesMax - this.#lanes.size
  }

  [Symbol.iterator](): IterableIterator<Lane<Work>> {
    return this.#lanes.values()
  }

  all(): Lane<Work>[] {
    return [...this.#lanes.values()]
  }

  get(key: LaneKey): Lane<Work> | undefined {
    return this.#lanes.get(laneName(key))
  }

  /** Moves a lane behind all others. An iteration that is under way reaches it again. */
  moveToEnd(lane: Lane<Work>): void {
    const name = laneName(lane)
    this.#lanes.delete(name)
    this.#lanes.set(name, lane)
  }

  /** Returns how many due lanes were claimed. */
  async claim(limit: number, except: OrganizationId[]): Promise<number> {
    const { kind, laneWidthMax: max, laneWidthFirst: first = max } = this.#spec
    const token = randomUUID()
    const claimed = await this.#claims.claim({
      claim: (db, organizationId) => claimLanes(db, kind, { token, leaseMs, limit, except, organizationId }),
      findDue: (among) => findDueOrganizations(this.#db, kind, { limit, except, among }),
    })
    for (const key of claimed) this.#lanes.set(laneName(key), new Lane(key, token, { first, max }))
    return claimed.length
  }

  unused(): Lane<Work>[] {
    const since = performance.now() - (this.#lanes.size < lanesMax / 2 ? lingerMs : 0)
    return this.all().filter((lane) => lane.isUnused(since))
  }

  async release(lanes: readonly Lane<Work>[]): Promise<void> {
    if (lanes.length === 0) return
    for (const lane of lanes) this.#lanes.delete(laneName(lane))
    const release = (own: readonly Lane<Work>[]) => releaseLanes(this.#db, this.#spec.kind, own).then(() => [])
    await perOrganization(this.#db, lanes, release, this.onFault)
  }

  /** Keeps the remaining lanes from others until their leases expire. Outcomes of their jobs are not recorded any more. */
  async abandon(): Promise<void> {
    for (const [organizationId, held] of groupBy(this.all(), (lane) => lane.organizationId))
      await abandonLanes(this.#db, this.#spec.kind, organizationId, held)
  }

  /** Extends the leases if that is due, and forgets the lanes that another worker has claimed since. */
  async renew(): Promise<void> {
    const now = performance.now()
    if (this.#lanes.size === 0 || now - this.#renewedAt < renewEveryMs) return
    const renew = (own: readonly Lane<Work>[]) =>
      renewLanes(this.#db.forRows(own.length), this.#spec.kind, own, leaseMs)
    const kept = await perOrganization(this.#db, this.all(), renew, this.onFault)
    // Set after success only: after an outage, leases are renewed before lanes are claimed, so that we do not claim our
    // own.
    this.#renewedAt = now
    const renewed = new Map(kept.map((key) => [laneName(key), key]))
    for (const [name, lane] of this.#lanes) {
      const key = renewed.get(name)
      // The notification of a pause may have been lost.
      if (key?.isPaused) lane.retire()
      if (key) continue
      lane.ready = []
      this.#lanes.delete(name)
    }
  }

  /** The lanes of a node that is down are released when they cannot be renewed, and claimed again when it is back. */
  readonly onFault = (lanes: readonly LaneKey[], error: unknown): void => {
    const now = performance.now()
    if (now - this.#faultLoggedAt >= faultLoggedEveryMs) {
      this.#faultLoggedAt = now
      this.#log.warn({ reason: (error as Error).message }, 'A node of the database is down; its jobs are delayed')
    }
    for (const key of lanes) {
      const lane = this.get(key)
      if (lane) lane.hasMore = true
    }
  }
}
