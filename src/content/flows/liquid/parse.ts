import { type Context, type Liquid, LiquidError, type Template, type Token, TokenKind, TypeGuards } from 'liquidjs'
import { Lines, messageOf, type Problem, problemsMax, type TemplatePart } from '../problems.ts'
import { rangeOf } from './engine.ts'
import { childrenOf, tokensOf } from './syntax-tree.ts'

/** The engine removes tokens from the head of a list, which takes quadratic time beyond about 16,000 of them. */
export const tagsMax = 5_000
export const tagLengthMax = 4_000
export const nestingMax = 50
export const keysMax = 20

/** Parses a part and finds as many errors as possible: each faulty tag is blanked out, and the rest is parsed again. */
export function parsePart(engine: Liquid, part: TemplatePart, source: string): Template[] | Problem[] {
  const lines = new Lines(source)
  const tooMuch = findTooMuch(part, source, lines)
  if (tooMuch) return [tooMuch]
  const problems: Problem[] = []
  let text = source
  for (;;) {
    const parsed = tryToParse(engine, text)
    if (Array.isArray(parsed)) return problems.length > 0 ? problems : parsed
    const { position, error } = parsed
    problems.push({ part, ...lines.at(position), message: messageOf(error) })
    const rest = problems.length < problemsMax ? withoutTag(text, position) : undefined
    if (rest === undefined) return problems
    text = rest
  }
}

type Fault = { position: number; error: unknown }

function tryToParse(engine: Liquid, text: string): Template[] | Fault {
  try {
    const templates = engine.parse(text)
    return setBounds(templates) ?? templates
  } catch (error) {
    return { position: LiquidError.is(error) ? error.token.begin : 0, error }
  }
}

export function isProblems(result: readonly object[]): result is Problem[] {
  return result.length > 0 && 'message' in result[0]!
}

function findTooMuch(part: TemplatePart, source: string, lines: Lines): Problem | undefined {
  const at = (position: number, message: string) => ({ part, ...lines.at(position), message })
  let tags = 0
  for (const { index } of source.matchAll(/\{[{%]/g)) {
    if (++tags > tagsMax) return at(index, `The template has more than ${tagsMax} tags.`)
    const end = source.indexOf(source[index + 1] === '%' ? '%}' : '}}', index)
    if (end === -1) return undefined // The parser reports it.
    if (end - index > tagLengthMax) return at(index, `This tag has more than ${tagLengthMax} characters.`)
  }
  return undefined
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

/** Bounds ranges, and returns the first excess of the limits that the budget does not count while rendering. */
function setBounds(nodes: readonly Template[], depth = 1): Fault | undefined {
  for (const node of nodes) {
    if (depth > nestingMax)
      return { position: node.token.begin, error: `tags are nested more than ${nestingMax} levels deep` }
    const tokens = [...(node.arguments?.() ?? [])].flatMap((argument) => [...tokensOf(argument)])
    const fault = boundTokens(tokens) ?? setBounds(childrenOf(node), depth + 1)
    if (fault) return fault
  }
  return undefined
}

function boundTokens(tokens: readonly Token[]): Fault | undefined {
  for (const token of tokens) {
    const fault = boundToken(token)
    if (fault) return fault
  }
  return undefined
}

function boundToken(token: Token): Fault | undefined {
  if (TypeGuards.isPropertyAccessToken(token)) {
    if (token.props.length > keysMax)
      return { position: token.begin, error: `a variable has more than ${keysMax} keys` }
    return boundTokens(token.variable ? [token.variable, ...token.props] : token.props)
  }
  if (TypeGuards.isRangeToken(token)) {
    const { lhs, rhs } = token
    const fault = boundTokens([lhs, rhs])
    if (fault) return fault
    // The engine counts one unit per number of a range, and loops endlessly where adding one has no effect. So a range
    // is replaced, in place, by an expression that is evaluated here.
    const initial = { postfix: [lhs, rhs], evaluate: (context: Context) => rangeOf(lhs, rhs, context) }
    Object.assign(token, { kind: TokenKind.FilteredValue, initial, filters: [] })
  }
  return undefined
}
