import { dayMs, minuteMs } from './durations.ts'

// Time zones with the data of Node.js: what their clocks show, and when their days begin.

const zoneName = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/
const zonesMax = 1_000

const fields = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const

/** Creating a formatter takes longer than using it for one response, so formatters are cached, by names in lower case. */
const formats = new Map<string, Intl.DateTimeFormat>()

/** Returns a formatter for `MM/DD/YYYY, HH:mm` in the zone, or undefined if there is no such zone. */
function findZoneFormat(zone: string): Intl.DateTimeFormat | undefined {
  if (!zoneName.test(zone)) return undefined
  const name = zone.toLowerCase()
  const known = formats.get(name)
  if (known) return known
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...fields })
    if (formats.size >= zonesMax) formats.clear()
    formats.set(name, format)
    return format
  } catch {
    return undefined
  }
}

/** Returns whether this is an IANA time zone in any case. An offset is none: it ignores daylight saving time. */
export const isTimeZone = (name: string): boolean => findZoneFormat(name) !== undefined

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

/** Since 1970 no zone has changed its offset twice within this time, so these samples find every change. */
const sampledEveryMs = 7 * dayMs

/**
 * Returns the start of each day in the zone, and the end of the last one: one more value than days. A day has 23 or 25
 * hours if clocks change, and none if the zone skipped it by crossing the date line.
 */
export function dayBounds(zone: string, firstDay: Date, days: number): number[] {
  const from = +firstDay
  const until = from + days * dayMs
  const stretches = offsetStretches(zone, from - 2 * dayMs, until + 2 * dayMs)
  const bounds: number[] = []
  let current = 0
  for (let midnight = from; midnight <= until; midnight += dayMs) {
    // The first moment at which local time is this midnight or, if it is skipped, later.
    for (; ; current++) {
      const { startsAt, offset } = stretches[current]!
      const bound = Math.max(startsAt, midnight - offset)
      if (bound < (stretches[current + 1]?.startsAt ?? Number.POSITIVE_INFINITY)) {
        bounds.push(bound)
        break
      }
    }
  }
  return bounds
}

type Stretch = { startsAt: number; offset: number }

/** Dashboards request the same days repeatedly. */
const knownStretches = new Map<string, Stretch[]>()
const stretchesMax = 1_000

function offsetStretches(zone: string, from: number, until: number): Stretch[] {
  const key = `${zone} ${from} ${until}`
  let stretches = knownStretches.get(key)
  if (!stretches) {
    if (knownStretches.size >= stretchesMax) knownStretches.clear()
    stretches = findStretches(zone, from, until)
    knownStretches.set(key, stretches)
  }
  return stretches
}

function findStretches(zone: string, from: number, until: number): Stretch[] {
  let offset = offsetAt(zone, from)
  const stretches = [{ startsAt: from, offset }]
  for (let at = from; at < until; at += sampledEveryMs) {
    const next = offsetAt(zone, at + sampledEveryMs)
    if (next === offset) continue
    stretches.push({ startsAt: findChange(zone, at, at + sampledEveryMs), offset: next })
    offset = next
  }
  return stretches
}

/** Returns the minute at which the offset changes to that at the end. */
function findChange(zone: string, from: number, until: number): number {
  const before = offsetAt(zone, from)
  let [low, high] = [from, until]
  while (high - low > minuteMs) {
    const middle = low + Math.floor((high - low) / 2 / minuteMs) * minuteMs
    if (offsetAt(zone, middle) === before) low = middle
    else high = middle
  }
  return high
}
