const blockMsMax = 15

const severalOrganizations = 'several organizations'

/** Callers that wait for their turn, by key, in the order in which the keys get the next one. */
const waiting = new Map<unknown, (() => void)[]>()

/**
 * Resolves in a later turn of the event loop, in which no other caller of this function continues: the event loop is
 * blocked by one of them at a time, however many there are. Keys get turns one after the other, so an organization that
 * uses its id as the key delays others by one turn at most.
 */
export function nextTurn(key: unknown): Promise<void> {
  return new Promise((resolve) => {
    const sameKey = waiting.get(key)
    if (sameKey) sameKey.push(resolve)
    else if (waiting.set(key, [resolve]).size === 1) setImmediate(startNext)
  })
}

function startNext(): void {
  const [key, callers] = waiting.entries().next().value!
  callers.shift()!()
  waiting.delete(key)
  if (callers.length > 0) waiting.set(key, callers)
  // An immediate that another one schedules runs after input and timers were handled.
  if (waiting.size > 0) setImmediate(startNext)
}

/** Returns whose turns work for these organizations takes: those of the only one, or those of all work for several. */
export function turnsOfAll(organizationIds: Iterable<string>): string {
  const [first = severalOrganizations, ...others] = new Set(organizationIds)
  return others.length === 0 ? first : severalOrganizations
}

/** Lets long loops on the main thread yield to the event loop: `if (pacer.isDue) await pacer.turn()`. */
export class Pacer {
  readonly #key: string | object
  #since = performance.now()

  /** `key`: whose turns are taken, usually an organization. A loop for all organizations has turns of its own. */
  constructor(key: string | object) {
    this.#key = key
  }

  /** True if the loop has blocked the thread long enough to yield. Cheap enough to check for every item of a batch. */
  get isDue(): boolean {
    return performance.now() - this.#since > blockMsMax
  }

  async turn(): Promise<void> {
    await nextTurn(this.#key)
    this.#since = performance.now()
  }
}
