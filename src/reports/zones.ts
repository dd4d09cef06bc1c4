import { findZoneFormat } from '../values/time-zone.ts'

// Calendar days of a time zone as ranges of UTC, using the time zone data of Node.js.

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
/**
 * Since 1970 no zone has changed its offset twice within this time, so sampling at this interval finds every change.
 */
const lookEveryMs = 7 * dayMs
const fieldsPattern = /^(\d+)\/(\d+)\/(\d+), (\d+):(\d+)$/

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
  const format = findZoneFormat(zone)
  if (!format) throw new Error(`Unknown time zone ${zone}.`)
  let offset = offsetAt(format, from)
  const stretches = [{ startsAt: from, offset }]
  for (let at = from; at < until; at += lookEveryMs) {
    const next = offsetAt(format, at + lookEveryMs)
    if (next === offset) continue
    stretches.push({ startsAt: findChange(format, at, at + lookEveryMs), offset: next })
    offset = next
  }
  return stretches
}

/** Returns the minute at which the offset changes to that at the end. */
function findChange(format: Intl.DateTimeFormat, from: number, until: number): number {
  const before = offsetAt(format, from)
  let [low, high] = [from, until]
  while (high - low > minuteMs) {
    const middle = low + Math.floor((high - low) / 2 / minuteMs) * minuteMs
    if (offsetAt(format, middle) === before) low = middle
    else high = middle
  }
  return high
}

function offsetAt(format: Intl.DateTimeFormat, at: number): number {
  const [, month, day, year, hour, minute] = fieldsPattern.exec(format.format(at))!
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute)) - at
}
