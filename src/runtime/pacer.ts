import { setImmediate as nextTurn } from 'node:timers/promises'

const blockMsMax = 15

/** Lets long loops on the main thread yield to the event loop: `if (pacer.isDue) await pacer.turn()`. */
export class Pacer {
  #since = performance.now()

  /** True if the loop has blocked the thread long enough to yield. Cheap enough to check for every item of a batch. */
  get isDue(): boolean {
    return performance.now() - this.#since > blockMsMax
  }

  async turn(): Promise<void> {
    await nextTurn()
    this.#since = performance.now()
  }
}
