import { performance } from 'node:perf_hooks'
import type { Db } from '../db/db.ts'
import { Alarm } from '../runtime/alarm.ts'
import { enterSection } from '../runtime/event-loop.ts'
import type { FailureLog } from '../runtime/failure-log.ts'
import type { Log } from '../runtime/log.ts'
import { Pacer } from '../runtime/pacer.ts'
import { within } from '../runtime/within.ts'
import type { OrganizationId } from '../values/ids.ts'
import { ClaimedLanes, leaseMsMin } from './claimed-lanes.ts'
import { FailingJobs } from './failing-jobs.ts'
import type { Hints } from './hints.ts'
import { InFlightLimit } from './in-flight-limit.ts'
import { JobReader, type ReadJob } from './job-reader.ts'
import type { Job, Lane } from './lane.ts'
import type { Claim, EnqueuedJob } from './queue.ts'
import type { PeerState, WorkerSpec } from './worker-spec.ts'

/** While lanes are held, or some could not be claimed, the worker looks this often whether there is something to do. */
const lookEveryMs = 250
/** With `sharesLanes`, the pause between claims. A notification of other processes takes a fraction of it. */
const claimPauseMs = 100
/** The clocks of the database and this process differ. A job that was due at once seems to be due this much later at most. */
const soonMs = 100
const busyFrom = 0.6
const dispatchMsMax = 1_000

export type WorkerOptions<Work> = { db: Db; log: Log; failures: FailureLog; hints: Hints; spec: WorkerSpec<Work> }

/** Claims lanes of one kind, reads their jobs in batches and runs as many as the limits allow. */
export class Worker<Work> {
  readonly #failures: FailureLog
  readonly #spec: WorkerSpec<Work>
  readonly #hints: Hints
  readonly #section: string
  readonly #lanes: ClaimedLanes<Work>
  readonly #reader: JobReader<Work>
  readonly #limit: InFlightLimit
  readonly #failing: FailingJobs<Work>
  readonly #alarm = new Alarm()
  #running = 0
  #stopping = false
  /** Whether there may be due lanes that no worker holds. */
  #mayClaim = true
  #claimedAt = Number.NEGATIVE_INFINITY
  #pausesClaims = false
  #loop: Promise<void> = Promise.resolve()
  #firstRun: Promise<void> = Promise.resolve()
  #unlisten: () => void = () => {}

  constructor({ db, log: parentLog, failures, hints, spec }: WorkerOptions<Work>) {
    const log = parentLog.child({ kind: spec.kind })
    this.#failures = failures
    this.#spec = spec
    this.#section = `job ${spec.kind}`
    this.#hints = hints
    this.#lanes = new ClaimedLanes(db, log, spec, (error) => failures.failed(this.#section, error))
    this.#reader = new JobReader(db, spec, this.#lanes, this.#section)
    this.#limit = new InFlightLimit(spec)
    this.#failing = new FailingJobs({ db, log, failures, section: this.#section, spec })
  }

  /** The number of jobs whose handler is running: the peer has not responded yet. */
  get running(): number {
    return this.#running
  }

