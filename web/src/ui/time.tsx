const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const soonMs = 10_000

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })
const dayAndYear = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' })
const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const exact = new Intl.DateTimeFormat('en', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
})

const calendar = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })

/** A date of the API (2026-10-17) in the format of all other dates (Oct 17, 2026). */
export const calendarDay = (date: string) => calendar.format(new Date(`${date}T00:00:00Z`))

/** A time in the user's time zone: relative, with the exact time as tooltip. */
export function Time({ at, none = 'Never' }: { at: string | null | undefined; none?: string }) {
  if (!at) return <span>{none}</span>
  const date = new Date(at)
  return (
    <time dateTime={at} title={exact.format(date)} style={{ whiteSpace: 'nowrap' }}>
      {relativeTime(date, new Date())}
    </time>
  )
}

/** When something is tried again, to follow “next attempt”: “in 20 seconds”, or “in a moment” if that time is close or past. */
export function AttemptTime({ at }: { at: string }) {
  return isSoon(at) ? <span>in a moment</span> : <Time at={at} />
}

export const isSoon = (at: string) => Date.parse(at) < Date.now() + soonMs

/** A time as date and clock time, to follow “since” or “until”. */
export function DayAndClock({ at }: { at: string }) {
  const date = new Date(at)
  return (
    <time dateTime={at} title={exact.format(date)} style={{ whiteSpace: 'nowrap' }}>
      {dayName(date, new Date())}, {clock.format(date)}
    </time>
  )
}

/** A time with seconds, for logs. */
export function ExactTime({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at} className="number">
      {exact.format(new Date(at))}
    </time>
  )
}

function relativeTime(date: Date, now: Date): string {
  const ms = date.getTime() - now.getTime()
  const size = Math.abs(ms)
  if (size < soonMs) return 'just now'
  // Rounded first, so that it never says “60 minutes ago”.
  if (Math.round(size / 1000) < 60) return relative.format(Math.round(ms / 1000), 'second')
  if (Math.round(size / minuteMs) < 60) return relative.format(Math.round(ms / minuteMs), 'minute')
  if (Math.round(size / hourMs) < 24) return relative.format(Math.round(ms / hourMs), 'hour')
  if (size < 7 * dayMs) return relative.format(Math.round(ms / dayMs), 'day')
  return dayName(date, now)
}

const dayName = (date: Date, now: Date) => (date.getFullYear() === now.getFullYear() ? day : dayAndYear).format(date)
