import { CaseTag, ForTag, IfTag, TablerowTag, type Template, type Token, TypeGuards, UnlessTag, Value } from 'liquidjs'
import { type Path, unknownFieldIn } from '../values.ts'
import type { Variable } from '../variables.ts'
import { type Argument, accessesOf, childrenOf, parameterTokens, tokensOf } from './syntax-tree.ts'

export type Analysis = {
  variables: Variable[]
  /** Every name that the template assigns. */
  locals: ReadonlySet<string>
  /** Every use of a field that no contact or organization has. */
  unknownFields: UnknownField[]
}

type UnknownField = { object: string; field: string; position: number }

/** The loop variables in scope at a node. */
type Bound = readonly string[]

export function analyse(templates: readonly Template[]): Analysis {
  const analyser = new Analyser()
  analyser.visitAll(templates, [])
  return { variables: [...analyser.variables.values()], locals: analyser.locals, unknownFields: analyser.unknownFields }
}

class Analyser {
  readonly variables = new Map<string, Variable>()
  readonly locals = new Set<string>()
  readonly unknownFields: UnknownField[] = []
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
      const { whenTrue, whenFalse } = node instanceof UnlessTag && index === 0 ? negated(guards) : guards
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
    for (const { path, token: place } of accessesOf(token)) {
      const root = path[0]
      if (typeof root !== 'string' || bound.includes(root) || this.locals.has(root)) continue
      const unknown = unknownFieldIn(path)
      if (unknown) this.unknownFields.push({ ...unknown, position: place.begin })
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

function nameOf(path: Path): string {
  return path
    .map((key, index) => {
      if (typeof key === 'number') return `[${key}]`
      if (!/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(key)) return `[${JSON.stringify(key)}]`
      return index === 0 ? key : `.${key}`
    })
    .join('')
}

/** The variables that are known to be present if a condition is true, and if it is false. */
type Guards = { whenTrue: Path[]; whenFalse: Path[] }

type Operand = Guards & { path?: Path; literal?: Token }

const none: Operand = { whenTrue: [], whenFalse: [] }

function guardsOf({ initial, filters }: Value): Guards {
  if (filters.length > 0) return none
  const operands: Operand[] = []
  for (const token of initial.postfix) {
    if (!TypeGuards.isOperatorToken(token)) operands.push(operandOf(token))
    else if (token.operator === 'not') operands.push(negated(operands.pop() ?? none))
    else {
      const right = operands.pop() ?? none
      operands.push(combined(token.operator, operands.pop() ?? none, right))
    }
  }
  return operands[0] ?? none
}

function operandOf(token: Token): Operand {
  if (!TypeGuards.isPropertyAccessToken(token)) return { ...none, literal: token }
  const [access] = accessesOf(token)
  if (!access) return none
  // `items.size` is present if `items` is.
  const isListField = ['size', 'first', 'last'].includes(String(access.path.at(-1)))
  const path = isListField ? access.path.slice(0, -1) : access.path
  return { path, whenTrue: [path], whenFalse: [] }
}

const negated = ({ whenTrue, whenFalse }: Guards): Guards => ({ whenTrue: whenFalse, whenFalse: whenTrue })

function combined(operator: string, left: Operand, right: Operand): Operand {
  switch (operator) {
    case 'and':
      return { whenTrue: [...left.whenTrue, ...right.whenTrue], whenFalse: [] }
    case 'or':
      return { whenTrue: [], whenFalse: [...left.whenFalse, ...right.whenFalse] }
    case '==':
      return equality(left, right)
    case '!=':
      return negated(equality(left, right))
    default:
      // Comparisons with a missing variable, and `contains` on it, are always false.
      return { whenTrue: [left, right].flatMap(({ path }) => (path ? [path] : [])), whenFalse: [] }
  }
}

function equality(left: Operand, right: Operand): Operand {
  const path = left.path ?? right.path
  const literal = left.literal ?? right.literal
  if (!path || !literal) return none
  return equalsMissing(literal) ? { whenTrue: [], whenFalse: [path] } : { whenTrue: [path], whenFalse: [] }
}

/** Only these three equal a missing variable; `empty` and `""` do not. */
const equalsMissing = (literal: Token): boolean => ['nil', 'null', 'blank'].includes(literal.getText())
