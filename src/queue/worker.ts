import { randomUUID } from 'node:crypto'
import type { Db } from '../db/db.ts'
import type { Log } from '../log.ts'
import type { Hints } from './hints.ts'
import { claimLanes, type LaneKey, readJobs, releaseLanes, renewLanes } from './lanes.sql.ts'
import { type Claim, endJobs, type JobKind } from './queue.ts'

/**
 * What became of one job, as far as the lane is concerned. The handler has recorded the rest, and settled the job.
 * - well: the lane may widen up to its limit;
 * - ill: the other side does not answer, so the lane narrows to one probe at a time;
 * - unchanged: nothing was tried; the job stays due and is taken again when the kind is open.
 */
export type Health = 'well' | 'ill' | 'unchanged'

export type WorkerSpec<Work> = {
  kind: JobKind
  /** Jobs under way at once in this process. */
  inFlightMax: number
  /** Jobs under way at once in one lane. */
  laneWidthMax: number
  /** … when it is taken; as it goes well it widens step by step, since each step may cost a connection. */
  laneWidthFirst?: number
  /** Loads what the handler needs for a whole batch; undefined for a job whose subject is gone. */
  load: (claims: Claim[]) => Promise<(Work | undefined)[]>
  /** Does the work, records and settles it. Throwing is our own fault: the job is tried again later. */
  handle: (claim: Claim, work: Work) => Promise<Health>
  /** False while there is no point in starting anything (the relay is down). */
  isOpen?: () => boolean
}

const leaseMs = 10_000
const renewEveryMs = 3_000
const pollEveryMs = 250
const lanesMax = 2_000
/** An empty lane is kept for a while: the next job then needs no claim, and no look over what was deleted since. */
const lingerMs = 2_000
/** A lane that fails again and again is probed ever less often, up to this. */
const probeStepMs = 10
const probePauseMaxMs = 1_000
/** Jobs committed late carry a due time before the last row read: a look this far back finds them. */
const lookBackMs = 5_000
const lookBackEveryMs = 1_000
const lookEverywhereEveryMs = 60_000
const faultRetryMs = 10_000
const stopWithinMs = 10_000
const beginningOfTime = new Date(0)
const zeroId = '00000000-0000-0000-0000-000000000000'

type Job<Work> = { claim: Claim; work: Work }
type Lane<Work> = LaneKey & {
  token: string
  /** Grows by one when as many jobs as it is wide went well, so it is no whole number. */
  width: number
  ready: Job<Work>[]
  /** Ids that are ready or under way: a look back must not take them twice. */
  known: Set<string>
  inFlight: number
  /** Failures in a row, and the time before which it is not probed again. */
  failures: number
  probeAt: number
  usedAt: number
  afterDue: Date
  afterId: string
  readAt: number
  lookedBackAt: number
  lookedEverywhereAt: number
  /** Whether there may be more to read than was read. */
  hungry: boolean
}

const laneName = (key: LaneKey) => `${key.organizationId} ${key.lane}`

/** Takes lanes of one kind, reads their jobs in batches and keeps as many under way as the limits allow. */
export class Worker<Work> {
  readonly #db: Db
  readonly #log: Log
  readonly #spec: WorkerSpec<Work>
  readonly #hints: Hints
  readonly #lanes = new Map<string, Lane<Work>>()
  #inFlight = 0
  #stopping = false
  #polledAt = 0
  #renewedAt = Date.now()
  #wake: () => void = () => {}
  #woken = false
  #loop: Promise<void> = Promise.resolve()
  #unlisten: () => void = () => {}

