import { createHash } from 'node:crypto'
import { parseAst } from 'rolldown/parseAst'

/** Small faults in TypeScript and SQL, such as a person makes: a guard removed, a bound changed, a call left out. */

/** How often each kind of fault is chosen, relative to the others: mostly guards, which tests miss most easily. */
const weights = {
  guard: 4,
  'sql condition': 4,
  operand: 3,
  comparison: 2,
  'sql comparison': 2,
  call: 2,
  filter: 2,
  branch: 1,
  bound: 1,
  boolean: 1,
}

export type Mutation = {
  /** Depends on the text of the line and not on its position, so that it stays the same when other lines change. */
  id: string
  kind: keyof typeof weights
  file: string
  line: number
  /** The expression to replace, and what replaces it. */
  start: number
  end: number
  replacement: string
  /** What was changed within the expression. */
  summary: string
  isStatement: boolean
}

type Node = { type: string; start: number; end: number; [key: string]: unknown }
type Change = Pick<Mutation, 'kind' | 'start' | 'end' | 'replacement' | 'summary'>

/** Returns the changes that can be made to a source file. */
export function listMutations(file: string, source: string): Mutation[] {
  const changes: Change[] = []
  const statementEnds = new Map<number, number>()
  visit(parseAst(source, { lang: 'ts' }) as unknown as Node, (node) => {
    changes.push(...changesOf(node, source))
    if (node.type === 'ExpressionStatement') statementEnds.set(node.start, (node.expression as Node).end)
  })
  // The start of a statement cannot be woven: a line that starts with a parenthesis continues the previous one.
  const isWhole = ({ start, end }: Change) => (statementEnds.get(start) ?? end) === end
  const seen = new Map<string, number>()
  return changes.filter(isWhole).map((change) => {
    const text = [file, change.kind, change.summary].join('\n')
    const repetition = seen.get(text) ?? 0
    seen.set(text, repetition + 1)
    const line = source.slice(0, change.start).split('\n').length
    const isStatement = statementEnds.has(change.start)
    return { id: hash(`${text}\n${repetition}`).slice(0, 8), file, line, isStatement, ...change }
  })
}

export const applyMutation = (source: string, { start, end, replacement }: Mutation): string =>
  source.slice(0, start) + replacement + source.slice(end)

/**
 * Returns the source with all these mutations. The one whose id is in the environment variable MUTATION takes effect.
 * `isMutated` is the name of a function that gets the id when the code is reached.
 */
export function weaveMutations(source: string, mutations: readonly Mutation[], isMutated: string): string {
  const weave = (from: number, to: number, inside: readonly Mutation[]): string => {
    let text = ''
    let position = from
    for (const { start, end } of inside.filter((each) => !inside.some((other) => contains(other, each)))) {
      if (start < position) continue // another mutation of the same expression
      const same = inside.filter((each) => each.start === start && each.end === end)
      const original = weave(
        start,
        end,
        inside.filter((each) => contains({ start, end }, each)),
      )
      const switched = same.reduce(
        (rest, { id, replacement }) => `${isMutated}('${id}') ? ${replacement} : ${rest}`,
        original,
      )
      text += `${source.slice(position, start)}${same[0]!.isStatement ? 'void ' : ''}(${switched})`
      position = end
    }
    return text + source.slice(position, to)
  }
  const sorted = mutations.toSorted((a, b) => a.start - b.start)
  return weave(0, source.length, sorted)
}

type Span = { start: number; end: number }
const contains = (outer: Span, inner: Span) =>
  outer.start <= inner.start && inner.end <= outer.end && outer.end - outer.start > inner.end - inner.start

/** Sorts by chance, with the heavier kinds rather at the start. The same seed gives the same order. */
export const shuffle = (mutations: readonly Mutation[], seed: number): Mutation[] =>
  mutations
    .map((mutation) => {
      const random = Number.parseInt(hash(`${seed} ${mutation.id}`).slice(0, 8), 16) / 2 ** 32
      return { mutation, rank: random ** (1 / weights[mutation.kind]) }
    })
    .sort((a, b) => b.rank - a.rank)
    .map(({ mutation }) => mutation)

const hash = (text: string) => createHash('sha256').update(text).digest('hex')

function visit(node: Node, found: (node: Node) => void): void {
  // Types have no effect at run time.
  if (node.type.startsWith('TSType') || node.type.startsWith('TSInterface')) return
  found(node)
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, found)
  }
}

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string'

const nextOperators: Record<string, string> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
}

