import { join } from 'node:path'
import { packageRoot } from '../config/package-root.ts'
import type { StageState } from '../runtime/stage-state.ts'
import { Refusal } from '../values/errors.ts'
import { toRefusal } from './protocol.ts'
import type { Task } from './task.ts'
import { type Outcome, TaskChild } from './task-child.ts'

const memoryMbMax = 256
const queuedMax = 200
const queuedPerOrganizationMax = 20
const queuedMsMax = 15_000
/** MJML and the template engine take 0.3 s to load, so idle processes are kept for a minute. */
const idleMsMax = 60_000
const retryAfterSeconds = 2

/** The compiled program, even if the service runs from source: Node 20 cannot run TypeScript. */
const programFile = join(packageRoot, 'dist', 'bin', 'task-process.js')

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
  outcome: Outcome['kind'] | 'full'
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

type QueuedTask = { start: (child: TaskChild) => Promise<void>; cancel: (reason: Refusal) => void }

/**
 * Runs CPU-heavy work on tenant input in a few child processes, so that it can neither block the main thread nor
 * exhaust its memory. Processes start on demand and end when idle. One organization uses at most half of them and a
 * bounded number of queue slots; free processes are assigned round-robin to the organizations in the queue.
 *
 * Worker threads are not used because one large allocation in a thread terminates the whole service, whatever its
 * `resourceLimits` (docs/decisions/task-processes.md).
 */
export class TaskPool implements StageState {
  readonly #options: TaskPoolOptions
  readonly #perOrganizationMax: number
  readonly #idle: TaskChild[] = []
  readonly #busy = new Set<TaskChild>()
  readonly #runningOf = new Map<string, number>()
  /** In the order in which organizations get the next process. */
  readonly #queueOf = new Map<string, QueuedTask[]>()
  #queued = 0
  #idleTimer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(options: TaskPoolOptions) {
    this.#options = options
    this.#perOrganizationMax = Math.max(1, Math.floor(options.processes / 2))
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
    return this.#busy.size
  }

  get waiting(): number {
    return this.#queued
  }

  /**
   * Returns what the task returns. Throws `TaskLimitExceeded` (422) if it exceeds its time or memory, `Refusal`
   * `unavailable` (503) if the pool is full, and what the task itself throws.
   */
  async run<Input, Output>(task: Task<Input, Output>, options: RunOptions<Input>): Promise<Output> {
    const { organizationId, input, whenFull = 'refuse' } = options
    const report = (outcome: TaskReport['outcome'], reason?: string) =>
      this.#options.onOutcome?.({ task: task.name, organizationId, outcome, reason })
    const outcome = await new Promise<Outcome>((resolve, reject) => {
      if (whenFull === 'refuse' && this.#isFull(organizationId)) {
        report('full')
        return reject(busy())
      }
      const timer = whenFull === 'refuse' ? setTimeout(() => cancel(busy()), queuedMsMax) : undefined
      const cancel = (reason: Refusal) => {
        clearTimeout(timer)
        this.#remove(organizationId, queued)
        report('full')
        reject(reason)
      }
      const start = async (child: TaskChild) => {
        clearTimeout(timer)
        resolve(await child.run({ name: task.name, input }, task.msMax))
      }
      const queued: QueuedTask = { start, cancel }
      this.#add(organizationId, queued)
      this.#dispatch()
    })
    report(outcome.kind, outcome.kind === 'died' ? outcome.reason : undefined)
    // A process killed by `stop` is not a task failure.
    if (outcome.kind === 'died' && this.#isStopped) throw busy()
    return outputOf(task, outcome) as Output
  }

  /** Kills all processes that cannot be used again. Queued and running tasks are rejected as `unavailable`. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#idleTimer)
    for (const queued of [...this.#queueOf.values()].flat()) queued.cancel(busy())
    this.#options.spare?.push(...this.#idle.splice(0))
    for (const child of [...this.#idle.splice(0), ...this.#busy]) child.kill()
  }

  #isFull(organizationId: string): boolean {
    const queued = this.#queueOf.get(organizationId)?.length ?? 0
    return this.#isStopped || this.#queued >= queuedMax || queued >= queuedPerOrganizationMax
  }

  #add(organizationId: string, queued: QueuedTask): void {
    const earlier = this.#queueOf.get(organizationId)
    if (earlier) earlier.push(queued)
    else this.#queueOf.set(organizationId, [queued])
    this.#queued++
  }

  #remove(organizationId: string, queued: QueuedTask): void {
    const all = this.#queueOf.get(organizationId)!
    all.splice(all.indexOf(queued), 1)
    if (all.length === 0) this.#queueOf.delete(organizationId)
    this.#queued--
  }

  #dispatch(): void {
    while (!this.#isStopped && this.#busy.size < this.#options.processes) {
      const organizationId = this.#nextOrganization()
      if (organizationId === undefined) break
      const queued = this.#queueOf.get(organizationId)![0]!
      this.#remove(organizationId, queued)
      // Moves to the end of the queue.
      const rest = this.#queueOf.get(organizationId)
      if (rest) {
        this.#queueOf.delete(organizationId)
        this.#queueOf.set(organizationId, rest)
      }
      void this.#start(organizationId, queued)
    }
    this.#endIdleLater()
  }

  #nextOrganization(): string | undefined {
    for (const organizationId of this.#queueOf.keys())
      if ((this.#runningOf.get(organizationId) ?? 0) < this.#perOrganizationMax) return organizationId
    return undefined
  }

  async #start(organizationId: string, queued: QueuedTask): Promise<void> {
    const child = this.#usableChild()
    this.#busy.add(child)
    this.#runningOf.set(organizationId, (this.#runningOf.get(organizationId) ?? 0) + 1)
    await queued.start(child)
    this.#busy.delete(child)
    const running = this.#runningOf.get(organizationId)! - 1
    if (running > 0) this.#runningOf.set(organizationId, running)
    else this.#runningOf.delete(organizationId)
    if (child.isUsable) this.#idle.push(child)
    this.#dispatch()
  }

  #usableChild(): TaskChild {
    for (const idle of [this.#idle, this.#options.spare ?? []])
      for (let child = idle.pop(); child; child = idle.pop()) if (child.isUsable) return child
    return new TaskChild({ file: this.#options.file ?? programFile, memoryMbMax })
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

const busy = () =>
  new Refusal('unavailable', 'The service is busy with other work of this kind. Try again in a moment.', {
    retryAfterSeconds,
  })
