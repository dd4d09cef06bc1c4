import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

// Finds the statements in the sources, also those that no test runs. Fragments of SQL are put in where they are used: of
// alternatives all, so a text may name more than one run of the statement does.

type Node = { type: string; [key: string]: unknown }
type Source = {
  file: string
  tree: Node
  /** What each name may stand for, in any scope of the file. */
  declared: Map<string, Node[]>
  imported: Map<string, { file: string; name: string }>
}

export type SourceStatement = { file: string; text: string }

const isStatement = /^\s*(?:with|select|insert|update|delete)\b/i
const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string'

/** Returns the statements of all files below `root` that are not tests. */
export function statementsIn(root: string): SourceStatement[] {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  const read = new Map(sources.map((file) => [join(root, file), readSource(join(root, file))]))
  return [...read.values()].flatMap((source) => statementsOf(source, read))
}

/** Returns the statements of one text. */
export const statementsInText = (text: string): SourceStatement[] =>
  statementsOf(parse('text.ts', text), new Map<string, Source>())

const readSource = (file: string) => parse(file, readFileSync(file, 'utf8'))

function parse(file: string, text: string): Source {
  const tree = parseAst(text, { lang: 'ts' }) as unknown as Node
  const source: Source = { file, tree, declared: new Map(), imported: new Map() }
  visit(tree, (node) => {
    const { id, init, body } = node as Record<string, Node | undefined>
    if (node.type === 'VariableDeclarator' && id?.type === 'Identifier' && init) declare(source, id, init)
    if (node.type === 'FunctionDeclaration' && id && body) declare(source, id, body)
    if (node.type === 'ImportDeclaration') addImports(source, node)
    return true
  })
  return source
}

function declare({ declared }: Source, id: Node, value: Node): void {
  const name = String(id.name)
  declared.set(name, [...(declared.get(name) ?? []), value])
}

function addImports({ file, imported }: Source, node: Node): void {
  const from = String((node.source as Node).value)
  if (!from.startsWith('.')) return
  for (const specifier of node.specifiers as Node[])
    if (specifier.type === 'ImportSpecifier')
      imported.set(String((specifier.local as Node).name), {
        file: normalize(join(dirname(file), from)),
        name: String((specifier.imported as Node).name),
      })
}

function statementsOf(source: Source, all: ReadonlyMap<string, Source>): SourceStatement[] {
  const found: SourceStatement[] = []
  visit(source.tree, (node) => {
    if (node.type !== 'TaggedTemplateExpression') return true
    const text = textOf(node.quasi as Node, source, all)
    if (!isStatement.test(text)) return true
    found.push({ file: source.file, text })
    return false
  })
  return found
}

function textOf(template: Node, source: Source, all: ReadonlyMap<string, Source>): string {
  const parts = (template.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked)
  const expressions = template.expressions as Node[]
  return parts.reduce((text, part, index) => {
    const inserted = fragmentsOf(expressions[index - 1]!, source, all).join(' ')
    return `${text}${inserted || `$${index}`}${part}`
  })
}

const known = new WeakMap<Node, string[]>()

/** Returns the texts that an expression may put into a statement; none if it is a parameter. */
function fragmentsOf(expression: Node, source: Source, all: ReadonlyMap<string, Source>): string[] {
  const earlier = known.get(expression)
  if (earlier) return earlier
  const texts: string[] = []
  known.set(expression, texts)
  visit(expression, (node) => {
    if (node.type === 'TaggedTemplateExpression') {
      if ((node.tag as Node).name === 'sql') texts.push(textOf(node.quasi as Node, source, all))
      return false
    }
    if (node.type === 'CallExpression' && (node.callee as Node).name === 'insertRows')
      for (const given of node.arguments as Node[])
        if (given.type === 'TemplateLiteral') texts.push(textOf(given, source, all))
    if (node.type === 'Identifier') texts.push(...fragmentsNamed(String(node.name), source, all))
    return true
  })
  return texts
}

function fragmentsNamed(name: string, source: Source, all: ReadonlyMap<string, Source>): string[] {
  const imported = source.imported.get(name)
  const owner = imported ? all.get(imported.file) : source
  const values = owner?.declared.get(imported?.name ?? name) ?? []
  return values.flatMap((value) => fragmentsOf(value, owner!, all))
}

/** Calls `enter` for a node and, if it returns true, for the nodes in it. Names of properties and types are left out. */
function visit(node: Node, enter: (node: Node) => boolean): void {
  if (node.type.startsWith('TS') && !('expression' in node)) return
  if (!enter(node)) return
  for (const [key, value] of Object.entries(node)) {
    if (key === 'typeAnnotation' || key === 'typeArguments' || key === 'returnType') continue
    if (key === 'key' || (key === 'property' && !node.computed)) continue
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, enter)
  }
}
