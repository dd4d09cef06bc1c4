import { type WeeklyWindow, windowAt } from '../../platform/values/weekly-window.ts'
import type { LimitHold } from './limit.ts'
import type { OpenLimit } from './open-limit.ts'

/** Why email may not leave, and until when. The causes without a limit are what its broadcast sets. */
export type Hold =
  | LimitHold
  | { cause: 'sending_hours' | 'local_time' | 'messages_per_hour'; until: number; limit: null }

/** What decides when email may leave. */
export type Conditions = {
  hours?: { window: WeeklyWindow; zone: string } | null
  /** When the broadcast goes on within these hours. */
  turn?: Hold | undefined
  limits: readonly OpenLimit[]
}

/** A wait for a rate that is shorter is part of sending. */
const soonMs = 1_000

/** Returns what email waits for longest, as the one reason and the one time to name. Undefined if it may leave now. */
export function holdOf({ hours, turn, limits }: Conditions, now: number): Hold | undefined {
  const state = hours && windowAt(hours.window, hours.zone, now)
  const closed: Hold | undefined =
    state && !state.isOpen ? { cause: 'sending_hours', until: state.until, limit: null } : undefined
  return longest([closed ?? turn, ...limits.map((limit) => limit.hold('bulk', soonMs))])
}

/** Returns the hold that ends last; the first of those that end at the same time. */
export function longest<Each extends Hold>(holds: readonly (Each | undefined)[]): Each | undefined {
  let last: Each | undefined
  for (const hold of holds) if (hold && (!last || hold.until > last.until)) last = hold
  return last
}
