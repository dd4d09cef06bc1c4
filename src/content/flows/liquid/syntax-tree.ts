import { type Template, type Token, TypeGuards, toValueSync, Value } from 'liquidjs'
import type { Path } from '../values.ts'

/** A variable as the source names it. `path` ends before the first key that is only known while rendering. */
export type Access = { path: Path; token: Token }

export type Argument = Value | Token

export function childrenOf(node: Template): Template[] {
  return node.children ? (toValueSync(node.children(false, true)) as Template[]) : []
}

/** Returns the value tokens of an argument, including parameters of filters. */
export function* tokensOf(argument: Argument): Generator<Token> {
  if (argument instanceof Value) yield* tokensOfValue(argument)
  else if (TypeGuards.isFilteredValueToken(argument)) yield* tokensOfValue(argument)
  else yield argument
}

type Filtered = { initial: { postfix: Token[] }; filters: readonly { args: readonly unknown[] }[] }

function* tokensOfValue({ initial, filters }: Filtered): Generator<Token> {
  for (const token of initial.postfix) if (!TypeGuards.isOperatorToken(token)) yield token
  for (const filter of filters) yield* parameterTokens(filter.args)
}

/** Parameters are positional or named, such as `allow_false: true`. */
export function* parameterTokens(parameters: readonly unknown[]): Generator<Token> {
  for (const parameter of parameters) {
    const token: unknown = Array.isArray(parameter) ? parameter[1] : parameter
    if (TypeGuards.isValueToken(token)) yield token
  }
}

/** Returns every variable that a token reads: itself, those in its brackets, and those in the bounds of a range. */
export function* accessesOf(token: Token): Generator<Access> {
  if (TypeGuards.isRangeToken(token)) {
    yield* accessesOf(token.lhs)
    yield* accessesOf(token.rhs)
  } else if (TypeGuards.isFilteredValueToken(token)) {
    for (const inner of tokensOf(token)) yield* accessesOf(inner)
  } else if (TypeGuards.isPropertyAccessToken(token)) {
    if (token.variable) yield* accessesOf(token.variable)
    else {
      const path = staticPath(token.props)
      if (path.length > 0) yield { path, token }
    }
    for (const key of token.props) yield* accessesOf(key)
  }
}

function staticPath(keys: readonly Token[]): Path {
  const path: (string | number)[] = []
  for (const key of keys) {
    if (!isStaticKey(key)) break
    path.push(key.content)
  }
  return path
}

export function isStaticKey(key: Token): key is Token & { content: string | number } {
  return TypeGuards.isWordToken(key) || TypeGuards.isQuotedToken(key) || TypeGuards.isNumberToken(key)
}
