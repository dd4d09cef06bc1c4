/** The limits of rendering an email or a part of it. */
export type RenderLimits = {
  units: number
  cpuMs: number
  /** Exceeding the limits throws `OverBudget` instead of a refusal, so that the caller can render again. */
  signalsExcess?: true
}

/**
 * A processed character costs one unit, other work as below. A unit represents about 10 ns of CPU time. Counting
 * instead of timing makes the outcome of a template the same on every machine and under any load: an accepted email
 * must not fail because the machine was busy. An email with a table of a thousand rows needs half of the default.
 */
const unitsPerMs = 100_000
const cpuMsDefault = 20
/**
 * The clock is a safeguard for work that the units do not count. It is generous: in a task process that had just
 * started, on a machine with ten times the load it can handle, templates took thirty times as long.
 */
const clockFactor = 50
/** The subject is rendered when an email is accepted, the body when it is sent, so each has its own share. */
const subjectShare = 0.25

const limitsOf = (cpuMs: number): RenderLimits => ({ units: cpuMs * unitsPerMs, cpuMs: cpuMs * clockFactor })

export const subjectLimits = (cpuMs = cpuMsDefault): RenderLimits => limitsOf(cpuMs * subjectShare)

export const bodyLimits = (cpuMs = cpuMsDefault): RenderLimits => limitsOf(cpuMs * (1 - subjectShare))

/** The limits on the main thread. Templates that exceed them are rendered in a task process, with the limits above. */
export const inlineLimits: RenderLimits = { units: 100_000, cpuMs: 4, signalsExcess: true }

const stepUnits = 100
export const elementUnits = 50
const keyUnits = 10
const recheckMs = 1

/** Thrown through the engine when a limit is exceeded. */
export class OverBudget extends Error {
  readonly spent: 'units' | 'time'
  constructor(spent: 'units' | 'time') {
    const work = spent === 'units' ? 'more work' : 'more time'
    super(`rendering it takes ${work} than allowed for one email`)
    this.spent = spent
  }
}

/**
 * Counts the cost of one email. The engine uses it as its memory limit (`use`) and its render limit (`check`), which it
 * calls before each node. Its own limits leave gaps (filters that are not counted, and a clock that is not read within
 * a filter), so the filters and operators of `engine.ts` count as well.
 */
export class Budget {
  #units = 0
  readonly #limits: RenderLimits
  #deadline: number
  #usageWhenLate: NodeJS.CpuUsage | undefined
  #excess: OverBudget | undefined

  /** What "now" means in the template. */
  readonly time: number

  constructor(limits: RenderLimits, time = Date.now()) {
    this.time = time
    this.#limits = limits
    this.#deadline = performance.now() + limits.cpuMs / 2
  }

  /** What was thrown when a limit was exceeded. The engine may wrap it in an error of its own. */
  get excess(): OverBudget | undefined {
    return this.#excess
  }

  use(units: number): void {
    if (!(units > 0)) return
    this.#units += units
    if (this.#units <= this.#limits.units) return
    this.#excess = new OverBudget('units')
    throw this.#excess
  }

  check(now: number): void {
    this.use(stepUnits)
    if (now > this.#deadline) this.#checkProcessorTime(now)
  }

  /** On a busy machine, time passes without progress. After half of the limit, the CPU time counts instead. */
  #checkProcessorTime(now: number): void {
    this.#deadline = now + recheckMs
    if (!this.#usageWhenLate) this.#usageWhenLate = process.cpuUsage()
    else if (process.cpuUsage(this.#usageWhenLate).user > this.#limits.cpuMs * 500) {
      this.#excess = new OverBudget('time')
      throw this.#excess
    }
  }

  /** Counts a call of a filter or an operator: one step, and the total size of its arguments. */
  call(values: readonly unknown[]): void {
    this.check(performance.now())
    for (const value of values) this.weigh(value)
  }

  weigh(value: unknown): void {
    if (typeof value === 'string') this.use(value.length)
    else if (Array.isArray(value)) {
      this.use(value.length * elementUnits)
      for (const element of value) this.weigh(element)
    } else if (isPlainObject(value)) {
      for (const key in value) {
        this.use(keyUnits)
        this.weigh(value[key])
      }
    }
  }
}

/** Returns whether the value is data. Objects of the engine, such as `forloop`, have methods and are not counted. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
