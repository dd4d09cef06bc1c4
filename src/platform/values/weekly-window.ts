import { dayMs, minuteMs } from './durations.ts'
import { wallClockAt } from './time-zone.ts'

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
type Weekday = (typeof weekdays)[number]

/** Hours of some weekdays: `from` and `to` are times such as 08:00; `to` may be 24:00. */
export type WeeklyWindow = { days: Weekday[]; from: string; to: string }

/** Open until a time, or closed until a time. */
export type WindowState = { isOpen: boolean; until: number }

/** Returns minutes since midnight, or undefined if the text is not a time of day. */
export function minutesOf(text: string): number | undefined {
  const match = /^([01]\d|2[0-4]):([0-5]\d)$/.exec(text)
  const minutes = match ? Number(match[1]) * 60 + Number(match[2]) : Number.NaN
  return minutes <= 24 * 60 ? minutes : undefined
}

/** Windows are at least this long, and clocks are set at multiples of it. */
const quarterMs = 15 * minuteMs
export const windowMinutesMin = 15
const searchMsMax = 9 * dayMs

/**
 * Returns whether the window is open by the clocks of the zone, and until when. The window must have a day. When clocks are
 * set back, a window can close and open once more; when they are set forward, its beginning can be skipped.
 */
export function windowAt(window: WeeklyWindow, zone: string, now: number): WindowState {
  const isOpen = isOpenAt(window, zone, now)
  for (let at = now - (now % quarterMs) + quarterMs; at < now + searchMsMax; at += quarterMs) {
    if (isOpenAt(window, zone, at) === isOpen) continue
    let until = at
    while (until - minuteMs > now && isOpenAt(window, zone, until - minuteMs) !== isOpen) until -= minuteMs
    return { isOpen, until }
  }
  return { isOpen, until: now + searchMsMax }
}

function isOpenAt({ days, from, to }: WeeklyWindow, zone: string, at: number): boolean {
  const wall = wallClockAt(zone, at)
  const day = Math.floor(wall / dayMs)
  const minutes = Math.floor((wall - day * dayMs) / minuteMs)
  // 1 January 1970 was a Thursday.
  return days.includes(weekdays[(day + 3) % 7]!) && minutes >= minutesOf(from)! && minutes < minutesOf(to)!
}