  start(): void {
    this.#unlisten = this.#hints.on(this.#spec.kind, {
      offered: (jobs) => this.#offered(jobs),
      enqueued: () => {
        for (const lane of this.#lanes) lane.hasMore = true
        this.#due()
      },
      due: () => this.#due(),
      changed: (changed) => {
        for (const lane of this.#lanes) if (lane.lane === changed) lane.retire()
        this.#alarm.wake()
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

  /** Waits for jobs in flight, within a limit, and releases the lanes that have none. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#spec.onStop?.()
    this.#unlisten()
    this.#lanes.stop()
    this.#alarm.wake()
    const deadline = performance.now() + leaseMsMin
    await within(leaseMsMin, this.#loop)
    while (this.#limit.inFlight > 0 && performance.now() < deadline) await this.#alarm.sleep(100)
    this.#failing.stop()
    await this.#lanes.release(this.#emptyLanes()).catch(() => {})
    // Lanes with jobs in flight expire: until then, their jobs can neither be withdrawn nor run by another worker. That this
    // process ends must not count as an attempt that failed.
    await this.#lanes.abandon().catch(() => {})
  }

  #due(): void {
    this.#mayClaim = true
    this.#claimedAt = Number.NEGATIVE_INFINITY
    this.#alarm.wake()
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
    let places = this.#limit.free
    for (const job of jobs) {
      const lane = this.#lanes.get(job)
      if (!lane) {
        others.push(job)
        continue
      }
      const { organizationId, id, ctid, dueAt, isScheduled, payload = null, work } = job
      const waitMs = dueAt ? dueAt.getTime() - Date.now() : 0
      const hasPlace =
        places > 0 && this.#limit.hasCapacityFor(organizationId) && !(this.#spec.waitMsFor?.(organizationId) ?? 0)
      if (waitMs > (isScheduled ? 0 : soonMs)) lane.dueIn(waitMs)
      else if (!isOpen || !ctid || !hasPlace || !lane.canStartNew(now)) lane.hasMore = true
      else if (lane.add(id)) {
        places--
        const { kind, handedOver } = this.#spec
        const place = { organizationId, kind, lane: lane.lane, id, ctid, ...(dueAt && { dueAt }) }
        const claim: Claim = { ...place, attempt: 0, faults: 0, payload, token: lane.token }
        if (work !== undefined && handedOver) lane.ready.push({ claim, work: handedOver(work) })
        else taken.push({ organizationId, owner: lane, generation: lane.generation, claim })
      }
    }
    if (taken.length > 0)
      this.#reader.load(taken).then(
        () => this.#alarm.wake(),
        (error) => this.#failures.failed(this.#section, error),
      )
    this.#alarm.wake()
    return others
  }

  async #run(onLooked: () => void): Promise<void> {
    while (!this.#stopping) {
      try {
        this.#limit.freeSilent()
        if (this.#spec.isOpen?.() ?? true) {
          this.#retireWaitingLanes()
          // The jobs of the lanes it holds need not wait until others are claimed.
          const [claimed] = await Promise.all([this.#claim(), this.#reader.readAhead()])
          if (claimed > 0) await this.#reader.readAhead()
          await this.#dispatch()
          const unused = this.#lanes.unused()
          await this.#lanes.release(unused)
          // Jobs may have been enqueued into them during the release, or wait there if the settings of a lane changed.
          if (unused.length > 0) this.#due()
        } else await this.#lanes.release(this.#emptyLanes())
        this.#failures.succeeded(this.#section)
      } catch (error) {
        this.#failures.failed(this.#section, error)
        for (const lane of this.#lanes) lane.hasMore = true
        this.#mayClaim = true
        await this.#alarm.sleep(lookEveryMs)
      }
      onLooked()
      // Without lanes there is nothing to do until it is woken. Nothing wakes it when it may start jobs again.
      const isWaiting = this.#lanes.size === 0 && !this.#mayClaim && (this.#spec.isOpen?.() ?? true)
      await this.#alarm.sleep(isWaiting ? Number.POSITIVE_INFINITY : lookEveryMs)
    }
  }

  /** Returns how many lanes were claimed. */
  async #claim(): Promise<number> {
    const now = performance.now()
    if (!this.#mayClaim || now - this.#claimedAt < lookEveryMs || this.#lanes.room <= 0) return 0
    const { sharesLanes } = this.#spec
    if (this.#pausesClaims && this.#running > 0) return 0
    this.#claimedAt = now
    this.#mayClaim = false
    const { room } = this.#lanes
    const limit = sharesLanes ? Math.min(room, Math.max(1, this.#running)) : room
    const except = this.#fullOrganizations()
    const claimed = await this.#lanes.claim(limit, except)
    if (claimed === limit || except.length > 0) this.#mayClaim = true
    if (sharesLanes && claimed === limit) this.#pauseClaims()
    return claimed
  }

  /** Organizations at their limit. Their lanes are excluded from the claim, so that the batch contains lanes of others. */
  #fullOrganizations(): OrganizationId[] {
    if (this.#spec.perOrganizationMax === undefined) return []
    const ids = new Set(this.#lanes.all().map(({ organizationId }) => organizationId))
    return [...ids].filter((id) => !this.#limit.hasCapacityFor(id))
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
   * Starts jobs round-robin, one per lane. The order is kept between calls, so when slots become free one by one, the
   * next goes to the lane that has waited longest and a lane with thousands of jobs cannot take every slot. Starting a
   * job may take several milliseconds (an email is rendered), so the loop yields to the event loop.
   */
  async #dispatch(): Promise<void> {
    const now = performance.now()
    const pacer = new Pacer(this)
    for (const lane of this.#lanes) {
      if (pacer.isDue) {
        await pacer.turn()
        // Return to the main loop, which reads more jobs.
        if (performance.now() - now > dispatchMsMax) return this.#alarm.wake()
      }
      if (this.#stopping || this.#limit.free <= 0) return
      if (!lane.canStart(now) || !this.#limit.hasCapacityFor(lane.organizationId)) continue
      // This loop reaches it again.
      this.#lanes.moveToEnd(lane)
      const job = lane.start()
      if (this.#spec.isSlow?.(job.work)) lane.narrow()
      void this.#start(lane, job)
    }
  }

  async #start(lane: Lane<Work>, { claim, work }: Job<Work>): Promise<void> {
    this.#running++
    const place = this.#limit.acquire(lane.organizationId)
    // A wider lane helps only if the peer is the slow part. If this process was busy, more connections would not be
    // faster.
    const before = lane.isWide ? undefined : performance.eventLoopUtilization()
    let isFreed = false
    const free = (peer?: PeerState) => {
      isFreed = true
      this.#running--
      this.#limit.answered(place)
      lane.finish()
      if (peer === 'untried') lane.reset()
      else if (peer === 'responsive')
        lane.peerResponded(!!before && performance.eventLoopUtilization(before).utilization < busyFrom)
      else if (peer === 'unresponsive') setTimeout(() => this.#alarm.wake(), lane.peerFailed()).unref()
      this.#alarm.wake()
    }
    try {
      this.#failing.check(claim)
      enterSection(this.#section)
      const { peer, recorded, retryInMs } = await this.#spec.handle(claim, work, () => lane.isLeased())
      free(peer)
      await recorded
      if (retryInMs != null) lane.dueIn(retryInMs)
    } catch (error) {
      // An internal error says nothing about the peer.
      if (!isFreed) free()
      await this.#failing.failed(claim, work, error)
    }
    this.#limit.release(lane.organizationId, place)
    lane.remove(claim.id)
    this.#alarm.wake()
  }

  /** Lanes of organizations whose jobs may not be started now are released for that time. */
  #retireWaitingLanes(): void {
    const { waitMsFor } = this.#spec
    if (!waitMsFor) return
    for (const lane of this.#lanes) {
      const waitMs = lane.isRetired ? 0 : waitMsFor(lane.organizationId)
      if (waitMs > 0) lane.retire({ waitMs })
    }
  }

  /** Discards the jobs that are ready. While none may be started, lanes are released, so that their jobs can be withdrawn. */
  #emptyLanes(): Lane<Work>[] {
    const lanes = this.#lanes.all()
    for (const lane of lanes) lane.reset()
    return lanes.filter((lane) => lane.isEmpty)
  }
}
