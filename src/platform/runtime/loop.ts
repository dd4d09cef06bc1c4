import { enterSection } from './event-loop.ts'
import type { FailureLog } from './failure-log.ts'

export type LoopOptions = { name: string; everyMs: number; run: () => Promise<void>; failures: FailureLog }

/** Calls `run` again `everyMs` after the end of the previous run. A failed run is logged and does not end the loop. */
export class Loop {
  readonly #options: LoopOptions
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #firstRun: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(options: LoopOptions) {
    this.#options = options
  }

  start(): void {
    this.#running = this.#run()
    this.#firstRun = this.#running
  }

  /** Resolves at the end of the first run. */
  get firstRun(): Promise<void> {
    return this.#firstRun
  }

  /** Stops the loop and waits for the current run. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#running
  }

  async #run(): Promise<void> {
    const { name, everyMs, run, failures } = this.#options
    const work = `loop ${name}`
    enterSection(work)
    try {
      await run()
      failures.succeeded(work)
    } catch (error) {
      failures.failed(work, error)
    }
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      this.#running = this.#run()
    }, everyMs)
    this.#timer.unref()
  }
}
