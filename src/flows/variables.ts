import { CaseTag, ForTag, IfTag, TablerowTag, type Template, type Token, UnlessTag, Value } from 'liquidjs'
import { equalsMissing, type Guards, guardsOf } from './guards.ts'
import { type Argument, accessesOf, childrenOf, type Path, parameterTokens, tokensOf } from './syntax-tree.ts'

/** A variable that a template reads, as the template names it. */
export type Variable = {
  name: string
  path: Path
  /** True if every output of it has a default or is inside a condition that tests it. */
  hasDefault: boolean
  /**
   * For each use without a default: the paths that must be missing as well before this variable counts as missing (`{{
   * nickname | default: name }}`).
   */
  insteadOf: readonly (readonly Path[])[]
}

export type Analysis = {
  variables: Variable[]
  /** Every name that the template assigns. */
  locals: ReadonlySet<string>
}

/** The loop variables in scope at a node. */
type Bound = readonly string[]

export function analyse(templates: readonly Template[]): Analysis {
  const analyser = new Analyser()
  analyser.visitAll(templates, [])
  return { variables: [...analyser.variables.values()], locals: analyser.locals }
}

/** Merges the variables of several parts. */
export function mergeVariables(parts: readonly (readonly Variable[])[]): Variable[] {
  const merged = new Map<string, Variable>()
  for (const variable of parts.flat()) {
    const earlier = merged.get(variable.name)
    merged.set(variable.name, {
      ...variable,
      hasDefault: variable.hasDefault && (earlier?.hasDefault ?? true),
      insteadOf: [...(earlier?.insteadOf ?? []), ...variable.insteadOf],
    })
  }
  return [...merged.values()]
}

class Analyser {
  readonly variables = new Map<string, Variable>()
  readonly locals = new Set<string>()
  readonly #present = new PresentPaths()
  readonly #usesOf = new Map<string, Set<string>>()

  visitAll(nodes: readonly Template[], bound: Bound): void {
    for (const node of nodes) this.#visit(node, bound)
  }