function changesOf(node: Node, source: string): Change[] {
  const textOf = ({ start, end }: Node) => source.slice(start, end)
  const replace = (kind: Change['kind'], at: Node, replacement: string): Change => {
    const summary = `${textOf(at).replace(/\s+/g, ' ')} -> ${replacement}`
    return { kind, start: at.start, end: at.end, replacement, summary }
  }
  switch (node.type) {
    case 'IfStatement':
      if (!node.alternate && leaves(node.consequent as Node)) return [replace('guard', node.test as Node, 'false')]
      return ['true', 'false'].map((value) => replace('branch', node.test as Node, value))
    case 'ConditionalExpression':
      return ['true', 'false'].map((value) => replace('branch', node.test as Node, value))
    case 'LogicalExpression': {
      if (node.operator === '??') return []
      const neutral = node.operator === '&&' ? 'true' : 'false'
      return [node.left, node.right].map((operand) => replace('operand', operand as Node, neutral))
    }
    case 'BinaryExpression': {
      const operator = nextOperators[node.operator as string]
      if (!operator || (/[<>]/.test(operator) && isMoment.test(textOf(node)))) return []
      return [replace('comparison', node, `${textOf(node.left as Node)} ${operator} ${textOf(node.right as Node)}`)]
    }
    case 'ExpressionStatement': {
      const expression = node.expression as Node
      const call = expression.type === 'AwaitExpression' ? (expression.argument as Node) : expression
      if (call.type !== 'CallExpression' && call.type !== 'TaggedTemplateExpression') return []
      return isObservation.test(textOf(call)) ? [] : [replace('call', expression, 'void 0')]
    }
    case 'CallExpression': {
      const callee = node.callee as Node
      if (callee.type !== 'MemberExpression' || textOf(callee.property as Node) !== 'filter') return []
      return [replace('filter', node, textOf(callee.object as Node))]
    }
    case 'VariableDeclarator': {
      const value = node.init as Node | null
      if (typeof value?.value !== 'number' || !/(?:Max|Min)$/.test(textOf(node.id as Node))) return []
      return [replace('bound', value, String(value.value * 2))]
    }
    case 'Literal':
      return typeof node.value === 'boolean' ? [replace('boolean', node, String(!node.value))] : []
    case 'TaggedTemplateExpression':
      return sqlChanges(node, source)
    default:
      return []
  }
}

/** In comparisons of moments, no test can tell `<` from `<=`. */
const isMoment = /now|At\b|Ms\b|Until\b|_at\b|_until\b/

/** Calls that only log, count, or end a process that has nothing left to do. */
const isObservation = /^(?:[\w.#]*\blog\.|console\.|super\()|\.(?:inc|observe|unref)\(/

function leaves(statement: Node): boolean {
  if (statement.type === 'BlockStatement') {
    const last = (statement.body as Node[]).at(-1)
    return last !== undefined && leaves(last)
  }
  return /^(?:Return|Throw|Continue|Break)Statement$/.test(statement.type)
}

const sqlKeyword = /\b(?:where|and|or|on)\b/gi
const sqlEnd =
  /^(?:and|or|where|order by|group by|having|limit|returning|for|on|union|left|join|cross|inner|when|then|else|end|set|(?<!distinct )from|do|offset)\b/i
const sqlComparison = /(?<= )(?:<=?|>=?)(?= )/g

/** Removes conditions of a statement, and changes its comparisons. The statement stays valid. */
function sqlChanges(tagged: Node, source: string): Change[] {
  const template = tagged.quasi as Node
  const text = maskExpressions(template, source)
  const replace = (kind: Change['kind'], index: number, length: number, value: string): Change => {
    const from = template.start + index
    const replacement = source.slice(tagged.start, from) + value + source.slice(from + length, tagged.end)
    const line = source.slice(source.lastIndexOf('\n', from) + 1, source.indexOf('\n', from)).trim()
    const summary = `${source.slice(from, from + length).replace(/\s+/g, ' ')} -> ${value} in: ${line}`
    return { kind, start: tagged.start, end: tagged.end, replacement, summary }
  }
  const changes: Change[] = []
  for (const { 0: operator, index } of text.matchAll(sqlComparison)) {
    if (isMoment.test(text.slice(Math.max(0, index - 30), index + 30))) continue
    changes.push(replace('sql comparison', index, operator.length, nextOperators[operator]!))
  }
  for (const { 0: keyword, index } of text.matchAll(sqlKeyword)) {
    if (/\bbetween\s+\S+\s+$/i.test(text.slice(0, index))) continue
    const start = index + keyword.length + 1
    const condition = text.slice(start, endOfCondition(text, start)).trimEnd()
    if (!/[\w)]\s*(?:[=<>]|\bis\b|\bin\b|\blike\b)|^not |^exists/i.test(condition) || /\bcase\b/i.test(condition))
      continue
    changes.push(replace('sql condition', start, condition.length, keyword.toLowerCase() === 'or' ? 'false' : 'true'))
  }
  return changes
}

/** Returns the text of a template with every `${…}` replaced by a word of the same length. */
function maskExpressions(template: Node, source: string): string {
  let text = source.slice(template.start, template.end - 1)
  for (const { start, end } of template.expressions as Node[]) {
    const [from, to] = [start - 2 - template.start, end + 1 - template.start]
    text = text.slice(0, from) + 'x'.repeat(to - from) + text.slice(to)
  }
  return text
}

function endOfCondition(text: string, start: number): number {
  let depth = 0
  for (let index = start; index < text.length; index++) {
    const character = text[index]!
    if (character === '(') depth++
    else if (character === ')' || (character === ',' && depth === 0)) {
      if (depth === 0) return index
      depth--
    } else if (depth === 0 && /\s/.test(text[index - 1] ?? '') && sqlEnd.test(text.slice(index))) return index
  }
  return text.length
}
