/**
 * What rendering one mail may cost: a character handled costs one unit, the rest as below. The units make the outcome of a
 * template the same on every machine. Templates written to waste them end after 5 to 60 ms on a machine that has
 * nothing else to do; a mail with a table of a thousand rows needs half of them.
 */
export const renderUnitsMax = 2_000_000
const stepUnits = 100
export const elementUnits = 50

// The clock stands behind the units, for waste that nobody thought of. It is generous, since it must never be the
// mail of an honest sender on a busy machine that it ends.
const renderMsMax = 60
const processorMsMax = 100
const recheckMs = 5

export class OverBudget extends Error {}

/**
 * Counts the cost of one mail. The engine knows it as its memory limit (`use`) and its render limit (`check`): it calls
 * `check` before each node. Its own limits leave gaps (filters that are not counted, a clock that is not read within
 * a filter), which is why the filters and operators of `engine.ts` count too.
 */
export class Budget {
  #units = 0
  #deadline = performance.now() + renderMsMax
  #usageWhenLate: NodeJS.CpuUsage | undefined

  use(units: number): void {
    if (!(units > 0)) return
    this.#units += units
    if (this.#units > renderUnitsMax) throw new OverBudget('it does more work than one mail may take')
  }

  check(now: number): void {
    this.use(stepUnits)
    if (now > this.#deadline) this.#checkProcessorTime(now)
  }

  /** On a busy machine much time passes while nothing is done, so what counts then is the time the process was given. */
  #checkProcessorTime(now: number): void {
    this.#deadline = now + recheckMs
    if (!this.#usageWhenLate) this.#usageWhenLate = process.cpuUsage()
    else if (process.cpuUsage(this.#usageWhenLate).user > processorMsMax * 1000)
      throw new OverBudget('it takes longer than one mail may take')
  }

  /** A call of a filter or an operator: one step, and the size of what it is given, arrays counted to the last leaf. */
  call(values: readonly unknown[]): void {
    this.check(performance.now())
    for (const value of values) this.weigh(value)
  }

  weigh(value: unknown): void {
    if (typeof value === 'string') this.use(value.length)
    else if (Array.isArray(value)) {
      this.use(value.length * elementUnits)
      for (const element of value) this.weigh(element)
    }
  }
}
