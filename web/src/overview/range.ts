import type { Range } from './overview.api.ts'

const dayMs = 24 * 60 * 60 * 1000

/** Today as the organization's calendar has it. */
export const today = (timezone: string) =>
  // Canada writes dates as the API does.
  new Intl.DateTimeFormat('en-CA', { timeZone: timezone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(
    new Date(),
  )

/** The last so many days, today included. */
export function lastDays(days: number, timezone: string): Range {
  const end = today(timezone)
  const start = new Date(Date.parse(`${end}T00:00:00Z`) - (days - 1) * dayMs)
  return { start_date: start.toISOString().slice(0, 10), end_date: end }
}

export const daysOf = ({ start_date: start, end_date: end }: Range) =>
  Math.round((Date.parse(`${end}T00:00:00Z`) - Date.parse(`${start}T00:00:00Z`)) / dayMs) + 1
