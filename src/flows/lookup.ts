import { type Context, Drop, type Emitter, Output, type Template, TokenKind, TypeGuards } from 'liquidjs'
import type { Budget } from './budget.ts'
import { escapeHtml } from './escape.ts'
import { budgetOf } from './filters.ts'
import { childrenOf, isStaticKey, type Path } from './syntax-tree.ts'
import { textOf } from './text-of.ts'
import { isMissing, readPath, type Scope } from './values.ts'

/** `{{ a.b | default: "x" }}`: an output of a single variable, as it is or escaped. */
export type Lookup = { name: string; path: Path; fallback: string | number | undefined; isEscaped: boolean }

export function show({ path, fallback, isEscaped }: Lookup, scope: Scope, budget: Budget): string {
  let value = readPath(scope, path)
  if (fallback !== undefined && isMissing(value)) value = fallback
  const text = textOf(value, budget)
  return isEscaped ? escapeHtml(text) : text
}

/** Returns undefined if the node is anything else. */
export function lookupOf(node: Template, isHtml: boolean): Lookup | undefined {
  if (!(node instanceof Output)) return undefined
  const [access, ...others] = node.value.initial.postfix
  if (others.length > 0 || !TypeGuards.isPropertyAccessToken(access) || access.variable) return undefined
  if (!access.props.every(isStaticKey)) return undefined
  const path = access.props.map((key) => (key as { content: string | number }).content)
  const [name] = path
  if (typeof name !== 'string') return undefined

  const filters = [...node.value.filters]
  const first = filters[0]?.name === 'default' ? filters.shift() : undefined
  const fallback = first && literalParameter(first.args)
  if (first && fallback === undefined) return undefined
  // The engine appends a filter that escapes the output, unless the template ends with its own.
  const [shown, ...more] = filters
  if (more.length > 0 || (shown && !['escape', 'raw', shownByEngine].includes(shown.name))) return undefined
  return { name, path, fallback, isEscaped: isHtml && shown?.name !== 'raw' }
}

const shownByEngine = '[object Function]'

function literalParameter(parameters: readonly unknown[]): string | number | undefined {
  const [only, ...others] = parameters
  if (others.length > 0) return undefined
  return TypeGuards.isQuotedToken(only) || TypeGuards.isNumberToken(only) ? only.content : undefined
}

export const literalOf = (node: Template): string => (node.token as unknown as { getContent(): string }).getContent()

/**
 * Replaces `render` of text and single variables within loops and conditions by a direct implementation. That of the
 * engine runs through eight generators; with this, table rows render in a fifth of the time.
 */
export function patchRender(nodes: readonly Template[], isHtml: boolean): void {
  for (const node of nodes) {
    if (node.token.kind === TokenKind.HTML) {
      const text = literalOf(node)
      node.render = (_context: Context, emitter: Emitter) => emitter.write(text)
    }
    const lookup = lookupOf(node, isHtml)
    if (lookup) node.render = fastRender(node, lookup)
    patchRender(childrenOf(node), isHtml)
  }
}

function fastRender(node: Template, lookup: Lookup): Template['render'] {
  const render = node.render.bind(node)
  return (context, emitter) => {
    const scope = scopeWith(context, lookup.name)
    // Drops, such as `forloop` and captured text, need the implementation of the engine.
    if (scope[lookup.name] instanceof Drop) return render(context, emitter)
    emitter.write(show(lookup, scope, budgetOf(context)))
  }
}

/** Returns the innermost scope with this name, as the engine resolves it. */
function scopeWith(context: Context, name: string): Scope {
  const { scopes } = context as unknown as { scopes: Scope[] }
  for (let index = scopes.length - 1; index >= 0; index--) if (name in scopes[index]!) return scopes[index]!
  return context.environments as Scope
}
