import { enterSection } from './event-loop.ts'
import type { Log } from './log.ts'

export type LoopOptions = { name: string; everyMs: number; run: () => Promise<void>; log: Log }

/** Something done again and again, one run after the other. A run that fails is logged, and the next one comes. */
export class Loop {
  readonly #options: LoopOptions
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(options: LoopOptions) {
    this.#options = options
  }

  start(): void {
    this.#running = this.#run()
  }

  /** Waits for the run under way. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#running
  }

  async #run(): Promise<void> {
    const { name, everyMs, run, log } = this.#options
    enterSection(`loop ${name}`)
    try {
      await run()
    } catch (error) {
      log.error({ error, loop: name }, 'A run failed; the next one comes')
    }
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      this.#running = this.#run()
    }, everyMs)
    this.#timer.unref()
  }
}
