import { join } from 'node:path'
import { programFolder } from '../config/package-root.ts'
import type { StageState } from '../runtime/stage-state.ts'
import { Refusal } from '../values/errors.ts'
import { permissionFlags } from './permission-flags.ts'
import { toRefusal } from './protocol.ts'
import { RecentUse } from './recent-use.ts'
import type { Task } from './task.ts'
import { type Outcome, TaskChild } from './task-child.ts'

const memoryMbMax = 256
const queuedMax = 200
const queuedPerOrganizationMax = 20
/** Clients that give up earlier repeat the request, which makes the queue longer. */
const queuedMsMax = 5_000
/** A task that takes longer starts again as a long one, so that no organization holds the places of short ones for longer. */
const shortMsMax = 2_000
/** MJML and the template engine take 0.3 s to load, so idle processes are kept for a minute. */
const idleMsMax = 60_000
const retryAfterSeconds = 2

const programFile = join(programFolder, 'task-process.js')

export type TaskPoolOptions = {
  processes: number
  /** Called after each task, for metrics and the log. */
  onOutcome?: (report: TaskReport) => void
  /**
   * Idle processes of stopped pools, which other pools use before they start new ones. For tests, which start hundreds of
   * services in one process. Without it, `stop` kills all processes.
   */
  spare?: TaskChild[] | undefined
  file?: string
}

export type TaskReport = {
  task: string
  organizationId: string
  /** `moved`: it took too long for a short task, and starts again as a long one. */
  outcome: Outcome['kind'] | 'full' | 'moved'
  /** Why the process died, undefined for every other outcome. */
  reason: string | undefined
}

/** The input needs more time or memory than a task may use. Retrying would fail again. */
export class TaskLimitExceeded extends Refusal {}

/**
 * The process ended while it ran the task, for example because the system was out of memory. Running the task again may
 * succeed, but may also end the next process: callers that retry must limit how often.
 */
export class TaskProcessDied extends Refusal {}

export type RunOptions<Input> = {
  /** The organization whose share of the pool is used. */
  organizationId: string
  input: Input
  /**
   * `refuse` (the default) throws `Refusal` when the queue is full. `wait` is for work that was accepted before and
   * must be done, such as sending; its callers limit how much of it they have in flight.
   */
  whenFull?: 'refuse' | 'wait'
}

type QueuedTask = {
  isLong: boolean
  /** Whether it is refused if it waits for too long. */
  expires: boolean
  start: (child: TaskChild) => Promise<void>
  cancel: (reason: Refusal) => void
}

type RunningTask = { organizationId: string; isLong: boolean; child: TaskChild; startedAt: number }

/**
 * Runs CPU-heavy work on tenant input in a few child processes, so that it can neither block the main thread nor
 * exhaust its memory. Processes start on demand and end when idle.
 *
 * Organizations share the time of the processes, whatever the number of their tasks: a free process goes to the waiting
 * organization that used processes for the shortest time in the last minute. Long tasks use at most half of the
 * processes, so that others wait for a short task at most. One organization uses at most half of the processes, and a bounded
 * number of queue slots.
 *
 * Worker threads are not used because one large allocation in a thread terminates the whole service, whatever its
 * `resourceLimits` (docs/decisions/task-processes.md).
 */
