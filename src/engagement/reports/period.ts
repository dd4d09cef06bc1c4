import { dateOf, midnightOf, readDate } from '../../platform/values/days.ts'
import { dayMs } from '../../platform/values/durations.ts'
import { type FieldProblem, invalid } from '../../platform/values/errors.ts'
import { type EventName, eventNames, isEventName } from '../../platform/values/event-types.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import type { FlowId } from '../../platform/values/ids.ts'
import { dayBounds, isTimeZone } from '../../platform/values/time-zone.ts'

export const daysMax = 731

/** Whole days in a time zone, both ends included. */
export type Period = { startDate: string; endDate: string; timezone: string; days: number }

export const datesOf = ({ startDate, days }: Period): string[] =>
  Array.from({ length: days }, (_, index) => dateOf(midnightOf(startDate) + index * dayMs))

export const boundsOf = ({ timezone, startDate, days }: Period): number[] =>
  dayBounds(timezone, new Date(midnightOf(startDate)), days)

/** Returns the start of the preceding period of the same length. */
export const previousStart = ({ timezone, startDate, days }: Period): number =>
  dayBounds(timezone, new Date(midnightOf(startDate) - days * dayMs), 0)[0]!

/** The parameters of a request, which may be invalid. */
export type PeriodQuery = { start_date?: unknown; end_date?: unknown; timezone?: unknown; flow_id?: unknown }

/** Parses the parameters. Throws `Refusal` with all problems at once. */
export function readPeriod(given: PeriodQuery, defaultZone: string, problems: FieldProblem[] = []): Period {
  const startDate = readRequiredDate('start_date', given.start_date, problems)
  const endDate = readRequiredDate('end_date', given.end_date, problems)
  const timezone = given.timezone ?? defaultZone
  if (typeof timezone !== 'string' || !isTimeZone(timezone))
    problems.push({
      path: 'timezone',
      problem: 'must be an IANA time zone, such as UTC, Europe/Berlin or Asia/Kolkata',
    })

  let days = 0
  if (startDate !== undefined && endDate !== undefined) {
    days = (midnightOf(endDate) - midnightOf(startDate)) / dayMs + 1
    if (days < 1) problems.push({ path: 'end_date', problem: `must not be before start_date (${startDate})` })
    if (days > daysMax)
      problems.push({
        path: 'end_date',
        problem: `must be at most ${daysMax} days after start_date, both included: ${dateOf(midnightOf(startDate) + (daysMax - 1) * dayMs)} or earlier`,
      })
  }
  const [first, ...more] = problems
  if (first) throw invalid(first, ...more)
  return { startDate: startDate!, endDate: endDate!, timezone: timezone as string, days }
}

function readRequiredDate(path: string, given: unknown, problems: FieldProblem[]): string | undefined {
  if (given !== undefined) return readDate(path, given, problems)
  problems.push({ path, problem: 'is required, in the format YYYY-MM-DD' })
  return undefined
}

export function readEventName(given: unknown, problems: FieldProblem[]): EventName {
  if (typeof given === 'string' && isEventName(given)) return given
  const problem = given === undefined ? 'is required' : 'is unknown'
  problems.push({ path: 'event_name', problem: `${problem}; must be one of ${eventNames.join(', ')}` })
  return 'emailSent'
}

/** Returns undefined if no flow is given. Throws `Refusal` if it cannot be the id of a flow. */
export const readFlowId = ({ flow_id: text }: PeriodQuery): FlowId | undefined =>
  text === undefined ? undefined : parseIdParam('flw', String(text))
