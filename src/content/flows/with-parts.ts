import { exceeds, Lines, type Problem, problemsMax, wholeProblem } from './problems.ts'

export const htmlBytesMax = 500_000

/** `{% part "footer" %}`, as it is written in a template. */
const partTag = /\{%-?\s*part\s+(?:"([^"]*)"|'([^']*)')\s*-?%\}/g
const usesMax = 50

type Use = { name: string; begin: number; end: number }

const usesIn = (source: string): Use[] =>
  [...source.matchAll(partTag)].map((match) => ({
    name: match[1] ?? match[2] ?? '',
    begin: match.index,
    end: match.index + match[0].length,
  }))

/** The names of the parts that a template includes, as many as it may. */
export const partNamesIn = (source: string): string[] =>
  source.includes('part') ? [...new Set(usesIn(source).map(({ name }) => name))].slice(0, usesMax) : []

/**
 * Returns the template with the text of its parts, or the problems. Line breaks of parts become spaces, so that problems
 * are found at the same lines as in the template. Text that is too long for a template is not built.
 */
export function withParts(source: string, parts: ReadonlyMap<string, string>): string | Problem[] {
  const uses = usesIn(source)
  const lines = new Lines(source)
  const problemAt = ({ begin }: Use, message: string): Problem => ({ part: 'html', ...lines.at(begin), message })
  if (uses.length > usesMax) return [problemAt(uses[usesMax]!, `A template can include ${usesMax} parts.`)]
  const unknown = uses.filter(({ name }) => !parts.has(name)).slice(0, problemsMax)
  if (unknown.length > 0) return unknown.map((use) => problemAt(use, `There is no part "${use.name.slice(0, 60)}".`))
  const length = uses.reduce(
    (sum, { name, begin, end }) => sum + parts.get(name)!.length - (end - begin),
    source.length,
  )
  if (length > htmlBytesMax) return [wholeProblem('html', exceeds(htmlBytesMax))]
  const texts = new Map<string, string>()
  for (const { name } of uses) if (!texts.has(name)) texts.set(name, parts.get(name)!.replace(/\r?\n/g, ' '))
  let text = ''
  let end = 0
  for (const use of uses) {
    text += source.slice(end, use.begin) + texts.get(use.name)!
    end = use.end
  }
  return text + source.slice(end)
}
