import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { Db } from '../db/db.ts'
import { enterSection } from '../runtime/event-loop.ts'
import type { Log } from '../runtime/log.ts'
import { Pacer } from '../runtime/pacer.ts'
import { within } from '../runtime/within.ts'
import type { Hints } from './hints.ts'
import { type Job, Lane, laneName, pollEveryMs } from './lane.ts'
import { claimLanes, readJobs, releaseLanes, renewLanes } from './lanes.sql.ts'
import { type Claim, endJobs, type JobKind } from './queue.ts'

/**
 * What became of one job, as far as the lane is concerned. The handler has recorded the rest, and settled the job.
 * - well: the lane may widen up to its limit;
 * - ill: the other side does not answer, so the lane narrows to one probe at a time;
 * - unchanged: nothing was tried; the job stays due and is taken again when the kind is open.
 */
export type Health = 'well' | 'ill' | 'unchanged'

/**
 * The lane may go on with its next job. This one stays in our hands until it is `recorded`, so that what waits for a
 * commit takes up no connection to the other side.
 */
export type Handled = { health: Health; recorded?: Promise<unknown> }

export type WorkerSpec<Work> = {
  kind: JobKind
  /** Jobs in the hands of this process at once. */
  inHandMax: number
  /** Jobs under way at once in one lane. */
  laneWidthMax: number
  /** … when it is taken; as it goes well it widens step by step, since each step may cost a connection. */
  laneWidthFirst?: number
  /** Loads what the handler needs for a whole batch; undefined for a job whose subject is gone. */
  load: (claims: Claim[]) => Promise<(Work | undefined)[]>
  /** Does the work, records and settles it. Throwing is our own fault: the job is tried again later. */
  handle: (claim: Claim, work: Work) => Promise<Handled>
  /** Work that waits for other resources than the other side. A lane has one such job in flight, so that it leaves room. */
  isSlow?: (work: Work) => boolean
  /** False while there is no point in starting anything (the relay is down). */
  isOpen?: () => boolean
}

/** A job that was read for a lane as it was then. If the lane has been reset since, the job is read again from there. */
type Taken<Work> = { held: Lane<Work>; era: number; claim: Claim }

const leaseMs = 10_000
const renewEveryMs = 3_000
const lanesMax = 2_000
/** An empty lane is kept for a while: the next job then needs no claim, and no look over what was deleted since. */
const lingerMs = 2_000
const busyFrom = 0.6
const faultRetryMs = 10_000
const dispatchMsMax = 1_000
/** What is left of the lease of a lane at least. It is also short of the ten seconds that a container has to stop in. */
const stopWithinMs = leaseMs - renewEveryMs

/** Takes lanes of one kind, reads their jobs in batches and keeps as many under way as the limits allow. */
export class Worker<Work> {
  readonly #db: Db
  readonly #log: Log
  readonly #spec: WorkerSpec<Work>
  readonly #hints: Hints
  readonly #section: string
  readonly #lanes = new Map<string, Lane<Work>>()
  #inFlight = 0
  #inHand = 0
  #stopping = false
  #polledAt = Number.NEGATIVE_INFINITY
  #renewedAt = performance.now()
  #wake: () => void = () => {}
  #woken = false
  #loop: Promise<void> = Promise.resolve()
  #unlisten: () => void = () => {}

  constructor(options: { db: Db; log: Log; hints: Hints; spec: WorkerSpec<Work> }) {
    this.#db = options.db
    this.#log = options.log.child({ kind: options.spec.kind })
    this.#spec = options.spec
    this.#section = `job ${options.spec.kind}`
    this.#hints = options.hints
  }

  /** Jobs that the other side has not answered yet. */
  get inFlight(): number {
    return this.#inFlight
  }

  start(): void {
    this.#unlisten = this.#hints.on(this.#spec.kind, (lane) => this.#hinted(lane))
    this.#loop = this.#run()
  }