export class TaskPool implements StageState {
  readonly #options: TaskPoolOptions
  readonly #perOrganizationMax: number
  readonly #longMax: number
  readonly #longPerOrganizationMax: number
  readonly #idle: TaskChild[] = []
  readonly #running = new Set<RunningTask>()
  readonly #queueOf = new Map<string, QueuedTask[]>()
  readonly #recentUse = new RecentUse()
  readonly #permissions = { flags: permissionFlags() }
  /** Those that expire. The others are limited by their callers. */
  #expiring = 0
  #idleTimer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(options: TaskPoolOptions) {
    this.#options = options
    this.#longMax = Math.max(1, Math.floor(options.processes / 2))
    this.#longPerOrganizationMax = Math.ceil(this.#longMax / 2)
    this.#perOrganizationMax = this.#longMax
  }

  get limits() {
    return {
      perOrganization: this.#perOrganizationMax,
      overall: this.#options.processes,
      waitingPerOrganization: queuedPerOrganizationMax,
      waitingMax: queuedMax,
    }
  }

  get used(): number {
    return this.#running.size
  }

  get waiting(): number {
    return this.#queued().length
  }

  /** The places of long tasks. */
  get long(): StageState {
    const pool = this
    return {
      get used() {
        return pool.#countRunning(({ isLong }) => isLong)
      },
      get waiting() {
        return pool.#queued().filter(({ isLong }) => isLong).length
      },
      limits: { ...this.limits, perOrganization: this.#longPerOrganizationMax, overall: this.#longMax },
    }
  }

  /** Whether tasks of the organization are waiting. */
  isWaiting(organizationId: string): boolean {
    return this.#queueOf.has(organizationId)
  }

  /**
   * Returns what the task returns. Throws `TaskLimitExceeded` (422) if it exceeds its time or memory, `Refusal`
   * `unavailable` (503) if the pool is full, and what the task itself throws.
   */
  async run<Input, Output>(task: Task<Input, Output>, options: RunOptions<Input>): Promise<Output> {
    const { organizationId } = options
    const report = (outcome: TaskReport['outcome'], reason?: string) =>
      this.#options.onOutcome?.({ task: task.name, organizationId, outcome, reason })
    const { isLong = false, msMax } = task
    const mayMove = !isLong && msMax > shortMsMax
    try {
      let outcome = await this.#runOnce(task, options, { isLong, msMax: mayMove ? shortMsMax : msMax })
      if (outcome.kind === 'timedOut' && mayMove) {
        report('moved')
        outcome = await this.#runOnce(task, options, { isLong: true, msMax })
      }
      report(outcome.kind, outcome.kind === 'died' ? outcome.reason : undefined)
      // A process killed by `stop` is not a task failure.
      if (outcome.kind === 'died' && this.#isStopped) throw busy()
      return outputOf(task, outcome) as Output
    } catch (error) {
      if (error instanceof QueueFull) report('full')
      throw error
    }
  }

  #runOnce<Input>(
    { name }: { name: string },
    { organizationId, input, whenFull = 'refuse' }: RunOptions<Input>,
    { isLong, msMax }: { isLong: boolean; msMax: number },
  ): Promise<Outcome> {
    return new Promise<Outcome>((resolve, reject) => {
      const expires = whenFull === 'refuse'
      if (expires && this.#isFull(organizationId)) return reject(busy())
      const timer = expires ? setTimeout(() => cancel(busy()), queuedMsMax) : undefined
      const cancel = (reason: Refusal) => {
        clearTimeout(timer)
        this.#remove(organizationId, queued)
        reject(reason)
      }
      const start = async (child: TaskChild) => {
        clearTimeout(timer)
        resolve(await child.run({ name, input }, msMax))
      }
      const queued: QueuedTask = { isLong, expires, start, cancel }
      this.#add(organizationId, queued)
      this.#dispatch()
    })
  }

  /** Kills all processes that cannot be used again. Queued and running tasks are rejected as `unavailable`. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#idleTimer)
    for (const queued of this.#queued()) queued.cancel(busy())
    this.#options.spare?.push(...this.#idle.splice(0))
    for (const child of [...this.#idle.splice(0), ...[...this.#running].map(({ child }) => child)]) child.kill()
  }

  #isFull(organizationId: string): boolean {
    const queued = this.#queueOf.get(organizationId)?.length ?? 0
    return this.#isStopped || this.#expiring >= queuedMax || queued >= queuedPerOrganizationMax
  }

  #queued(): QueuedTask[] {
    return [...this.#queueOf.values()].flat()
  }

  #countRunning(isCounted: (running: RunningTask) => boolean): number {
    let count = 0
    for (const running of this.#running) if (isCounted(running)) count++
    return count
  }

  #add(organizationId: string, queued: QueuedTask): void {
    const earlier = this.#queueOf.get(organizationId)
    if (earlier) earlier.push(queued)
    else this.#queueOf.set(organizationId, [queued])
    if (queued.expires) this.#expiring++
  }

  #remove(organizationId: string, queued: QueuedTask): void {
    const all = this.#queueOf.get(organizationId)!
    all.splice(all.indexOf(queued), 1)
    if (all.length === 0) this.#queueOf.delete(organizationId)
    if (queued.expires) this.#expiring--
  }

  #dispatch(): void {
    while (!this.#isStopped && this.#running.size < this.#options.processes) {
      const next = this.#next()
      if (!next) break
      this.#remove(next.organizationId, next.queued)
      void this.#start(next.organizationId, next.queued)
    }
    this.#endIdleLater()
  }

  /** Returns a task of the organization that used processes for the shortest time, among those that may start one. */
  #next(): { organizationId: string; queued: QueuedTask } | undefined {
    let next: { organizationId: string; queued: QueuedTask } | undefined
    let least = Number.POSITIVE_INFINITY
    for (const [organizationId, all] of this.#queueOf) {
      if (this.#countRunning((running) => running.organizationId === organizationId) >= this.#perOrganizationMax)
        continue
      const mayStartLong = this.#mayStartLong(organizationId)
      const queued = all.find(({ isLong }) => mayStartLong || !isLong)
      const used = this.#usedBy(organizationId)
      if (!queued || used >= least) continue
      next = { organizationId, queued }
      least = used
    }
    return next
  }

  #mayStartLong(organizationId: string): boolean {
    const isOwn = (running: RunningTask) => running.organizationId === organizationId
    return (
      this.#countRunning(({ isLong }) => isLong) < this.#longMax &&
      this.#countRunning((running) => running.isLong && isOwn(running)) < this.#longPerOrganizationMax
    )
  }

  #usedBy(organizationId: string): number {
    const now = performance.now()
    let ms = this.#recentUse.of(organizationId, now)
    for (const running of this.#running) if (running.organizationId === organizationId) ms += now - running.startedAt
    return ms
  }

  async #start(organizationId: string, { isLong, start }: QueuedTask): Promise<void> {
    const child = this.#usableChild()
    const running = { organizationId, isLong, child, startedAt: performance.now() }
    this.#running.add(running)
    await start(child)
    this.#running.delete(running)
    const now = performance.now()
    this.#recentUse.add(organizationId, now - running.startedAt, now)
    if (child.isUsable) this.#idle.push(child)
    this.#dispatch()
  }

  #usableChild(): TaskChild {
    for (const idle of [this.#idle, this.#options.spare ?? []])
      for (let child = idle.pop(); child; child = idle.pop()) if (child.isUsable) return child
    return new TaskChild({ file: this.#options.file ?? programFile, memoryMbMax, permissions: this.#permissions })
  }

  #endIdleLater(): void {
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => {
      for (const child of this.#idle.splice(0)) child.kill()
    }, idleMsMax).unref()
  }
}

function outputOf(task: { title: string; msMax: number }, outcome: Outcome): unknown {
  switch (outcome.kind) {
    case 'done':
      return outcome.output
    case 'refused':
      throw toRefusal(outcome.refusal)
    case 'timedOut':
      throw new TaskLimitExceeded('validation_failed', `${task.title} takes longer than ${task.msMax / 1000} seconds.`)
    case 'outOfMemory':
      throw new TaskLimitExceeded('validation_failed', `${task.title} needs more than ${memoryMbMax} MB of memory.`)
    case 'failed':
      throw Object.assign(new Error(outcome.message), { stack: outcome.stack })
    case 'died':
      throw new TaskProcessDied('unavailable', `${task.title} ended unexpectedly. Try again in a moment.`, {
        retryAfterSeconds,
      })
  }
}

class QueueFull extends Refusal {}

const busy = () =>
  new QueueFull('unavailable', 'The service is busy with other work of this kind. Try again in a moment.', {
    retryAfterSeconds,
  })
