import { invalid } from './errors.ts'
import { isLongerThan, isStorable, unstorableProblem } from './text.ts'

export const nameMax = 200

/** Returns the trimmed name. Throws `Refusal` if it is empty, too long or not storable. */
export function checkName(given: string): string {
  const name = given.trim()
  if (name === '') throw invalid({ path: 'name', problem: 'must not be empty' })
  if (isLongerThan(name, nameMax)) throw invalid({ path: 'name', problem: `must have at most ${nameMax} characters` })
  if (!isStorable(name)) throw invalid({ path: 'name', problem: unstorableProblem })
  return name
}
