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
const renewAgainMs = 250
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
  readonly #onFailure: (error: unknown) => void
  #renewal: NodeJS.Timeout | undefined
  #isStopped = false
  #faultLoggedAt = Number.NEGATIVE_INFINITY

  constructor(db: Db, log: Log, spec: WorkerSpec<Work>, onFailure: (error: unknown) => void) {
    this.#db = db
    this.#log = log
    this.#spec = spec
    this.#claims = new Claims(db)
    this.#onFailure = onFailure
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
    const heldTokens = [...new Set(this.all().map((lane) => lane.token))]
    const claimed = await this.#claims.claim({
      claim: async (db, organizationId) => {
        const leasedUntil = performance.now() + leaseMs
        const keys = await claimLanes(db, kind, { token, leaseMs, limit, except, heldTokens, organizationId })
        return keys.map((key) => new Lane<Work>(key, token, { first, max }, leasedUntil))
      },
      findDue: (among) => findDueOrganizations(this.#db, kind, { limit, except, among }),
    })
    for (const lane of claimed) this.#lanes.set(laneName(lane), lane)
    this.#renewIn(renewEveryMs)
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

  /** Renews no more leases. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#renewal)
  }

  /** Beside the other statements of the worker: on a slow database they take longer than a lease. */
  #renewIn(ms: number): void {
    if (this.#isStopped || this.#lanes.size === 0) return
    this.#renewal ??= setTimeout(async () => {
      const startedAt = performance.now()
      const isRenewed = await this.#renew().then(
        () => true,
        (error) => void this.#onFailure(error),
      )
      this.#renewal = undefined
      this.#renewIn(isRenewed ? Math.max(0, renewEveryMs - (performance.now() - startedAt)) : renewAgainMs)
    }, ms).unref()
  }

  /** Extends the leases, and forgets the lanes that another worker has claimed since. */
  async #renew(): Promise<void> {
    const renew = async (own: readonly Lane<Work>[]) => {
      // The database counts from a later time.
      const leasedUntil = performance.now() + leaseMs
      const kept = await renewLanes(this.#db.forRows(own.length), this.#spec.kind, own, leaseMs)
      const renewed = new Map(kept.map((key) => [laneName(key), key]))
      for (const lane of own) {
        const key = renewed.get(laneName(lane))
        if (!key) this.#forget(lane)
        else lane.leasedUntil = leasedUntil
        // The notification of a pause may have been lost.
        if (key?.isPaused) lane.retire()
      }
      return []
    }
    await perOrganization(this.#db, this.all(), renew, (lanes, error) => {
      this.onFault(lanes, error)
      // Others are kept, so that the outcomes of their jobs in flight can be recorded when the node is back.
      for (const lane of lanes)
        if (lane.isInFlight) lane.reset()
        else this.#forget(lane)
    })
  }

  #forget(lane: Lane<Work>): void {
    lane.reset()
    lane.leasedUntil = Number.NEGATIVE_INFINITY
    // It may have been claimed again since.
    if (this.get(lane) === lane) this.#lanes.delete(laneName(lane))
  }

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
