import { findZoneFormat } from './time-zone.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

/** A time of day and a date without a zone, as milliseconds since 1970 on a clock that shows this time in UTC. */
export type WallClock = number & { readonly wall: unique symbol }

const pattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/

/** Parses `2026-12-01T09:00`, also with seconds. Returns undefined if there is no such date or time. */
export function parseWallClock(text: string): WallClock | undefined {
  const match = pattern.exec(text)
  if (!match) return undefined
  const at = Date.parse(match[1] ? `${text}Z` : `${text}:00Z`)
  // A date such as 31 June would be moved to the next month.
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text) ? (at as WallClock) : undefined
}

/** Returns what a clock in the zone shows. Throws `RangeError` if there is no such zone. */
export function wallClockAt(zone: string, at: number): WallClock {
  const format = findZoneFormat(zone)
  if (!format) throw new RangeError(`There is no time zone ${zone}`)
  const [, month, day, year, hour, minute] = /^(\d+)\/(\d+)\/(\d+), (\d+):(\d+)$/.exec(format.format(at))!.map(Number)
  return (Date.UTC(year!, month! - 1, day!, hour!, minute!) + (at % minuteMs)) as WallClock
}

const offsetAt = (zone: string, at: number) => wallClockAt(zone, at) - at

/**
 * Returns the time at which a clock in the zone shows `wall`. A time that occurs twice, when clocks are set back, is the
 * first of both. A time that is skipped, when clocks are set forward, is later by the skipped time.
 */
export function instantOf(zone: string, wall: WallClock): number {
  const before = offsetAt(zone, wall - dayMs)
  const after = offsetAt(zone, wall + dayMs)
  const matching = [wall - before, wall - after].filter((at) => wallClockAt(zone, at) === wall)
  return matching.length > 0 ? Math.min(...matching) : wall - before
}

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Weekday = (typeof weekdays)[number]

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