  constructor(options: { db: Db; log: Log; hints: Hints; spec: WorkerSpec<Work> }) {
    this.#db = options.db
    this.#log = options.log.child({ kind: options.spec.kind })
    this.#spec = options.spec
    this.#hints = options.hints
  }

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
    await this.#loop
    const deadline = Date.now() + stopWithinMs
    while (this.#inFlight > 0 && Date.now() < deadline) await this.#sleep(100)
    for (const lane of this.#lanes.values()) lane.ready = []
    await this.#release([...this.#lanes.values()]).catch(() => {})
  }

  /** A job was written somewhere, or (with its name) a lane's circumstances changed: read it afresh. */
  #hinted(changedLane: string | undefined): void {
    if (changedLane === undefined) {
      this.#polledAt = 0
      for (const lane of this.#lanes.values()) lane.hungry = true
    } else {
      for (const lane of this.#lanes.values()) if (lane.lane === changedLane) this.#forgetReady(lane)
    }
    this.#rouse()
  }

  #forgetReady(lane: Lane<Work>): void {
    for (const { claim } of lane.ready) lane.known.delete(claim.id)
    lane.ready = []
    lane.afterDue = beginningOfTime
    lane.afterId = zeroId
    lane.hungry = true
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      try {
        await this.#renew()
        if (this.#spec.isOpen?.() ?? true) {
          await this.#claim()
          await this.#fill()
          this.#dispatch()
        }
        await this.#release(this.#leftLanes())
      } catch (error) {
        this.#log.error({ error }, 'The queue could not be read; trying again')
        await this.#sleep(pollEveryMs)
      }
      await this.#sleep(pollEveryMs)
    }
  }

  async #claim(): Promise<void> {
    const now = Date.now()
    if (now - this.#polledAt < pollEveryMs || this.#lanes.size >= lanesMax) return
    this.#polledAt = now
    const token = randomUUID()
    const claimed = await claimLanes(this.#db.alone, this.#spec.kind, token, leaseMs, lanesMax - this.#lanes.size)
    for (const key of claimed) {
      this.#lanes.set(laneName(key), {
        ...key,
        token,
        width: Math.min(this.#spec.laneWidthFirst ?? this.#spec.laneWidthMax, this.#spec.laneWidthMax),
        ready: [],
        known: new Set(),
        inFlight: 0,
        failures: 0,
        probeAt: 0,
        usedAt: now,
        afterDue: beginningOfTime,
        afterId: zeroId,
        readAt: now,
        lookedBackAt: now,
        lookedEverywhereAt: now,
        hungry: true,
      })
    }
  }

  /** Reads ahead by one width, for every lane that has room, in one statement. */
  async #fill(): Promise<void> {
    const lanes = [...this.#lanes.values()].filter((lane) => lane.ready.length < lane.width && this.#mayRead(lane))
    if (lanes.length === 0) return
    const reads = lanes.map((lane) => ({
      ...this.#readFrom(lane),
      limit: 2 * Math.floor(lane.width) + lane.known.size,
      lane,
    }))
    const rows = await readJobs(
      this.#db,
      this.#spec.kind,
      reads.map((read) => ({
        ...read,
        lane: read.lane.lane,
        organizationId: read.lane.organizationId,
        token: read.lane.token,
      })),
    )
    const now = Date.now()
    for (const { lane } of reads) {
      lane.hungry = false
      lane.readAt = now
    }

    const claims: Claim[] = []
    const rowsOf = new Map<Lane<Work>, number>()
    for (const row of rows) {
      const lane = this.#lanes.get(laneName(row))!
      rowsOf.set(lane, (rowsOf.get(lane) ?? 0) + 1)
      if (row.dueAt > lane.afterDue || (+row.dueAt === +lane.afterDue && row.id > lane.afterId)) {
        lane.afterDue = row.dueAt
        lane.afterId = row.id
      }
      if (lane.known.has(row.id)) continue
      lane.known.add(row.id)
      claims.push({ kind: this.#spec.kind, token: lane.token, ...row })
    }
    for (const { lane, limit } of reads) if (rowsOf.get(lane) === limit) lane.hungry = true
    if (claims.length > 0) await this.#load(claims)
  }

  /** A lane at rest is polled, too: what it postponed becomes due without a hint. */
  #mayRead(lane: Lane<Work>): boolean {
    const now = Date.now()
    return (
      lane.hungry ||
      now - lane.lookedBackAt >= lookBackEveryMs ||
      (lane.inFlight === 0 && now - lane.readAt >= pollEveryMs)
    )
  }

  #readFrom(lane: Lane<Work>): { afterDue: Date; afterId: string } {
    const now = Date.now()
    if (now - lane.lookedEverywhereAt >= lookEverywhereEveryMs) {
      lane.lookedEverywhereAt = now
      return { afterDue: beginningOfTime, afterId: zeroId }
    }
    if (now - lane.lookedBackAt >= lookBackEveryMs) {
      lane.lookedBackAt = now
      return { afterDue: new Date(+lane.afterDue - lookBackMs), afterId: zeroId }
    }
    return { afterDue: lane.afterDue, afterId: lane.afterId }
  }

