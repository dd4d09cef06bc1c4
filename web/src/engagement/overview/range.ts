import type { Range } from './overview.api.ts'

const dayMs = 24 * 60 * 60 * 1000
const daysMax = 731
const isDate = /^\d{4}-\d\d-\d\d$/

export const spanDays = [7, 30, 90]
export type Span = { days: number } | Range

/** The current date in the time zone of the organization. */
export const today = (timezone: string) =>
  // The Canadian format is that of the API.
  new Intl.DateTimeFormat('en-CA', { timeZone: timezone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(
    new Date(),
  )

/** The last `days` days, including today. */
function lastDays(days: number, timezone: string): Range {
  const end = today(timezone)
  const start = new Date(Date.parse(`${end}T00:00:00Z`) - (days - 1) * dayMs)
  return { start_date: start.toISOString().slice(0, 10), end_date: end }
}

export const daysOf = ({ start_date: start, end_date: end }: Range) =>
  Math.round((Date.parse(`${end}T00:00:00Z`) - Date.parse(`${start}T00:00:00Z`)) / dayMs) + 1

export const rangeOf = (span: Span, timezone: string): Range => ('days' in span ? lastDays(span.days, timezone) : span)

/** Returns the range in the URL, or the last 30 days if there is no valid one. */
export function spanIn(search: URLSearchParams): Span {
  const range = { start_date: search.get('from') ?? '', end_date: search.get('to') ?? '' }
  if (problemOf(range) === undefined) return range
  return { days: spanDays.find((days) => String(days) === search.get('days')) ?? 30 }
}

export const searchOf = (span: Span): Record<string, string> =>
  'days' in span ? { days: String(span.days) } : { from: span.start_date, to: span.end_date }

export function problemOf(range: Range): string | undefined {
  const days = daysOf(range)
  if (!isDate.test(range.start_date) || !isDate.test(range.end_date) || Number.isNaN(days)) return 'Choose both dates.'
  if (days < 1) return 'The end date must be on or after the start date.'
  return days > daysMax ? 'Choose a period of at most two years.' : undefined
}
