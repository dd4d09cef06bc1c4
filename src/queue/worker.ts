import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { LRUCache } from 'lru-cache'
import { perOrganization } from '../db/cluster/batches.ts'
import { Claims } from '../db/cluster/claims.ts'
import { type Db, isConnectionFault, isQueryCanceled } from '../db/db.ts'
import { enterSection } from '../runtime/event-loop.ts'
import type { FailureLog } from '../runtime/failure-log.ts'
import type { Log } from '../runtime/log.ts'
import { Pacer } from '../runtime/pacer.ts'
import { within } from '../runtime/within.ts'
import type { OrganizationId } from '../values/ids.ts'
import type { EnqueuedJob } from './announcements.ts'
import type { Hints } from './hints.ts'
import { type Job, Lane, laneName } from './lane.ts'
import {
  claimLanes,
  findDueOrganizations,
  type LaneKey,
  type LaneRead,
  readJobs,
  releaseLanes,
  renewLanes,
} from './lanes.sql.ts'
import { type Claim, endJobs } from './queue.ts'
import type { PeerState, WorkerSpec } from './worker-spec.ts'

/**
 * A job and the generation of its lane when it was read. If the lane was reset since, the job is discarded and read
 * again.
 */
type ReadJob<Work> = { organizationId: OrganizationId; owner: Lane<Work>; generation: number; claim: Claim }

const leaseMs = 10_000
const renewEveryMs = 3_000
const lanesMax = 2_000
/** While lanes are held, or some could not be claimed, the worker looks this often whether there is something to do. */
const lookEveryMs = 250
/** With `sharesLanes`, the pause between claims. A notification of other processes takes a fraction of it. */
const claimPauseMs = 100
/** The clocks of the database and this process differ. A job that was due at once seems to be due this much later at most. */
const soonMs = 100
/**
 * An empty lane is released after this time. Until then, a new job needs no claim and no read, and no scan over dead index
 * entries.
 */
const lingerMs = 5_000
const busyFrom = 0.6
const faultRetryMs = 10_000
/** After this many failures in a row, a job is given up. */
const failuresMax = 3
const failingJobsMax = 1_000
const faultLoggedEveryMs = 10_000
const dispatchMsMax = 1_000
/** The minimum remaining lease of a lane. Also below the ten seconds a container usually has to stop. */
const stopWithinMs = leaseMs - renewEveryMs

export type WorkerOptions<Work> = { db: Db; log: Log; failures: FailureLog; hints: Hints; spec: WorkerSpec<Work> }

/** Claims lanes of one kind, reads their jobs in batches and runs as many as the limits allow. */
export class Worker<Work> {
  readonly #db: Db
  readonly #log: Log
  readonly #failures: FailureLog
  readonly #spec: WorkerSpec<Work>
  readonly #hints: Hints
  readonly #claims: Claims
  readonly #section: string
  readonly #lanes = new Map<string, Lane<Work>>()
  /** Jobs in flight by organization. */
  readonly #inFlightOf = new Map<OrganizationId, number>()
  /** Consecutive failures by job. */
  readonly #failedJobs = new LRUCache<string, number>({ max: failingJobsMax })
  #running = 0
  #inFlight = 0
  #stopping = false
  /** Whether there may be due lanes that no worker holds. */
  #mayClaim = true
  #claimedAt = Number.NEGATIVE_INFINITY
  #pausesClaims = false
  #renewedAt = performance.now()
  #faultLoggedAt = Number.NEGATIVE_INFINITY
  #endSleep: () => void = () => {}
  #woken = false
  #loop: Promise<void> = Promise.resolve()
  #firstRun: Promise<void> = Promise.resolve()
  #unlisten: () => void = () => {}

  constructor(options: WorkerOptions<Work>) {
    this.#db = options.db
    this.#log = options.log.child({ kind: options.spec.kind })
    this.#failures = options.failures
    this.#spec = options.spec
    this.#section = `job ${options.spec.kind}`
    this.#hints = options.hints
    this.#claims = new Claims(options.db)
  }

  /** The number of jobs whose handler is running: the peer has not responded yet. */
  get running(): number {
    return this.#running
  }

