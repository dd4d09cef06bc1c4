import { dayMs, hourMs } from '../../platform/values/durations.ts'
import type { Limit, LimitHold, Urgency } from './limit.ts'

/** Times are in milliseconds since 1970, on the clock of the database. */
export type LimitUse = {
  /** The last day on which something was sent, such as 2026-01-31. */
  day: string
  /** The number of such days. */
  days: number
  /** Emails on the last day. */
  used: number
  nextAt: number
  /** Until when emails were told to wait. */
  queues: Record<Urgency, number>
}

/** A limit that was not used yet. */
export const unused = (now: number): LimitUse => ({
  day: dayOf(now),
  days: 1,
  used: 0,
  nextAt: 0,
  queues: { urgent: 0, waited: 0, bulk: 0 },
})

/**
 * Emails are spaced a little wider than the rate, because they leave some milliseconds later than planned: no second has more of
 * them than the limit.
 */
const rateShare = 0.98
/** Emails that wait for the next day are tried again this far apart. */
const nextDayStepMs = 100
/** The longest wait for a rate. Emails that are not within the limit then wait again. */
const waitMsMax = 2 * hourMs
/** If the limit was not used this long, nobody waits any more: the emails may have been cancelled. */
const idleMsMin = 10_000
const idleEmails = 3

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)

/** A limit whose row is locked. Its use is changed by emails that are let through or told to wait. */
export class OpenLimit {
  readonly use: LimitUse
  readonly limit: Limit
  readonly #now: number
  readonly #midnight: number
  readonly #spacingMs: number

  constructor(limit: Limit, use: LimitUse, now: number) {
    this.limit = limit
    this.#now = now
    this.#midnight = (Math.floor(now / dayMs) + 1) * dayMs
    this.#spacingMs = limit.perSecond === null ? 0 : 1000 / (limit.perSecond * rateShare)
    const day = dayOf(now)
    // A row may be ahead of a clock that was set back.
    this.use = use.day >= day ? { ...use } : { ...use, day, days: use.days + (use.used > 0 ? 1 : 0), used: 0 }
    this.use.queues = { ...use.queues }
    if (this.#isIdle) this.use.queues = { urgent: 0, waited: 0, bulk: 0 }
  }

  get #isIdle(): boolean {
    const idleMs = Math.max(idleMsMin, idleEmails * this.#spacingMs)
    return this.#spacingMs > 0 && !this.#isUsedUp && this.#now - this.use.nextAt > idleMs
  }

  get perDay(): number | null {
    const { perDay, plan } = this.limit
    const planned = plan?.[this.use.days - 1]
    return planned === undefined ? perDay : Math.min(planned, perDay ?? planned)
  }

  /** How many emails may still leave on this day. */
  get room(): number {
    const { perDay } = this
    return perDay === null ? Number.POSITIVE_INFINITY : Math.max(0, perDay - this.use.used)
  }

  get #isUsedUp(): boolean {
    return this.room <= 0
  }

  /** The time between two emails, or 0 without a rate. */
  get spacingMs(): number {
    return this.#spacingMs
  }

  get hasRate(): boolean {
    return this.#spacingMs > 0
  }

  /** When the next email may leave, whatever its urgency. */
  get nextAt(): number {
    return Math.max(this.#now, this.use.nextAt)
  }

  /** Returns undefined if an email may leave before the end of `horizonMs`. */
  hold(urgency: Urgency, horizonMs: number): LimitHold | undefined {
    const { limit } = this
    if (urgency === 'urgent' && limit.sparesUrgent) return undefined
    if (this.#isUsedUp) return { cause: 'daily_limit', until: Math.max(this.#midnight, this.#queueEnd(urgency)), limit }
    // An email that waits until after midnight would count for the day before.
    const before = this.perDay === null ? Number.POSITIVE_INFINITY : this.#midnight
    const isBehind = this.#isBehindOthers(urgency, horizonMs)
    const until = Math.max(this.nextAt, this.#queueEnd(urgency))
    if (!this.hasRate) return isBehind ? { cause: 'daily_limit', until, limit } : undefined
    // A time that nobody uses is free for all.
    const lastAt = this.#now + (isBehind ? 0 : horizonMs)
    return this.nextAt <= lastAt && this.nextAt < before
      ? undefined
      : { cause: 'limit', until: this.#soon(until), limit }
  }

  /** Emails that wait go before new ones, the oldest first. */
  #isBehindOthers(urgency: Urgency, horizonMs: number): boolean {
    if (urgency !== 'bulk') return false
    const end = this.#queueEnd(urgency)
    // Those that wait for the next day wait in vain if the limit was raised.
    return end > this.#now + horizonMs && (this.hasRate || end < this.#midnight)
  }

  /** Not too late, because the limit may be raised until then. */
  #soon(until: number): number {
    return Math.min(until, Math.max(this.nextAt, this.#now + waitMsMax))
  }

  #queueEnd(urgency: Urgency): number {
    const { queues } = this.use
    return urgency === 'bulk' ? Math.max(queues.bulk, queues.waited) : queues[urgency]
  }

  /** An email that waits is tried again at `until`, and the next one after it. */
  wait(urgency: Urgency, { cause, until }: Pick<LimitHold, 'cause' | 'until'>): void {
    const stepMs = cause === 'daily_limit' ? Math.max(nextDayStepMs, this.#spacingMs) : this.#spacingMs
    this.use.queues[urgency] = until + stepMs
  }

  /** An email leaves at the next time, or several follow each other. */
  take(emails = 1): void {
    this.use.used += emails
    if (this.hasRate) this.use.nextAt = this.nextAt + emails * this.#spacingMs
  }
}
