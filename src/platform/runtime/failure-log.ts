import type { Log } from './log.ts'

/** The name of the outage of the database among the works. */
const outage = 'database'
/** After the end of an outage, connections that were being opened may still fail. */
const quietMs = 2_000

type Streak = {
  since: number
  failures: number
  failedAt: number
  loggedAt: number
  /** The works that failed. Others may succeed without using the database. */
  works: Set<string>
}

export type FailureLogOptions = {
  log: Log
  /** Returns true if the database or the connection to it failed, rather than the work. */
  isOutage: (error: unknown) => boolean
  /** While failures continue, one line is logged in this time. */
  everyMs?: number | undefined
}

/**
 * Logs failures of work that is repeated, such as polling: the first one, then one line per minute with their number, and
 * the end. An outage of the database is one failure, however much work it affects.
 */
export class FailureLog {
  readonly #log: Log
  readonly #isOutage: (error: unknown) => boolean
  readonly #everyMs: number
  readonly #streaks = new Map<string, Streak>()

  constructor({ log, isOutage, everyMs = 60_000 }: FailureLogOptions) {
    this.#log = log
    this.#isOutage = isOutage
    this.#everyMs = everyMs
  }

  failed(work: string, error: unknown): void {
    const now = performance.now()
    const name = this.#isOutage(error) ? outage : work
    let streak = this.#streaks.get(name)
    const isFirst = streak === undefined
    streak ??= { since: now, failures: 0, failedAt: now, loggedAt: now, works: new Set() }
    this.#streaks.set(name, streak)
    streak.failures++
    streak.failedAt = now
    streak.works.add(work)
    if (!isFirst && now - streak.loggedAt < this.#everyMs) return
    streak.loggedAt = now
    const { failures } = streak
    if (name === outage) {
      const { message, code } = error as Error & { code?: unknown }
      this.#log.error({ reason: message || code, work, failures }, 'The database is unavailable; retrying')
    } else this.#log.error({ err: error, work, failures }, 'Repeated work failed; retrying')
  }

  /** Must be called after each success of work whose failures are logged. */
  succeeded(work: string): void {
    if (this.#streaks.size === 0) return
    this.#end(work, work, 'Repeated work succeeds again')
    this.#end(outage, work, 'The database is available again')
  }

  #end(name: string, work: string, message: string): void {
    const streak = this.#streaks.get(name)
    const now = performance.now()
    if (!streak?.works.has(work) || (name === outage && now - streak.failedAt < quietMs)) return
    this.#streaks.delete(name)
    const seconds = Math.round((now - streak.since) / 1_000)
    const fields = name === outage ? {} : { work }
    this.#log.info({ ...fields, failures: streak.failures, seconds }, message)
  }
}
