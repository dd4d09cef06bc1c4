import type { FieldProblem } from './errors.ts'

const firstDate = '1970-01-01'
const lastDate = '2999-12-31'

export const dateOf = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10)
export const midnightOf = (date: string): number => Date.parse(`${date}T00:00:00Z`)

/** Returns the date (YYYY-MM-DD), or undefined with a problem if it is invalid. */
export function readDate(path: string, given: unknown, problems: FieldProblem[]): string | undefined {
  if (typeof given === 'string' && isDate(given)) return given
  problems.push({ path, problem: `must be a date in the format YYYY-MM-DD, from ${firstDate} to ${lastDate}` })
  return undefined
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text < firstDate || text > lastDate) return false
  const time = midnightOf(text)
  // Date.parse reads February 30 as March 1 or 2.
  return !Number.isNaN(time) && dateOf(time) === text
}