  #visit(node: Template, bound: Bound): void {
    if (node instanceof IfTag || node instanceof UnlessTag) this.#visitCondition(node, bound)
    else if (node instanceof CaseTag) this.#visitCase(node, bound)
    else if (node instanceof ForTag || node instanceof TablerowTag) this.#visitLoop(node, bound)
    else {
      for (const argument of node.arguments?.() ?? []) this.#show(argument, bound)
      this.visitAll(childrenOf(node), bound)
      for (const name of node.localScope?.() ?? []) this.locals.add(name.content)
    }
  }

  #visitCondition(node: IfTag | UnlessTag, bound: Bound): void {
    // If an earlier condition is false, its consequences hold in all later branches.
    const implied: Path[] = []
    for (const [index, branch] of node.branches.entries()) {
      this.#test(branch.value, bound)
      const guards = guardsOf(branch.value)
      const { whenTrue, whenFalse } = node instanceof UnlessTag && index === 0 ? swapped(guards) : guards
      this.#visitWith(whenTrue, branch.templates, bound)
      this.#present.add(whenFalse)
      implied.push(...whenFalse)
    }
    this.visitAll(node.elseTemplates ?? [], bound)
    this.#present.remove(implied)
  }

  #visitCase(node: CaseTag, bound: Bound): void {
    this.#test(node.value, bound)
    for (const { values, templates } of node.branches) {
      for (const value of values) this.#test(value, bound)
      const present = values.some(equalsMissing) ? [] : guardsOf(node.value).whenTrue
      this.#visitWith(present, templates, bound)
    }
    this.visitAll(node.elseTemplates, bound)
  }

  #visitLoop(node: ForTag | TablerowTag, bound: Bound): void {
    for (const argument of node.arguments()) this.#test(argument, bound)
    const present = [...accessesOf(node.collection)].map(({ path }) => path)
    this.#visitWith(present, node.templates, [...bound, ...node.blockScope()])
    if (node instanceof ForTag) this.visitAll(node.elseTemplates, bound)
  }

  #visitWith(present: readonly Path[], nodes: readonly Template[], bound: Bound): void {
    this.#present.add(present)
    this.visitAll(nodes, bound)
    this.#present.remove(present)
  }

  #test(argument: Argument, bound: Bound): void {
    for (const token of tokensOf(argument)) this.#note(token, bound, undefined)
  }

  /** A value that is output, or assigned, which leads to output. */
  #show(argument: Argument, bound: Bound): void {
    if (!(argument instanceof Value)) {
      for (const token of tokensOf(argument)) this.#note(token, bound, [])
      return
    }
    const { initial, filters } = argument
    const shown = initial.postfix
    const defaults = filters
      .filter(({ name }) => name === 'default')
      .flatMap(({ args }) => [...parameterTokens(args.slice(0, 1))])
    const tried = [...shown, ...defaults.slice(0, -1)]
    const hasDefault = filters.some(({ name }) => name === 'default')
    for (const token of tried) this.#note(token, bound, hasDefault ? undefined : [])
    const last = defaults.at(-1)
    if (last)
      this.#note(
        last,
        bound,
        tried.flatMap((token) => [...accessesOf(token)]).map(({ path }) => path),
      )
    for (const { name, args } of filters)
      if (name !== 'default') for (const token of parameterTokens(args)) this.#note(token, bound, [])
  }

  /** `insteadOf` is undefined if a missing value is harmless. */
  #note(token: Token, bound: Bound, insteadOf: readonly Path[] | undefined): void {
    for (const { path } of accessesOf(token)) {
      const root = path[0]
      if (typeof root !== 'string' || bound.includes(root) || this.locals.has(root)) continue
      const needed = insteadOf && !this.#present.covers(path)
      const name = nameOf(path)
      const earlier = this.variables.get(name)
      this.variables.set(name, {
        name,
        path,
        hasDefault: !needed && (earlier?.hasDefault ?? true),
        insteadOf: needed ? this.#adding(name, earlier?.insteadOf ?? [], insteadOf) : (earlier?.insteadOf ?? []),
      })
    }
  }

  /** An unconditional use subsumes all others; repeated uses add nothing. */
  #adding(name: string, uses: Variable['insteadOf'], use: readonly Path[]): Variable['insteadOf'] {
    if (use.length === 0 || uses[0]?.length === 0) return [[]]
    const known = this.#usesOf.get(name) ?? new Set()
    this.#usesOf.set(name, known)
    const key = JSON.stringify(use)
    if (known.has(key)) return uses
    known.add(key)
    // Appended in place: a copy per use would take quadratic time.
    ;(uses as (readonly Path[])[]).push(use)
    return uses
  }
}

/** The paths known to be present at the current node, as a set of prefixes: a lookup costs the length of the path. */
class PresentPaths {
  readonly #counts = new Map<string, number>()

  add(paths: readonly Path[]): void {
    for (const path of paths) {
      const key = keyOf(path)
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
    }
  }

  remove(paths: readonly Path[]): void {
    for (const path of paths) {
      const key = keyOf(path)
      const count = this.#counts.get(key)! - 1
      if (count > 0) this.#counts.set(key, count)
      else this.#counts.delete(key)
    }
  }

  /** Whether the path or a prefix of it is present. */
  covers(path: Path): boolean {
    if (this.#counts.size === 0) return false
    let key = ''
    if (this.#counts.has(key)) return true
    for (const part of path) {
      key += keyPart(part)
      if (this.#counts.has(key)) return true
    }
    return false
  }
}

const keyPart = (part: string | number) => (typeof part === 'number' ? `[${part}]` : JSON.stringify(part))
const keyOf = (path: Path) => path.map(keyPart).join('')

const swapped = ({ whenTrue, whenFalse }: Guards): Guards => ({ whenTrue: whenFalse, whenFalse: whenTrue })

function nameOf(path: Path): string {
  return path
    .map((key, index) => {
      if (typeof key === 'number') return `[${key}]`
      if (!/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(key)) return `[${JSON.stringify(key)}]`
      return index === 0 ? key : `.${key}`
    })
    .join('')
}
