import { dayMs } from '../platform/values/durations.ts'
import { invalid } from '../platform/values/errors.ts'
import { instantOf, isTimeZone, parseWallClock, type WallClock } from '../platform/values/time-zone.ts'
import { parseTimestamp } from '../platform/values/timestamp.ts'
import { minutesOf, type WeeklyWindow, weekdays, windowMinutesMin } from '../platform/values/weekly-window.ts'
import type { Schedule } from './broadcasts.sql.ts'

/** Clocks on these islands are ahead of all others, so a local time comes there first. */
const earliestZone = 'Pacific/Kiritimati'
const timeZoneAttribute = 'time_zone'
const attributeMax = 100

export const scheduleNow: Schedule = {
  at: null,
  time_zone: 'UTC',
  per_recipient: false,
  time_zone_attribute: timeZoneAttribute,
  window: null,
}

/** The schedule without its planned time, for all recipients at once. The window stays. */
export const nowInsteadOf = (schedule: Schedule): Schedule => ({ ...schedule, at: null, per_recipient: false })

/** Throws `Refusal` if the schedule is invalid. */
export function checkSchedule(schedule: Schedule): Schedule {
  const { at, time_zone: zone, time_zone_attribute: attribute, window } = schedule
  if (!isTimeZone(zone)) throw invalid({ path: 'schedule.time_zone', problem: 'must be an IANA time zone' })
  if (at !== null && parseWallClock(at) === undefined && parseTimestamp(at) === undefined)
    throw invalid({
      path: 'schedule.at',
      problem: 'must be a local time such as 2026-12-01T09:00, or a time with an offset such as 2026-12-01T09:00:00Z',
    })
  if (at !== null && schedule.per_recipient && parseWallClock(at) === undefined)
    throw invalid({ path: 'schedule.at', problem: 'must be a local time to send at the local time of each recipient' })
  if (schedule.per_recipient && at === null)
    throw invalid({ path: 'schedule.at', problem: 'is required to send at the local time of each recipient' })
  if (attribute === '' || attribute.length > attributeMax)
    throw invalid({ path: 'schedule.time_zone_attribute', problem: `must have 1 to ${attributeMax} characters` })
  if (window) checkWindow(window)
  return schedule
}

function checkWindow({ days, from, to }: WeeklyWindow): void {
  if (days.length === 0 || days.some((day) => !weekdays.includes(day)))
    throw invalid({ path: 'schedule.window.days', problem: `must be one or more of ${weekdays.join(', ')}` })
  const opens = minutesOf(from)
  const closes = minutesOf(to)
  if (opens === undefined) throw invalid({ path: 'schedule.window.from', problem: 'must be a time such as 08:00' })
  if (closes === undefined) throw invalid({ path: 'schedule.window.to', problem: 'must be a time such as 18:00' })
  if (closes - opens < windowMinutesMin)
    throw invalid({ path: 'schedule.window.to', problem: `must be at least ${windowMinutesMin} minutes after from` })
}

/** Returns the planned start, or undefined if the schedule has no time. */
export function startOf({ at, time_zone: zone, per_recipient: perRecipient }: Schedule): Date | undefined {
  if (at === null) return undefined
  const instant = parseTimestamp(at)
  if (instant) return instant
  return new Date(instantOf(perRecipient ? earliestZone : zone, parseWallClock(at)!))
}

/** Like `startOf`, and not before `now`: the local time of some recipients may have passed. */
export function plannedStart(schedule: Schedule, now: Date): Date | undefined {
  const startsAt = startOf(schedule)
  return startsAt && startsAt < now ? now : startsAt
}

/** A job that waits for years would never be noticed. */
const daysAheadMax = 365

/** Throws `Refusal` if the planned time has passed or is too far ahead. */
export function checkPlannedTime(schedule: Schedule, now: Date): void {
  // At the local time of each recipient, the time in the zone of the broadcast counts.
  const planned = startOf({ ...schedule, per_recipient: false })
  if (!planned) return
  if (planned <= now) throw invalid({ path: 'schedule.at', problem: 'must be in the future' })
  if (+planned > +now + daysAheadMax * dayMs)
    throw invalid({ path: 'schedule.at', problem: `must be at most ${daysAheadMax} days ahead` })
}

/**
 * The time at which recipients in this zone get a broadcast that is sent at their local time: at the planned time, or on the
 * first day on which that is not before `notBefore`.
 */
export function localStart(at: string, zone: string, notBefore?: Date): Date {
  let wall = parseWallClock(at)!
  if (notBefore) {
    const days = Math.floor((+notBefore - instantOf(zone, wall)) / dayMs)
    wall = (wall + Math.max(0, days) * dayMs) as WallClock
    while (instantOf(zone, wall) < +notBefore) wall = (wall + dayMs) as WallClock
  }
  return new Date(instantOf(zone, wall))
}

/** How long after the start clocks are compared. Zones that change to summer time on different days are told apart. */
const comparedDays = [0, 10, 30]

/** The same for zones in which the local time comes at the same moment, also on later days. */
export function sameTimeKey(at: string, zone: string): string {
  const wall = parseWallClock(at)!
  return comparedDays.map((days) => instantOf(zone, (wall + days * dayMs) as WallClock)).join(' ')
}

/** Returns the zone that stands for all zones in which the local time comes at the same moment, and adds it if there is none. */
export const sameTimeZone = (zones: Record<string, string>, at: string, zone: string): string =>
  (zones[sameTimeKey(at, zone)] ??= zone)