  async #load(claims: Claim[]): Promise<void> {
    const works = await this.#spec.load(claims).catch((error) => {
      // What was read is forgotten and read again later; nothing has been settled.
      for (const claim of claims) this.#lanes.get(laneName(claim))?.known.delete(claim.id)
      for (const lane of this.#lanes.values()) this.#forgetReady(lane)
      throw error
    })
    const gone: Claim[] = []
    claims.forEach((claim, index) => {
      const lane = this.#lanes.get(laneName(claim))
      const work = works[index]
      if (work === undefined) gone.push(claim)
      if (work === undefined || !lane) lane?.known.delete(claim.id)
      else lane.ready.push({ claim, work })
    })
    if (gone.length > 0)
      await endJobs(
        this.#db.alone,
        gone.map((claim) => ({ claim, retryInMs: null })),
      )
  }

  /** One job of each lane in turn, so that no lane fills the process before the others had their share. */
  #dispatch(): void {
    const now = Date.now()
    let started = true
    while (started && this.#inFlight < this.#spec.inFlightMax) {
      started = false
      for (const lane of this.#lanes.values()) {
        if (this.#inFlight >= this.#spec.inFlightMax) return
        if (lane.inFlight + 1 > lane.width || lane.ready.length === 0 || lane.probeAt > now) continue
        this.#start(lane, lane.ready.shift()!)
        started = true
      }
    }
  }

  #start(lane: Lane<Work>, job: Job<Work>): void {
    lane.inFlight++
    this.#inFlight++
    void this.#handle(job).then((health) => {
      lane.inFlight--
      this.#inFlight--
      lane.known.delete(job.claim.id)
      lane.usedAt = Date.now()
      if (health === 'unchanged') this.#forgetReady(lane)
      else if (health === 'ill') this.#narrow(lane)
      else {
        lane.failures = 0
        lane.width = Math.min(lane.width + 1 / lane.width, this.#spec.laneWidthMax)
      }
      this.#rouse()
    })
  }

  #narrow(lane: Lane<Work>): void {
    lane.width = 1
    const pauseMs = Math.min(lane.failures++ * probeStepMs, probePauseMaxMs)
    lane.probeAt = Date.now() + pauseMs
    if (pauseMs > 0) setTimeout(() => this.#rouse(), pauseMs).unref()
  }

  async #handle({ claim, work }: Job<Work>): Promise<Health> {
    try {
      return await this.#spec.handle(claim, work)
    } catch (error) {
      this.#log.error({ error, job: claim.id, attempt: claim.attempt }, 'A job failed; it will be tried again')
      await endJobs(this.#db.alone, [{ claim, retryInMs: faultRetryMs }]).catch(() => {})
      return 'ill'
    }
  }

  #leftLanes(): Lane<Work>[] {
    const usedBefore = Date.now() - (this.#lanes.size < lanesMax / 2 ? lingerMs : 0)
    const isLeft = (lane: Lane<Work>) =>
      lane.ready.length === 0 && lane.inFlight === 0 && !lane.hungry && lane.usedAt <= usedBefore
    return [...this.#lanes.values()].filter(isLeft)
  }

  async #release(lanes: Lane<Work>[]): Promise<void> {
    if (lanes.length === 0) return
    for (const lane of lanes) this.#lanes.delete(laneName(lane))
    await releaseLanes(this.#db, this.#spec.kind, lanes)
  }

  async #renew(): Promise<void> {
    const now = Date.now()
    if (this.#lanes.size === 0 || now - this.#renewedAt < renewEveryMs) return
    this.#renewedAt = now
    const kept = await renewLanes(this.#db.alone, this.#spec.kind, [...this.#lanes.values()], leaseMs)
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
