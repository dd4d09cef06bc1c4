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

/** A local time with the zone it is read in, such as “Dec 1, 2026, 09:00 (Europe/Vienna)”. */
export function localTimeText({ at, when, timeZone }: Pick<Draft, 'at' | 'when' | 'timeZone'>): string {
  const time = wallClock.format(new Date(`${at}:00Z`))
  return when === 'local' ? `${time} in each recipient’s time zone` : `${time} (${timeZone.replaceAll('_', ' ')})`
}
