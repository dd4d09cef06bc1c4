const zoneName = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/
const zonesMax = 1_000

const fields = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const

/** Creating a formatter takes longer than using it for one response, so formatters are cached. */
const formats = new Map<string, Intl.DateTimeFormat>()

/** Returns a formatter for `MM/DD/YYYY, HH:mm` in the zone, or undefined if there is no such zone. */
export function findZoneFormat(zone: string): Intl.DateTimeFormat | undefined {
  const known = formats.get(zone)
  if (known || !zoneName.test(zone)) return known
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...fields })
    if (formats.size >= zonesMax) formats.clear()
    formats.set(zone, format)
    return format
  } catch {
    return undefined
  }
}

/**
 * Returns whether this is an IANA time zone, regardless of case. An offset such as +01:00 is none: it would be wrong
 * during daylight saving time.
 */
export const isTimeZone = (name: string): boolean => findZoneFormat(name) !== undefined
