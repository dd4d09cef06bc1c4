import { type ChildProcess, fork } from 'node:child_process'
import type { Log } from '../runtime/log.ts'

/** A process that ran this long has not failed at its start. */
const stableMs = 60_000
const restartDelayMs = 1_000
const restartDelayMsMax = 60_000
/** From this number of failures in a row on, `isFailing` is true. */
const failuresMax = 3
/** Processes that have not ended after this time are killed. */
const stopWithinMs = 10_000

export type SupervisorOptions<ToChild> = {
  file: string
  count: number
  log: Log
  /** Returns the first message for a process. */
  firstMessage: (index: number) => ToChild
  onMessage: (index: number, message: unknown) => void
  /** Called after a process has started or ended. */
  onChange: () => void
}

/** `timer`: until a failed process is started again, or a running one counts as stable. */
type Place = { child?: ChildProcess | undefined; failures: number; timer?: NodeJS.Timeout | undefined }

/**
 * Keeps child processes of one program running. One that fails is started again, the first time at once, then after growing
 * delays; one that ends with exit code 0 is started by the next `start`.
 */
export class Supervisor<ToChild extends { kind: string }> {
  readonly #options: SupervisorOptions<ToChild>
  readonly #places: Place[]
  #isStopping = false

  constructor(options: SupervisorOptions<ToChild>) {
    this.#options = options
    this.#places = Array.from({ length: options.count }, () => ({ failures: 0 }))
  }

  get running(): number {
    return this.#places.filter(({ child }) => child).length
  }

  /** Processes keep ending soon after their start. */
  get isFailing(): boolean {
    return this.#places.some(({ failures }) => failures >= failuresMax)
  }

  /** Starts the processes that are not running, except those that wait after a failure. */
  start(): void {
    for (const [index, place] of this.#places.entries()) if (!place.child && !place.timer) this.#start(index, place)
  }

  send(message: ToChild): void {
    for (const { child } of this.#places) if (child) send(child, message)
  }

  /** Sends the message, then waits until all processes have ended. */
  async stop(message: ToChild): Promise<void> {
    this.#isStopping = true
    for (const { timer } of this.#places) clearTimeout(timer)
    this.send(message)
    await Promise.all(
      this.#places.map(async ({ child }) => {
        if (!child) return
        const timer = setTimeout(() => child.kill('SIGKILL'), stopWithinMs)
        await new Promise((resolve) => child.once('exit', resolve))
        clearTimeout(timer)
      }),
    )
  }

  #start(index: number, place: Place): void {
    if (this.#isStopping) return
    const { file, log, firstMessage, onMessage, onChange } = this.#options
    const child = fork(file, { serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    place.child = child
    place.timer = setTimeout(() => {
      place.timer = undefined
      place.failures = 0
    }, stableMs).unref()
    let hasEnded = false
    const ended = (exit: unknown) => {
      if (hasEnded) return
      hasEnded = true
      this.#ended(index, place, exit)
    }
    child.on('message', (message) => onMessage(index, message))
    child.on('error', (error) => ended(error.message))
    child.on('exit', (code, signal) => ended(signal ?? code))
    send(child, firstMessage(index))
    if (child.pid) log.info({ pid: child.pid }, 'Sending process started')
    onChange()
  }

  #ended(index: number, place: Place, exit: unknown): void {
    place.child = undefined
    clearTimeout(place.timer)
    place.timer = undefined
    this.#options.onChange()
    if (this.#isStopping) return
    if (exit === 0) {
      place.failures = 0
      return
    }
    const delayMs = place.failures === 0 ? 0 : Math.min(restartDelayMsMax, restartDelayMs * 2 ** (place.failures - 1))
    place.failures++
    this.#options.log.error({ exit, restartInMs: delayMs }, 'A sending process failed; it is started again')
    place.timer = setTimeout(() => {
      place.timer = undefined
      this.#start(index, place)
    }, delayMs)
  }
}

// If the process has ended, its `exit` event follows.
const send = (child: ChildProcess, message: object) => void child.send(message, () => {})
