import { join } from 'node:path'
import { packageRoot } from '../config/package-root.ts'
import { Refusal } from '../values/errors.ts'
import { toRefusal } from './protocol.ts'
import type { Task } from './task.ts'
import { type Outcome, TaskChild } from './task-child.ts'

const memoryMbMax = 256
const queuedMax = 200
const queuedPerOrganizationMax = 20
const queuedMsMax = 15_000
/** MJML and the template engine take 0.3 s to load; after a minute without work their memory is worth more. */
const idleMsMax = 60_000
const retryAfterSeconds = 2

/**
 * The built program, also when the service itself runs from its sources: Node 20 cannot run TypeScript. Tests build it
 * first.
 */
const programFile = join(packageRoot, 'dist', 'src', 'task-process.js')

export type TaskPoolOptions = {
  processes: number
  /** Called after each task, for metrics and the log. */
  onOutcome?: (report: TaskReport) => void
  file?: string
}

export type TaskReport = {
  task: string
  organizationId: string
  outcome: Outcome['kind'] | 'full'
  /** Why the process died, undefined for every other outcome. */
  reason: string | undefined
}

/** The input needs more time or memory than one task may use. Running it again would end the same way. */
export class TaskLimitExceeded extends Refusal {}

export type RunOptions<Input> = {
  /** Whose share of the pool is used. */
  organizationId: string
  input: Input
  /**
   * `refuse` (the default) throws `Refusal` when the queue is full. `wait` is for work that was accepted before and must be
   * done, such as sending; its callers limit how much of it they have in flight.
   */
  whenFull?: 'refuse' | 'wait'
}

type Waiting = { start: (child: TaskChild) => Promise<void>; cancel: (reason: Refusal) => void }

/**
 * A few child processes for CPU-heavy work on behalf of tenants, so that neither its time nor its memory is the main
 * thread's. Processes start on demand and end when idle. One organization uses at most half of them and a bounded number of
 * queue places; free processes go round among the organizations that wait.
 *
 * Processes and not worker threads, because one large allocation in a thread ends the whole service, whatever its
 * `resourceLimits` (docs/decisions/task-processes.md).
 */
export class TaskPool {
  readonly #options: TaskPoolOptions
  readonly #perOrganizationMax: number
  readonly #idle: TaskChild[] = []
  readonly #busy = new Set<TaskChild>()
  readonly #runningOf = new Map<string, number>()
  /** In the order in which organizations get the next process. */
  readonly #waitingOf = new Map<string, Waiting[]>()
  #queued = 0
  #idleTimer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(options: TaskPoolOptions) {
    this.#options = options
    this.#perOrganizationMax = Math.max(1, Math.floor(options.processes / 2))
  }

  get running(): number {
    return this.#busy.size
  }

  get queued(): number {
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
        this.#remove(organizationId, waiting)
        report('full')
        reject(reason)
      }
      const start = async (child: TaskChild) => {
        clearTimeout(timer)
        resolve(await child.run({ name: task.name, input }, task.msMax))
      }
      const waiting: Waiting = { start, cancel }
      this.#add(organizationId, waiting)
      this.#dispatch()
    })
    report(outcome.kind, outcome.kind === 'died' ? outcome.reason : undefined)
    return outputOf(task, outcome) as Output
  }

  /** Ends all processes. Tasks that are queued or running are refused as `unavailable`. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#idleTimer)
    for (const waiting of [...this.#waitingOf.values()].flat()) waiting.cancel(busy())
    for (const child of [...this.#idle.splice(0), ...this.#busy]) child.kill()
  }

  #isFull(organizationId: string): boolean {
    const waiting = this.#waitingOf.get(organizationId)?.length ?? 0
    return this.#isStopped || this.#queued >= queuedMax || waiting >= queuedPerOrganizationMax
  }

  #add(organizationId: string, waiting: Waiting): void {
    const earlier = this.#waitingOf.get(organizationId)
    if (earlier) earlier.push(waiting)
    else this.#waitingOf.set(organizationId, [waiting])
    this.#queued++
  }

  #remove(organizationId: string, waiting: Waiting): void {
    const all = this.#waitingOf.get(organizationId)!
    all.splice(all.indexOf(waiting), 1)
    if (all.length === 0) this.#waitingOf.delete(organizationId)
    this.#queued--
  }

  #dispatch(): void {
    while (!this.#isStopped && this.#busy.size < this.#options.processes) {
      const organizationId = this.#nextOrganization()
      if (organizationId === undefined) break
      const waiting = this.#waitingOf.get(organizationId)![0]!
      this.#remove(organizationId, waiting)
      // To the end of the line.
      const rest = this.#waitingOf.get(organizationId)
      if (rest) {
        this.#waitingOf.delete(organizationId)
        this.#waitingOf.set(organizationId, rest)
      }
      void this.#start(organizationId, waiting)
    }
    this.#endIdleLater()
  }

  #nextOrganization(): string | undefined {
    for (const organizationId of this.#waitingOf.keys())
      if ((this.#runningOf.get(organizationId) ?? 0) < this.#perOrganizationMax) return organizationId
    return undefined
  }

  async #start(organizationId: string, waiting: Waiting): Promise<void> {
    const child = this.#usableChild()
    this.#busy.add(child)
    this.#runningOf.set(organizationId, (this.#runningOf.get(organizationId) ?? 0) + 1)
    await waiting.start(child)
    this.#busy.delete(child)
    const running = this.#runningOf.get(organizationId)! - 1
    if (running > 0) this.#runningOf.set(organizationId, running)
    else this.#runningOf.delete(organizationId)
    if (child.isUsable) this.#idle.push(child)
    this.#dispatch()
  }

  #usableChild(): TaskChild {
    for (let child = this.#idle.pop(); child; child = this.#idle.pop()) if (child.isUsable) return child
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
      throw busy()
  }
}

const busy = () =>
  new Refusal('unavailable', 'The service is busy with other work of this kind. Try again in a moment.', {
    retryAfterSeconds,
  })
