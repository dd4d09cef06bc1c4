import { CaseTag, ForTag, IfTag, TablerowTag, type Template, type Token, UnlessTag, Value } from 'liquidjs'
import { equalsMissing, type Guards, guardsOf } from './guards.ts'
import { type Argument, accessesOf, childrenOf, type Path, parameterTokens, tokensOf } from './syntax-tree.ts'

/** A variable that a template takes from outside, named as the template names it. */
export type Variable = {
  name: string
  path: Path
  /** Nothing breaks without it: each place that shows it gives a default or stands under a condition that tests it. */
  hasDefault: boolean
  /** Per use without default: what must be missing, too, before this one is missed (`{{ nickname | default: name }}`). */
  insteadOf: readonly (readonly Path[])[]
}

export type Analysis = {
  variables: Variable[]
  /** Every name the template itself sets somewhere. */
  locals: ReadonlySet<string>
}

/** Where a node stands: the names that loops around it bind, and the variables that are known to be there. */
type Place = { bound: readonly string[]; present: readonly Path[] }

export function analyse(templates: readonly Template[]): Analysis {
  const analyser = new Analyser()
  analyser.visitAll(templates, { bound: [], present: [] })
  return { variables: [...analyser.variables.values()], locals: analyser.locals }
}

/** What several parts take together. */
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

  visitAll(nodes: readonly Template[], place: Place): void {
    for (const node of nodes) this.#visit(node, place)
  }

  #visit(node: Template, place: Place): void {
    if (node instanceof IfTag || node instanceof UnlessTag) this.#visitCondition(node, place)
    else if (node instanceof CaseTag) this.#visitCase(node, place)
    else if (node instanceof ForTag || node instanceof TablerowTag) this.#visitLoop(node, place)
    else {
      for (const argument of node.arguments?.() ?? []) this.#show(argument, place)
      this.visitAll(childrenOf(node), place)
      for (const name of node.localScope?.() ?? []) this.locals.add(name.content)
    }
  }

  #visitCondition(node: IfTag | UnlessTag, place: Place): void {
    let present = place.present
    for (const [index, branch] of node.branches.entries()) {
      this.#test(branch.value, place)
      const guards = guardsOf(branch.value)
      const { whenTrue, whenFalse } = node instanceof UnlessTag && index === 0 ? swapped(guards) : guards
      this.visitAll(branch.templates, { ...place, present: [...present, ...whenTrue] })
      present = [...present, ...whenFalse]
    }
    this.visitAll(node.elseTemplates ?? [], { ...place, present })
  }

  #visitCase(node: CaseTag, place: Place): void {
    this.#test(node.value, place)
    for (const { values, templates } of node.branches) {
      for (const value of values) this.#test(value, place)
      const present = values.some(equalsMissing) ? [] : guardsOf(node.value).whenTrue
      this.visitAll(templates, { ...place, present: [...place.present, ...present] })
    }
    this.visitAll(node.elseTemplates, place)
  }

  #visitLoop(node: ForTag | TablerowTag, place: Place): void {
    for (const argument of node.arguments()) this.#test(argument, place)
    const present = [...accessesOf(node.collection)].map(({ path }) => path)
    const bound = [...place.bound, ...node.blockScope()]
    this.visitAll(node.templates, { bound, present: [...place.present, ...present] })
    if (node instanceof ForTag) this.visitAll(node.elseTemplates, place)
  }

  #test(argument: Argument, place: Place): void {
    for (const token of tokensOf(argument)) this.#note(token, place, undefined)
  }

  /** A value that is put into the mail, or assigned, which in the end is the same. */
  #show(argument: Argument, place: Place): void {
    if (!(argument instanceof Value)) {
      for (const token of tokensOf(argument)) this.#note(token, place, [])
      return
    }
    const { initial, filters } = argument
    const shown = initial.postfix
    const defaults = filters
      .filter(({ name }) => name === 'default')
      .flatMap(({ args }) => [...parameterTokens(args.slice(0, 1))])
    const tried = [...shown, ...defaults.slice(0, -1)]
    const hasDefault = filters.some(({ name }) => name === 'default')
    for (const token of tried) this.#note(token, place, hasDefault ? undefined : [])
    const last = defaults.at(-1)
    if (last)
      this.#note(
        last,
        place,
        tried.flatMap((token) => [...accessesOf(token)]).map(({ path }) => path),
      )
    for (const { name, args } of filters)
      if (name !== 'default') for (const token of parameterTokens(args)) this.#note(token, place, [])
  }

  /** `insteadOf` is undefined where a missing value does no harm. */
  #note(token: Token, place: Place, insteadOf: readonly Path[] | undefined): void {
    for (const { path } of accessesOf(token)) {
      const root = path[0]
      if (typeof root !== 'string' || place.bound.includes(root) || this.locals.has(root)) continue
      const needed = insteadOf && !place.present.some((present) => startsWith(path, present))
      const name = nameOf(path)
      const earlier = this.variables.get(name)
      this.variables.set(name, {
        name,
        path,
        hasDefault: !needed && (earlier?.hasDefault ?? true),
        insteadOf: needed ? adding(earlier?.insteadOf ?? [], insteadOf) : (earlier?.insteadOf ?? []),
      })
    }
  }
}

/** One use that needs it always says all there is to say. */
function adding(uses: Variable['insteadOf'], use: readonly Path[]): Variable['insteadOf'] {
  return use.length === 0 || uses[0]?.length === 0 ? [[]] : [...uses, use]
}

const swapped = ({ whenTrue, whenFalse }: Guards): Guards => ({ whenTrue: whenFalse, whenFalse: whenTrue })

const startsWith = (path: Path, start: Path) => start.every((key, index) => path[index] === key)

function nameOf(path: Path): string {
  return path
    .map((key, index) => {
      if (typeof key === 'number') return `[${key}]`
      if (!/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(key)) return `[${JSON.stringify(key)}]`
      return index === 0 ? key : `.${key}`
    })
    .join('')
}
