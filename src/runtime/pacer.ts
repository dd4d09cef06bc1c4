import { setImmediate as nextTurn } from 'node:timers/promises'

const holdMsMax = 15

/** Lets long loops on the main thread give the event loop a turn: `if (pacer.isDue) await pacer.turn()`. */
export class Pacer {
  #since = performance.now()

  /** Whether the thread was held so long that others should have their turn. Cheap enough for every item of a batch. */
  get isDue(): boolean {
    return performance.now() - this.#since > holdMsMax
  }

  async turn(): Promise<void> {
    await nextTurn()
    this.#since = performance.now()
  }
}