  start(): void {
    this.#unlisten = this.#hints.on(this.#spec.kind, {
      offered: (jobs) => this.#offered(jobs),
      enqueued: () => {
        for (const lane of this.#lanes.values()) lane.hasMore = true
        this.#due()
      },
      due: () => this.#due(),
      changed: (changed) => {
        for (const lane of this.#lanes.values()) if (lane.lane === changed) lane.retire()
        this.#wake()
      },
    })
    this.#firstRun = new Promise((resolve) => {
      this.#loop = this.#run(resolve)
    })
  }

  /** Resolves when it has looked for jobs and started them for the first time. */
  get firstRun(): Promise<void> {
    return this.#firstRun
  }

  /** Waits for jobs in flight, within a limit, and releases the lanes. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#unlisten()
    this.#wake()
    const deadline = performance.now() + stopWithinMs
    await within(stopWithinMs, this.#loop)
    while (this.#inFlight > 0 && performance.now() < deadline) await this.#sleep(100)
    for (const lane of this.#lanes.values()) lane.ready = []
    await this.#release([...this.#lanes.values()]).catch(() => {})
  }

  #due(): void {
    this.#mayClaim = true
    this.#claimedAt = Number.NEGATIVE_INFINITY
    this.#wake()
  }

  /**
   * Starts jobs that this process has just committed without reading them, if nothing has to wait for them. The others are
   * read. Returns those whose lanes this worker does not hold.
   */
  #offered(jobs: readonly EnqueuedJob[]): readonly EnqueuedJob[] {
    const now = performance.now()
    const isOpen = !this.#stopping && (this.#spec.isOpen?.() ?? true)
    const taken: ReadJob<Work>[] = []
    const others: EnqueuedJob[] = []
    let places = this.#spec.inFlightMax - this.#inFlight
    for (const job of jobs) {
      const lane = this.#lanes.get(laneName(job))
      if (!lane) {
        others.push(job)
        continue
      }
      const { organizationId, id, ctid, dueAt, payload = null, work } = job
      const waitMs = dueAt ? dueAt.getTime() - Date.now() : 0
      const hasPlace = places > 0 && this.#hasPlace(organizationId)
      if (waitMs > soonMs) lane.dueIn(waitMs)
      else if (!isOpen || !ctid || !hasPlace || !lane.canStartNew(now)) lane.hasMore = true
      else if (lane.add(id)) {
        places--
        const { kind, handedOver } = this.#spec
        const place = { organizationId, kind, lane: lane.lane, id, ctid, ...(dueAt && { dueAt }) }
        const claim: Claim = { ...place, attempt: 0, payload, token: lane.token }
        if (work !== undefined && handedOver) lane.ready.push({ claim, work: handedOver(work) })
        else taken.push({ organizationId, owner: lane, generation: lane.generation, claim })
      }
    }
    if (taken.length > 0)
      this.#prepare(taken).then(
        () => this.#wake(),
        (error) => this.#failures.failed(this.#section, error),
      )
    this.#wake()
    return others
  }

  async #run(onLooked: () => void): Promise<void> {
    while (!this.#stopping) {
      try {
        await this.#renew()
        if (this.#spec.isOpen?.() ?? true) {
          // The jobs of the lanes it holds need not wait until others are claimed.
          const [claimed] = await Promise.all([this.#claim(), this.#fill()])
          if (claimed > 0) await this.#fill()
          await this.#dispatch()
          const unused = this.#unusedLanes()
          await this.#release(unused)
          // Jobs may have been enqueued into them during the release, or wait there if the settings of a lane changed.
          if (unused.length > 0) this.#due()
        } else await this.#release(this.#stoppedLanes())
        this.#failures.succeeded(this.#section)
      } catch (error) {
        this.#failures.failed(this.#section, error)
        for (const lane of this.#lanes.values()) lane.hasMore = true
        this.#mayClaim = true
        await this.#sleep(lookEveryMs)
      }
      onLooked()
      // Without lanes there is nothing to do until it is woken. Nothing wakes it when it may start jobs again.
      const isWaiting = this.#lanes.size === 0 && !this.#mayClaim && (this.#spec.isOpen?.() ?? true)
      await this.#sleep(isWaiting ? Number.POSITIVE_INFINITY : lookEveryMs)
    }
  }

  /** Returns how many lanes were claimed. */
  async #claim(): Promise<number> {
    const now = performance.now()
    if (!this.#mayClaim || now - this.#claimedAt < lookEveryMs || this.#lanes.size >= lanesMax) return 0
    const { laneWidthMax: max, laneWidthFirst: first = max, sharesLanes } = this.#spec
    if (this.#pausesClaims && this.#running > 0) return 0
    this.#claimedAt = now
    this.#mayClaim = false
    const token = randomUUID()
    const free = lanesMax - this.#lanes.size
    const limit = sharesLanes ? Math.min(free, Math.max(1, this.#running)) : free
    const { kind } = this.#spec
    const except = this.#fullOrganizations()
    const claimed = await this.#claims.claim({
      claim: (db, organizationId) => claimLanes(db, kind, { token, leaseMs, limit, except, organizationId }),
      findDue: (among) => findDueOrganizations(this.#db, kind, { limit, except, among }),
    })
    if (claimed.length === limit || except.length > 0) this.#mayClaim = true
    if (sharesLanes && claimed.length === limit) this.#pauseClaims()
    for (const key of claimed) this.#lanes.set(laneName(key), new Lane(key, token, { first, max }))
    return claimed.length
  }

  /** Organizations that use all their places. Their other lanes are left to other processes, and do not hide those of others. */
  #fullOrganizations(): OrganizationId[] {
    if (this.#spec.perOrganizationMax === undefined) return []
    const ids = new Set([...this.#lanes.values()].map(({ organizationId }) => organizationId))
    return [...ids].filter((id) => !this.#hasPlace(id))
  }

  #hasPlace(organizationId: OrganizationId): boolean {
    const { perOrganizationMax: max } = this.#spec
    return max === undefined || (this.#inFlightOf.get(organizationId) ?? 0) < max
  }

  #countInFlight(organizationId: OrganizationId, by: 1 | -1): void {
    this.#inFlight += by
    if (this.#spec.perOrganizationMax === undefined) return
    const count = (this.#inFlightOf.get(organizationId) ?? 0) + by
    if (count === 0) this.#inFlightOf.delete(organizationId)
    else this.#inFlightOf.set(organizationId, count)
  }

  /** There may be more lanes, which are claimed after the pause. */
  #pauseClaims(): void {
    this.#pausesClaims = true
    setTimeout(() => {
      this.#pausesClaims = false
      this.#due()
    }, claimPauseMs).unref()
  }

  /**
   * Reads ahead for every lane that has room, in one statement. No job is started during the read, so freed slots are
   * filled from one large read instead of many small ones.
   */
  async #fill(): Promise<void> {
    const now = performance.now()
    const all = [...this.#lanes.values()]
    const busy = all.filter((lane) => !lane.isIdle).length
    const share = Math.ceil(this.#spec.inFlightMax / Math.max(1, busy))
    if (!all.some((lane) => lane.shouldRead(now, share))) return
    const lanes = all.filter((lane) => lane.shouldRead(now, share) || lane.joinsRead(now, share))
    const reads = lanes.map((owner) => {
      const { organizationId, lane, token, generation } = owner
      return { owner, generation, rows: 0, organizationId, lane, token, ...owner.nextRead(now, share) }
    })
    const readOf = new Map(reads.map((read) => [laneName(read), read]))
    const taken: ReadJob<Work>[] = []
    const read = (own: readonly LaneRead[]) => readJobs(this.#db.forRows(own.length), this.#spec.kind, own)
    const rows = await perOrganization(this.#db, reads, read, this.#onFault)
    for (const row of rows) {
      const read = readOf.get(laneName(row))!
      const { owner, generation, token } = read
      read.rows++
      if (generation === owner.generation && owner.addRow(row.id, row.dueAt))
        taken.push({
          organizationId: row.organizationId,
          owner,
          generation,
          claim: { kind: this.#spec.kind, token, ...row },
        })
    }
    for (const { owner, rows, limit } of reads) {
      owner.endRead()
      if (rows === limit) owner.hasMore = true
    }
    if (taken.length > 0) await this.#prepare(taken)
  }

  async #prepare(taken: ReadJob<Work>[]): Promise<void> {
    enterSection(this.#section)
    const load = async (jobs: readonly ReadJob<Work>[]) => {
      const works = await this.#spec.load(jobs.map(({ claim }) => claim)).catch((error) => {
        // Nothing has been settled: discard the jobs read so far and read them again later.
        for (const { owner, claim } of jobs) owner.remove(claim.id)
        for (const { owner } of jobs) owner.reset()
        throw error
      })
      return jobs.map((job, index) => ({ job, work: works[index] }))
    }
    const gone: Claim[] = []
    for (const { job, work } of await perOrganization(this.#db, taken, load, this.#onFault)) {
      const { owner, generation, claim } = job
      if (work === undefined) gone.push(claim)
      if (work === undefined || generation !== owner.generation) owner.remove(claim.id)
      else owner.ready.push({ claim, work })
    }
    if (gone.length > 0)
      await endJobs(
        this.#db,
        gone.map((claim) => ({ claim, retryInMs: null })),
      )
  }

  /**
   * Starts jobs round-robin, one per lane. The order is kept between calls, so when slots become free one by one, the
   * next goes to the lane that has waited longest and a lane with thousands of jobs cannot take every slot. Starting a
   * job may take several milliseconds (an email is rendered), so the loop yields to the event loop.
   */
  async #dispatch(): Promise<void> {
    const now = performance.now()
    const pacer = new Pacer()
    for (const [name, lane] of this.#lanes) {
      if (pacer.isDue) {
        await pacer.turn()
        // Return to the main loop, which renews the leases.
        if (performance.now() - now > dispatchMsMax) return this.#wake()
      }
      if (this.#stopping || this.#inFlight >= this.#spec.inFlightMax) return
      if (!lane.canStart(now) || !this.#hasPlace(lane.organizationId)) continue
      // Moves to the end of the map, which this loop reaches again.
      this.#lanes.delete(name)
      this.#lanes.set(name, lane)
      const job = lane.start()
      if (this.#spec.isSlow?.(job.work)) lane.narrow()
      void this.#start(lane, job)
    }
  }

  async #start(lane: Lane<Work>, { claim, work }: Job<Work>): Promise<void> {
    this.#running++
    this.#countInFlight(lane.organizationId, 1)
    // A wider lane helps only if the peer is the slow part. If this process was busy, more connections would not be
    // faster.
    const before = lane.isWide ? undefined : performance.eventLoopUtilization()
    let isFreed = false
    const free = (peer: PeerState) => {
      isFreed = true
      this.#running--
      lane.finish()
      if (peer === 'untried') lane.reset()
      else if (peer === 'responsive')
        lane.peerResponded(!!before && performance.eventLoopUtilization(before).utilization < busyFrom)
      else setTimeout(() => this.#wake(), lane.peerFailed()).unref()
      this.#wake()
    }
    try {
      enterSection(this.#section)
      const { peer, recorded, retryInMs } = await this.#spec.handle(claim, work)
      free(peer)
      await recorded
      if (retryInMs != null) lane.dueIn(retryInMs)
      this.#failedJobs.delete(claim.id)
    } catch (error) {
      await this.#failed(claim, work, error)
      if (!isFreed) free('unresponsive')
    }
    this.#countInFlight(lane.organizationId, -1)
    lane.remove(claim.id)
    this.#wake()
  }

  async #failed(claim: Claim, work: Work, error: unknown): Promise<void> {
    const fields = { err: error, job: claim.id, attempt: claim.attempt }
    const failures = (this.#failedJobs.get(claim.id) ?? 0) + 1
    const { giveUp } = this.#spec
    const isOutage = isConnectionFault(error) && !isQueryCanceled(error)
    if (giveUp && !isOutage && failures >= failuresMax) {
      this.#log.error(fields, 'Job failed repeatedly; it is given up')
      this.#failedJobs.delete(claim.id)
      const isEnded = await giveUp(claim, work, error).then(
        () => true,
        (fault) => void this.#log.error({ err: fault, job: claim.id }, 'Giving up a job failed'),
      )
      if (isEnded) return
    } else if (isOutage) this.#failures.failed(this.#section, error)
    else {
      if (giveUp) this.#failedJobs.set(claim.id, failures)
      this.#log.error(fields, 'Job failed; it will be retried')
    }
    await endJobs(this.#db, [{ claim, retryInMs: faultRetryMs }]).catch(() => {})
  }

  #unusedLanes(): Lane<Work>[] {
    const since = performance.now() - (this.#lanes.size < lanesMax / 2 ? lingerMs : 0)
    return [...this.#lanes.values()].filter((lane) => lane.isUnused(since))
  }

  /** While no job may be started, the lanes are released, so that their jobs can be withdrawn. */
  #stoppedLanes(): Lane<Work>[] {
    const lanes = [...this.#lanes.values()]
    for (const lane of lanes) lane.reset()
    return lanes.filter((lane) => lane.isEmpty)
  }

  async #release(lanes: Lane<Work>[]): Promise<void> {
    if (lanes.length === 0) return
    for (const lane of lanes) this.#lanes.delete(laneName(lane))
    const release = (own: readonly Lane<Work>[]) => releaseLanes(this.#db, this.#spec.kind, own).then(() => [])
    await perOrganization(this.#db, lanes, release, this.#onFault)
  }

  async #renew(): Promise<void> {
    const now = performance.now()
    if (this.#lanes.size === 0 || now - this.#renewedAt < renewEveryMs) return
    const renew = (own: readonly Lane<Work>[]) =>
      renewLanes(this.#db.forRows(own.length), this.#spec.kind, own, leaseMs)
    const kept = await perOrganization(this.#db, [...this.#lanes.values()], renew, this.#onFault)
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
  readonly #onFault = (items: readonly LaneKey[] | readonly ReadJob<Work>[], error: unknown): void => {
    const now = performance.now()
    if (now - this.#faultLoggedAt >= faultLoggedEveryMs) {
      this.#faultLoggedAt = now
      this.#log.warn({ reason: (error as Error).message }, 'A node of the database is down; its jobs are delayed')
    }
    for (const item of items) {
      const lane = this.#lanes.get(laneName('owner' in item ? item.owner : item))
      if (lane) lane.hasMore = true
    }
  }

  #wake(): void {
    this.#woken = true
    this.#endSleep()
  }

  /** Resolves after `ms`, or when woken. */
  async #sleep(ms: number): Promise<void> {
    if (!this.#woken && ms > 0) {
      await new Promise<void>((resolve) => {
        const timer = Number.isFinite(ms) ? setTimeout(resolve, ms) : undefined
        this.#endSleep = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#endSleep = () => {}
    this.#woken = false
  }
}
