import { type Limit, type LimitUse, OpenLimit } from '../../delivery/delivery.ts'
import { Pacer } from '../../platform/runtime/pacer.ts'
import { dayMs } from '../../platform/values/durations.ts'
import { chunkSizeOf } from './rate.ts'
import { type WeeklyWindow, type WindowState, windowAt } from './weekly-window.ts'

/** Recipients that get the email from the same time on. The zone is that of their sending hours. */
export type Portion = { startsAt: number; zone: string; recipients: number }

/** A limit that applies to a share of the emails: several mail servers divide them. */
export type SharedLimit = { limit: Limit; use: LimitUse; share: number }

export type Pace = {
  window: WeeklyWindow | null
  messagesPerHour: number | null
  limits: readonly SharedLimit[]
  /** The time between two emails if only the mail server limits the speed, or 0 if it is not known. */
  usualSpacingMs: number
}

/** What emails wait for. */
export type Cause = 'start' | 'local_time' | 'sending_hours' | 'daily_limit'

/** Emails that leave without a break: the first and the last of them. */
export type Stretch = { startsAt: number; endsAt: number; recipients: number; cause: Cause }

export type Forecast = {
  stretches: Stretch[]
  /** False if there are more stretches than can be computed. */
  isComplete: boolean
  /** The limits as they are then. */
  limits: readonly SharedLimit[]
}

/** Changes of the sending hours, of the day and so on that are looked ahead. */
const stepsMax = 200

/** The time between two emails, or 0 if nothing limits the speed and that of the mail server is not known. */
const spacingOf = (pace: Pace): number => Math.max(limitedSpacing(pace), pace.usualSpacingMs)

export const isSpeedKnown = (pace: Pace): boolean => spacingOf(pace) > 0

/** Makes up for the rounding errors of two divisions, which would make a whole number one too low. */
const roundingMax = 1e-6

/** The highest speed that the limits allow. Null if only the mail server limits it. */
export function limitedPerHour(pace: Pick<Pace, 'messagesPerHour' | 'limits'>): number | null {
  const spacingMs = limitedSpacing(pace)
  return spacingMs === 0 ? null : Math.floor(3_600_000 / spacingMs + roundingMax)
}

/** The time between two emails, or 0 if only the mail server limits the speed. */
const limitedSpacing = ({ messagesPerHour, limits }: Pick<Pace, 'messagesPerHour' | 'limits'>): number =>
  Math.max(
    messagesPerHour === null ? 0 : 3_600_000 / messagesPerHour,
    ...limits.map(({ limit, use, share }) => new OpenLimit(limit, use, 0).spacingMs * share),
  )

export const hasDailyLimit = ({ limits }: Pace): boolean =>
  limits.some(({ limit, use }) => new OpenLimit(limit, use, 0).perDay !== null)

/**
 * Says when the emails of a broadcast will leave, by the rules that apply when they are sent. Emails take no time if
 * their speed is not known.
 */
export async function forecast(portions: readonly Portion[], pace: Pace): Promise<Forecast> {
  const pacer = new Pacer()
  const spacingMs = spacingOf(pace)
  const together = chunkSizeOf(pace.messagesPerHour)
  let waiting = portions.filter(({ recipients }) => recipients > 0).map((each) => new WaitingPortion(each, pace.window))
  let { limits } = pace
  const stretches: Stretch[] = []
  let at = Math.min(...waiting.map(({ startsAt }) => startsAt))
  let cause: Cause | undefined = 'start'
  const wait = (reason: Cause, until: number) => {
    // Of several reasons in a row, the first is named.
    if (cause === undefined || cause === 'start') cause = reason
    at = until
  }
  for (let step = 0; waiting.length > 0; step++) {
    if (step === stepsMax) return { stretches, isComplete: false, limits }
    if (pacer.isDue) await pacer.turn()
    const open = waiting.filter((portion) => portion.stateAt(at).isOpen)
    const next = waiting.toSorted((a, b) => a.stateAt(at).until - b.stateAt(at).until)[0]!
    const { until: changesAt } = next.stateAt(at)
    if (open.length === 0) {
      wait(at < next.startsAt ? 'local_time' : 'sending_hours', changesAt)
      continue
    }
    const opened = limits.map((shared) => ({ ...shared, open: new OpenLimit(shared.limit, shared.use, at) }))
    const room = Math.floor(Math.min(Number.POSITIVE_INFINITY, ...opened.map(({ open, share }) => open.room / share)))
    const midnight = (Math.floor(at / dayMs) + 1) * dayMs
    if (room === 0) {
      wait('daily_limit', midnight)
      continue
    }
    const until = Math.min(changesAt, room === Number.POSITIVE_INFINITY ? room : midnight)
    const fitting = spacingMs === 0 ? Number.POSITIVE_INFINITY : Math.max(1, Math.ceil((until - at) / spacingMs))
    const emails = takeFrom(open, Math.min(room, fitting))
    limits = opened.map(({ limit, open, share }) => {
      open.take(emails * share)
      return { limit, share, use: open.use }
    })
    const endsAt = at + Math.max(0, emails - together) * spacingMs
    const last = stretches.at(-1)
    if (cause === undefined && last) {
      last.recipients += emails
      last.endsAt = endsAt
    } else stretches.push({ startsAt: at, endsAt, recipients: emails, cause: cause ?? 'start' })
    cause = undefined
    at += emails * spacingMs
    waiting = waiting.filter(({ left }) => left > 0)
  }
  return { stretches, isComplete: true, limits }
}

function takeFrom(portions: readonly WaitingPortion[], most: number): number {
  let taken = 0
  for (const portion of portions) {
    const emails = Math.min(portion.left, most - taken)
    portion.left -= emails
    taken += emails
  }
  return taken
}

class WaitingPortion {
  readonly startsAt: number
  left: number
  readonly #zone: string
  readonly #window: WeeklyWindow | null
  #state: WindowState

  constructor({ startsAt, zone, recipients }: Portion, window: WeeklyWindow | null) {
    this.startsAt = startsAt
    this.left = recipients
    this.#zone = zone
    this.#window = window
    this.#state = { isOpen: false, until: startsAt }
  }

  /** Times must not decrease. */
  stateAt(at: number): WindowState {
    if (at >= this.#state.until)
      this.#state = this.#window
        ? windowAt(this.#window, this.#zone, at)
        : { isOpen: true, until: Number.POSITIVE_INFINITY }
    return this.#state
  }
}
