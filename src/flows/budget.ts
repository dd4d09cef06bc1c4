/** What rendering a mail, or a part of it, may cost. */
export type RenderLimits = {
  units: number
  cpuMs: number
  /** Exceeding them is thrown as `NeedsTask`, so that the caller can render again, instead of as a refusal. */
  signalsExcess?: true
}

/**
 * A character handled costs one unit, the rest as below. A unit stands for about 10 ns of CPU time. Counting instead of
 * timing makes the outcome of a template the same on every machine and under every load: an accepted mail must not fail
 * because the machine was busy. A mail with a table of a thousand rows needs half of the default.
 */
const unitsPerMs = 100_000
export const cpuMsDefault = 20
/**
 * The clock is a backstop for work that the units do not count. It is generous: in a task process that has just
 * started, on a machine with ten times the work it can do, templates were measured to take thirty times as long.
 */
const clockFactor = 50
/** The subject is rendered when a mail is accepted and the bodies when it is sent, so each has its own part of the limits. */
const subjectShare = 0.25

const limitsOf = (cpuMs: number): RenderLimits => ({ units: cpuMs * unitsPerMs, cpuMs: cpuMs * clockFactor })

export const subjectLimits = (cpuMs = cpuMsDefault): RenderLimits => limitsOf(cpuMs * subjectShare)

export const bodyLimits = (cpuMs = cpuMsDefault): RenderLimits => limitsOf(cpuMs * (1 - subjectShare))

/** On the main thread: what needs more is rendered in a task process, with the limits above. */
export const inlineLimits: RenderLimits = { units: 100_000, cpuMs: 4, signalsExcess: true }

const stepUnits = 100
export const elementUnits = 50
const keyUnits = 10
const recheckMs = 1

export class OverBudget extends Error {}

/**
 * Counts the cost of one mail. The engine knows it as its memory limit (`use`) and its render limit (`check`): it calls
 * `check` before each node. Its own limits leave gaps (filters that are not counted, a clock that is not read within
 * a filter), which is why the filters and operators of `engine.ts` count too.
 */
export class Budget {
  #units = 0
  readonly #limits: RenderLimits
  #deadline: number
  #usageWhenLate: NodeJS.CpuUsage | undefined
  #spent: 'units' | 'time' | undefined

  /** What "now" means in the template. */
  readonly time: number

  constructor(limits: RenderLimits, time = Date.now()) {
    this.time = time
    this.#limits = limits
    this.#deadline = performance.now() + limits.cpuMs / 2
  }

  /** Which limit was exceeded. */
  get spent(): 'units' | 'time' | undefined {
    return this.#spent
  }

  use(units: number): void {
    if (!(units > 0)) return
    this.#units += units
    if (this.#units <= this.#limits.units) return
    this.#spent = 'units'
    throw new OverBudget('it does more work than one mail may take')
  }

  check(now: number): void {
    this.use(stepUnits)
    if (now > this.#deadline) this.#checkProcessorTime(now)
  }

  /**
   * On a busy machine time passes while nothing is done. So after half of the limit by the wall clock, what counts is the time
   * that the processor spent on this process.
   */
  #checkProcessorTime(now: number): void {
    this.#deadline = now + recheckMs
    if (!this.#usageWhenLate) this.#usageWhenLate = process.cpuUsage()
    else if (process.cpuUsage(this.#usageWhenLate).user > this.#limits.cpuMs * 500) {
      this.#spent = 'time'
      throw new OverBudget('it takes longer than one mail may take')
    }
  }

  /** A call of a filter or an operator: one step, and the size of what it is given, counted to the last leaf. */
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

/** Data from the context. Objects of the engine, such as `forloop`, have methods and are not weighed. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
