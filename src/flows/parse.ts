import { type Liquid, LiquidError, type Template } from 'liquidjs'
import { OutOfBounds, setBounds } from './bounds.ts'

export type TemplatePart = 'subject' | 'html' | 'text'
export type Problem = { part: TemplatePart; line: number; column: number; message: string }

/** The engine takes tokens off the head of a list, which costs the square of their number beyond some 16,000. */
export const tagsMax = 5_000
export const tagLengthMax = 4_000
export const problemsMax = 10
const messageLengthMax = 200

/** Parses a part and finds as many faults as can be told apart: each is blanked out, and the rest parsed again. */
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
    if (++tags > tagsMax) return at(index, `There are more than ${tagsMax} tags.`)
    const end = source.indexOf(source[index + 1] === '%' ? '%}' : '}}', index)
    if (end === -1) return undefined // the parser tells of it
    if (end - index > tagLengthMax) return at(index, `This tag has more than ${tagLengthMax} characters.`)
  }
  return undefined
}

function positionOf(error: unknown): number {
  if (error instanceof OutOfBounds) return error.position
  return LiquidError.is(error) ? error.token.begin : 0
}

// The fault of one of these takes what stands between it and its end along.
const blocks = new Set(['if', 'unless', 'case', 'for', 'tablerow', 'capture', 'comment', 'raw', 'liquid'])

/** The source with spaces in place of the tag at this position; undefined when the rest would make no sense. */
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
  [/^undefined filter: (.*)$/, 'there is no filter "$1"'],
  [/^tag "(.*)" not found$/, 'there is no tag "$1", or it stands alone'],
  [/^(?:tag|output|raw) (.*) not closed$/s, '$1 is never closed'],
  [/^.*call stack.*$/, 'it is nested too deeply'],
]

/** The engine's words as a sentence, without the position that it adds. */
export function messageOf(error: unknown): string {
  let message = error instanceof Error ? error.message : String(error)
  message = message.replace(/, line:\d+, col:\d+$/, '')
  for (const [pattern, words] of rewordings) message = message.replace(pattern, words)
  if (message.length > messageLengthMax) message = `${message.slice(0, messageLengthMax)}…`
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
}
