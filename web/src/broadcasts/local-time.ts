import type { Draft } from './draft.ts'

const wallClock = new Intl.DateTimeFormat('en', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZone: 'UTC',
})

export const zoneName = (zone: string) => zone.replaceAll('_', ' ')

/** A local time with the zone it is read in, such as “Dec 1, 2026, 09:00 (Europe/Vienna)”. */
export function localTimeText({
  at,
  when,
  time_zone: zone,
}: Pick<Draft['schedule'], 'at' | 'when' | 'time_zone'>): string {
  const time = wallClock.format(new Date(`${at}:00Z`))
  return when === 'local' ? `${time} in each recipient’s time zone` : `${time} (${zoneName(zone)})`
}

/** The day in the zone, such as “Dec 1”, with the year if it is another one. */
export function dayIn(timeZone: string, at: string): string {
  const [year, thisYear] = [new Date(at), new Date()].map((date) =>
    new Intl.DateTimeFormat('en', { timeZone, year: 'numeric' }).format(date),
  )
  const fields = { day: 'numeric', month: 'short', timeZone } as const
  return new Intl.DateTimeFormat('en', year === thisYear ? fields : { ...fields, year: 'numeric' }).format(new Date(at))
}

/** Returns a function that formats times in the zone, such as “Dec 1, 09:00”, with the year if it is another one. */
export function timeIn(timeZone: string): (at: string) => string {
  const fields = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  const short = new Intl.DateTimeFormat('en', { ...fields, timeZone })
  const long = new Intl.DateTimeFormat('en', { ...fields, timeZone, year: 'numeric' })
  const year = new Intl.DateTimeFormat('en', { timeZone, year: 'numeric' })
  return (at) => {
    const date = new Date(at)
    return (year.format(date) === year.format(new Date()) ? short : long).format(date)
  }
}
