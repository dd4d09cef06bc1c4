import { type Context, type Template, type Token, TokenKind, TypeGuards } from 'liquidjs'
import { rangeOf } from './engine.ts'
import { childrenOf, tokensOf } from './syntax-tree.ts'

export const nestingMax = 50
export const keysMax = 20

/** A template that parses but exceeds a limit. */
export class OutOfBounds extends Error {
  readonly position: number
  constructor(position: number, message: string) {
    super(message)
    this.position = position
  }
}

/** Checks limits that the budget does not count while rendering, and bounds ranges. Throws `OutOfBounds`. */
export function setBounds(nodes: readonly Template[], depth = 1): void {
  for (const node of nodes) {
    if (depth > nestingMax)
      throw new OutOfBounds(node.token.begin, `tags are nested more than ${nestingMax} levels deep`)
    for (const argument of node.arguments?.() ?? []) for (const token of tokensOf(argument)) boundToken(token)
    setBounds(childrenOf(node), depth + 1)
  }
}

function boundToken(token: Token): void {
  if (TypeGuards.isPropertyAccessToken(token)) {
    if (token.props.length > keysMax) throw new OutOfBounds(token.begin, `a variable has more than ${keysMax} keys`)
    if (token.variable) boundToken(token.variable)
    for (const key of token.props) boundToken(key)
  } else if (TypeGuards.isRangeToken(token)) {
    const { lhs, rhs } = token
    boundToken(lhs)
    boundToken(rhs)
    // The engine counts one unit per number of a range, and loops endlessly where adding one has no effect. So a range
    // is replaced, in place, by an expression that is evaluated here.
    const initial = { postfix: [lhs, rhs], evaluate: (context: Context) => rangeOf(lhs, rhs, context) }
    Object.assign(token, { kind: TokenKind.FilteredValue, initial, filters: [] })
  }
}