  /** Lets what is under way finish, within a limit, and gives the lanes back. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#unlisten()
    this.#rouse()
    const deadline = performance.now() + stopWithinMs
    await within(stopWithinMs, this.#loop)
    while (this.#inHand > 0 && performance.now() < deadline) await this.#sleep(100)
    for (const lane of this.#lanes.values()) lane.ready = []
    await this.#release([...this.#lanes.values()]).catch(() => {})
  }

  /** A job was written somewhere, or (with its name) a lane's circumstances changed: read it afresh. */
  #hinted(changedLane: string | undefined): void {
    if (changedLane === undefined) {
      this.#polledAt = Number.NEGATIVE_INFINITY
      for (const lane of this.#lanes.values()) lane.hungry = true
    } else {
      for (const lane of this.#lanes.values()) if (lane.lane === changedLane) lane.forgetReady()
    }
    this.#rouse()
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      try {
        await this.#renew()
        if (this.#spec.isOpen?.() ?? true) {
          await this.#claim()
          await this.#fill()
          await this.#dispatch()
        }
        await this.#release(this.#leftLanes())
      } catch (error) {
        this.#log.error({ error }, 'The queue could not be read; trying again')
        for (const lane of this.#lanes.values()) lane.hungry = true
        await this.#sleep(pollEveryMs)
      }
      await this.#sleep(pollEveryMs)
    }
  }

  async #claim(): Promise<void> {
    const now = performance.now()
    if (now - this.#polledAt < pollEveryMs || this.#lanes.size >= lanesMax) return
    this.#polledAt = now
    const token = randomUUID()
    const claimed = await claimLanes(this.#db.statement, this.#spec.kind, token, leaseMs, lanesMax - this.#lanes.size)
    const { laneWidthMax: max, laneWidthFirst: first = max } = this.#spec
    for (const key of claimed) this.#lanes.set(laneName(key), new Lane(key, token, { first, max }))
  }

  /**
   * Reads ahead for every lane that has room, in one statement. Nothing is started meanwhile: what becomes free is then
   * filled from one large read instead of many small ones.
   */
  async #fill(): Promise<void> {
    const now = performance.now()
    const all = [...this.#lanes.values()]
    const busy = all.filter((lane) => !lane.isIdle).length
    const share = Math.ceil(this.#spec.inHandMax / Math.max(1, busy))
    const lanes = all.filter((lane) => lane.wantsToRead(now, share))
    if (lanes.length === 0) return
    const reads = lanes.map((held) => {
      const { organizationId, lane, token, era } = held
      return { held, era, rows: 0, organizationId, lane, token, ...held.nextRead(now, share) }
    })
    const readOf = new Map(reads.map((read) => [laneName(read), read]))
    const taken: Taken<Work>[] = []
    for (const row of await readJobs(this.#db, this.#spec.kind, reads)) {
      const read = readOf.get(laneName(row))!
      const { held, era, token } = read
      read.rows++
      if (era === held.era && held.takesRow(row.id, row.dueAt))
        taken.push({ held, era, claim: { kind: this.#spec.kind, token, ...row } })
    }
    for (const { held, rows, limit } of reads) {
      held.endRead()
      if (rows === limit) held.hungry = true
    }
    if (taken.length > 0) await this.#prepare(taken)
  }

  async #prepare(taken: Taken<Work>[]): Promise<void> {
    enterSection(this.#section)
    const works = await this.#spec.load(taken.map(({ claim }) => claim)).catch((error) => {
      // What was read is forgotten and read again later; nothing has been settled.
      for (const { held, claim } of taken) held.forget(claim.id)
      for (const lane of this.#lanes.values()) lane.forgetReady()
      throw error
    })
    const gone: Claim[] = []
    taken.forEach(({ held, era, claim }, index) => {
      const work = works[index]
      if (work === undefined) gone.push(claim)
      if (work === undefined || era !== held.era) held.forget(claim.id)
      else held.ready.push({ claim, work })
    })
    if (gone.length > 0)
      await endJobs(
        this.#db.statement,
        gone.map((claim) => ({ claim, retryInMs: null })),
      )
  }

  /**
   * One job of each lane in turn. Also when places become free one by one, the next is for the lane that has waited
   * longest: otherwise one with thousands of jobs would take every place before the others had any. Starting a job may
   * take a while (a mail is rendered), so others have their turns in between.
   */
  async #dispatch(): Promise<void> {
    const now = performance.now()
    const pacer = new Pacer()
    for (const [name, lane] of this.#lanes) {
      if (pacer.isDue) {
        await pacer.turn()
        // Leases have to be renewed in time.
        if (performance.now() - now > dispatchMsMax) return this.#rouse()
      }
      if (this.#stopping || this.#inHand >= this.#spec.inHandMax) return
      if (!lane.mayStart(now)) continue
      // It goes to the end, where this very loop comes by again.
      this.#lanes.delete(name)
      this.#lanes.set(name, lane)
      const job = lane.start()
      if (this.#spec.isSlow?.(job.work)) lane.narrow()
      void this.#start(lane, job)
    }
  }

  async #start(lane: Lane<Work>, { claim, work }: Job<Work>): Promise<void> {
    this.#inFlight++
    this.#inHand++
    // Width helps where the other side takes its time. Where this process was busy meanwhile, it only costs connections.
    const before = lane.isWide ? undefined : performance.eventLoopUtilization()
    let answered = false
    const free = (health: Health) => {
      answered = true
      this.#inFlight--
      lane.answered()
      if (health === 'unchanged') lane.forgetReady()
      else if (health === 'well')
        lane.wentWell(!!before && performance.eventLoopUtilization(before).utilization < busyFrom)
      else setTimeout(() => this.#rouse(), lane.wentIll()).unref()
      this.#rouse()
    }
    try {
      enterSection(this.#section)
      const { health, recorded } = await this.#spec.handle(claim, work)
      free(health)
      await recorded
    } catch (error) {
      this.#log.error({ error, job: claim.id, attempt: claim.attempt }, 'A job failed; it will be tried again')
      await endJobs(this.#db.statement, [{ claim, retryInMs: faultRetryMs }]).catch(() => {})
      if (!answered) free('ill')
    }
    this.#inHand--
    lane.forget(claim.id)
    this.#rouse()
  }

  #leftLanes(): Lane<Work>[] {
    const since = performance.now() - (this.#lanes.size < lanesMax / 2 ? lingerMs : 0)
    return [...this.#lanes.values()].filter((lane) => lane.isLeft(since))
  }

  async #release(lanes: Lane<Work>[]): Promise<void> {
    if (lanes.length === 0) return
    for (const lane of lanes) this.#lanes.delete(laneName(lane))
    await releaseLanes(this.#db, this.#spec.kind, lanes)
  }

  async #renew(): Promise<void> {
    const now = performance.now()
    if (this.#lanes.size === 0 || now - this.#renewedAt < renewEveryMs) return
    const kept = await renewLanes(this.#db.statement, this.#spec.kind, [...this.#lanes.values()], leaseMs)
    // Only now: after an outage lanes are renewed before any is claimed, so that none of ours is taken anew.
    this.#renewedAt = now
    const names = new Set(kept.map(laneName))
    for (const [name, lane] of this.#lanes) {
      if (names.has(name)) continue
      lane.ready = []
      this.#lanes.delete(name)
    }
  }

  #rouse(): void {
    this.#woken = true
    this.#wake()
  }

  /** Until roused, or the time is over. */
  async #sleep(ms: number): Promise<void> {
    if (!this.#woken && ms > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#wake = () => {}
    this.#woken = false
  }
}
