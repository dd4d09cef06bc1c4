import { type Liquid, LiquidError, type Template } from 'liquidjs'
import { OutOfBounds, setBounds } from './bounds.ts'

export type TemplatePart = 'subject' | 'html' | 'text'
export type Problem = { part: TemplatePart; line: number; column: number; message: string }

/** The engine removes tokens from the head of a list, which takes quadratic time beyond about 16,000 of them. */
export const tagsMax = 5_000
export const tagLengthMax = 4_000
export const problemsMax = 10
const messageLengthMax = 200

/** Parses a part and finds as many errors as possible: each faulty tag is blanked out, and the rest is parsed again. */
export function parsePart(engine: Liquid, part: TemplatePart, source: string): Template[] | Problem[] {
  const tooMuch = findTooMuch(part, source)
  if (tooMuch) return [tooMuch]
  const problems: Problem[] = []
  let text = source
  for (;;) {
    try {
      const templates = engine.parse(text)
      setBounds(templates)
      return problems.length > 0 ? problems : templates
    } catch (error) {
      const position = positionOf(error)
      problems.push({ part, ...lineAndColumn(source, position), message: messageOf(error) })
      const rest = problems.length < problemsMax ? withoutTag(text, position) : undefined
      if (rest === undefined) return problems
      text = rest
    }
  }
}

export function isProblems(result: readonly object[]): result is Problem[] {
  return result.length > 0 && 'message' in result[0]!
}

export function lineAndColumn(source: string, position: number): { line: number; column: number } {
  const before = source.slice(0, position)
  return { line: before.split('\n').length, column: position - before.lastIndexOf('\n') }
}

function findTooMuch(part: TemplatePart, source: string): Problem | undefined {
  const at = (position: number, message: string) => ({ part, ...lineAndColumn(source, position), message })
  let tags = 0
  for (const { index } of source.matchAll(/\{[{%]/g)) {
    if (++tags > tagsMax) return at(index, `The template has more than ${tagsMax} tags.`)
    const end = source.indexOf(source[index + 1] === '%' ? '%}' : '}}', index)
    if (end === -1) return undefined // The parser reports it.
    if (end - index > tagLengthMax) return at(index, `This tag has more than ${tagLengthMax} characters.`)
  }
  return undefined
}

function positionOf(error: unknown): number {
  if (error instanceof OutOfBounds) return error.position
  return LiquidError.is(error) ? error.token.begin : 0
}

// An error in one of these affects everything up to its end tag.
const blocks = new Set(['if', 'unless', 'case', 'for', 'tablerow', 'capture', 'comment', 'raw', 'liquid'])

/** Returns the source with the tag at this position blanked out, or undefined if the rest would be meaningless. */
function withoutTag(source: string, position: number): string | undefined {
  const start = Math.max(source.lastIndexOf('{{', position), source.lastIndexOf('{%', position))
  if (start === -1) return undefined
  const isTag = source[start + 1] === '%'
  const end = source.indexOf(isTag ? '%}' : '}}', start)
  if (end < position) return undefined
  const name = isTag ? /^\{%-?\s*(\w*)/.exec(source.slice(start, end))?.[1] : undefined
  if (name !== undefined && blocks.has(name)) return undefined
  return source.slice(0, start) + source.slice(start, end + 2).replace(/\S/g, ' ') + source.slice(end + 2)
}

const rewordings: [RegExp, string][] = [
  [/^undefined filter: (.*)$/, 'unknown filter "$1"'],
  [/^tag "(.*)" not found$/, 'unknown or unmatched tag "$1"'],
  [/^(?:tag|output|raw) (.*) not closed$/s, '$1 is never closed'],
  [/^.*call stack.*$/, 'it is nested too deeply'],
]

/** Returns the message of the engine as a sentence, without the position that it appends. */
export function messageOf(error: unknown): string {
  let message = error instanceof Error ? error.message : String(error)
  message = message.replace(/, line:\d+, col:\d+$/, '')
  for (const [pattern, words] of rewordings) message = message.replace(pattern, words)
  if (message.length > messageLengthMax) message = `${message.slice(0, messageLengthMax)}…`
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
}
