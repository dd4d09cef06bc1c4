import { readFileSync } from 'node:fs'
import {
  CaptureTag,
  CaseTag,
  Context,
  defaultOperators,
  evalToken,
  ForTag,
  IfTag,
  Liquid,
  LiquidError,
  LiquidTag,
  Output,
  type Template,
  type Token,
  Tokenizer,
  TokenKind,
  TypeGuards,
  toValueSync,
} from 'liquidjs'
import { expect, test } from 'vitest'

// Behaviour of liquidjs that its documentation does not promise and the files of this folder rely on. Run these tests
// and read the changelog of the library before you change the version below.

const checkedVersion = '10.30.1'

const engine = new Liquid({ outputEscape: (value: unknown) => `<${String(value)}>` })
const parse = (source: string) => engine.parse(source)
const first = <Node = Template>(source: string) => parse(source)[0] as Node

type Limit = Context['memoryLimit']

function contextWith(scope: object, limits: { memoryLimit?: Limit; renderLimit?: Limit } = {}): Context {
  return new Context(scope, engine.options, { sync: true }, { ...limits, liquid: engine })
}
const render = (nodes: Template[], context: Context) => toValueSync(engine.renderer.renderTemplates(nodes, context))

function errorOf(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  throw new Error('no error was thrown')
}

test('the installed version is the one that this contract was checked against', () => {
  const { version } = JSON.parse(readFileSync('node_modules/liquidjs/package.json', 'utf8')) as { version: string }
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect([version, dependencies.liquidjs]).toEqual([checkedVersion, checkedVersion])
})

test('a context keeps the given limiters; the renderer checks the render limit at the start and before each node', () => {
  const calls: string[] = []
  const limiter = (name: string) =>
    ({ use: () => calls.push(`${name}.use`), check: () => calls.push(`${name}.check`) }) as unknown as Limit
  const memoryLimit = limiter('memory')
  const context = contextWith({ a: 'x' }, { memoryLimit, renderLimit: limiter('render') })
  expect(context.memoryLimit).toBe(memoryLimit)
  expect(render(parse('{{ a }}-{{ a }}'), context)).toBe('<x>-<x>')
  expect(calls.filter((call) => call === 'render.check')).toHaveLength(4)
})

test('filters and operators receive the context', () => {
  const seen: unknown[] = []
  const own = new Liquid({
    operators: { ...defaultOperators, '==': (...operands: unknown[]) => seen.push(operands.at(-1)) > 0 },
  })
  own.registerFilter('spy', function (value) {
    seen.push(this.context)
    return value
  })
  const context = new Context({}, own.options, { sync: true }, { liquid: own })
  toValueSync(own.renderer.renderTemplates(own.parse('{{ 1 | spy }}{% if 1 == 2 %}{% endif %}'), context))
  expect(seen.map((value) => value === context)).toEqual([true, true])
})

test('an output has its variable in `value.initial.postfix`, and its filters with name and arguments', () => {
  const node = first<Output>('{{ a.b[0]["c d"] | default: "x", allow_false: true | raw }}')
  expect(node).toBeInstanceOf(Output)
  const [access, ...others] = node.value.initial.postfix
  if (!TypeGuards.isPropertyAccessToken(access)) throw new Error('no property access')
  expect([others, access.variable, access.props.map((key) => (key as { content?: unknown }).content)]).toEqual([
    [],
    undefined,
    ['a', 'b', 0, 'c d'],
  ])
  const [fallback] = node.value.filters
  expect(node.value.filters.map(({ name }) => name)).toEqual(['default', 'raw'])
  expect([TypeGuards.isQuotedToken(fallback!.args[0]), Array.isArray(fallback!.args[1])]).toEqual([true, true])
})

test('the escaping filter is appended under the name [object Function], unless the last filter is raw', () => {
  const names = (source: string) => first<Output>(source).value.filters.map(({ name }) => name)
  expect([names('{{ a }}'), names('{{ a | upcase }}'), names('{{ a | raw }}')]).toEqual([
    ['[object Function]'],
    ['upcase', '[object Function]'],
    ['raw'],
  ])
})

test('text is a node of kind HTML with its content', () => {
  const [text] = parse('some {text} ')
  expect(text!.token.kind).toBe(TokenKind.HTML)
  expect((text!.token as unknown as { getContent(): string }).getContent()).toBe('some {text} ')
})

test('the renderer calls a `render` that was assigned to a node, also inside of tags', () => {
  const nodes = parse('{% for i in list %}{{ i }}{% endfor %}')
  const [inner] = toValueSync(nodes[0]!.children!(false, true)) as Template[]
  inner!.render = (_context, emitter) => emitter.write('!')
  expect(render(nodes, contextWith({ list: [1, 2] }))).toBe('!!')
})

test('scopes are a list with the innermost last, and the values given are the environments', () => {
  const context = contextWith({ a: 1 })
  context.push({ b: 2 })
  const { scopes } = context as unknown as { scopes: object[] }
  expect([scopes.at(-1), context.environments, context.bottom() === scopes[0]]).toEqual([{ b: 2 }, { a: 1 }, true])
})

test('a range that was changed in place to a filtered value is evaluated by its own expression', () => {
  const node = first<Output>('{{ (1..3) | join }}')
  const [range] = node.value.initial.postfix as [Token]
  expect(TypeGuards.isRangeToken(range)).toBe(true)
  const initial = { postfix: [], evaluate: () => [7, 8] }
  Object.assign(range, { kind: TokenKind.FilteredValue, initial, filters: [] })
  expect(toValueSync(evalToken(range, contextWith({})))).toEqual([7, 8])
  expect(render([node], contextWith({}))).toBe('<7 8>')
})

test('tags expose their arguments, children, branches and the names they assign', () => {
  const children = (node: Template) => toValueSync(node.children!(false, true)) as Template[]
  const condition = first<IfTag>('{% if a %}1{% elsif b %}2{% else %}3{% endif %}')
  expect(condition).toBeInstanceOf(IfTag)
  expect([condition.branches.length, condition.elseTemplates?.length, children(condition).length]).toEqual([2, 1, 3])
  const choice = first<CaseTag>('{% case a %}{% when 1, 2 %}x{% else %}y{% endcase %}')
  expect(choice).toBeInstanceOf(CaseTag)
  expect([
    choice.branches[0]!.values.length,
    choice.branches[0]!.templates.length,
    choice.elseTemplates.length,
  ]).toEqual([2, 1, 1])
  const loop = first<ForTag>('{% for item in a.list limit: b %}x{% else %}y{% endfor %}')
  expect(loop).toBeInstanceOf(ForTag)
  expect([TypeGuards.isPropertyAccessToken(loop.collection), [...loop.blockScope()]]).toEqual([
    true,
    ['item', 'forloop'],
  ])
  expect([[...loop.arguments()].length, loop.templates.length, loop.elseTemplates.length]).toEqual([2, 1, 1])
  const capture = first<CaptureTag>('{% capture x %}{{ y }}{% endcapture %}')
  expect(capture).toBeInstanceOf(CaptureTag)
  expect([
    capture.variable,
    capture.templates.length,
    [...capture.localScope()].map((name) => (name as { content: string }).content),
  ]).toEqual(['x', 1, ['x']])
  expect(first('{% liquid assign a = 1 %}')).toBeInstanceOf(LiquidTag)
})

test('a break outside of a loop ends the template and is noted in the context', () => {
  const context = contextWith({})
  expect([render(parse('a{% break %}b'), context), context.breakCalled]).toEqual(['a', true])
})

test('the tokenizer splits a source into text, outputs and tags with their positions', () => {
  const source = 'a{{ b }}{%- if c -%}d{% endif %}'
  const tokens = new Tokenizer(source, engine.options.operators).readTopLevelTokens(engine.options)
  expect(tokens.map((token) => source.slice(token.begin, token.end))).toEqual([
    'a',
    '{{ b }}',
    '{%- if c -%}',
    'd',
    '{% endif %}',
  ])
  expect(tokens.map((token) => token.getText()).join('')).toBe(source)
  expect(tokens.map((token) => [TypeGuards.isOutputToken(token), TypeGuards.isTagToken(token)])).toEqual([
    [false, false],
    [true, false],
    [false, true],
    [false, false],
    [false, true],
  ])
})

test.each([
  ['a {{ b | nothing }}', 'undefined filter: nothing', 2],
  ['{% nothing %}', 'tag "nothing" not found', 0],
  ['a {% if b %}', 'tag {% if b %} not closed', 2],
  ['a {{ b', 'output "{{ b" not closed', 2],
])('an error has a position, and a message that ends with it: %s', (source, message, position) => {
  const strict = new Liquid({ strictFilters: true })
  const error = errorOf(() => strict.parse(source))
  if (!LiquidError.is(error)) throw error
  expect([error.message.replace(/, line:\d+, col:\d+$/, ''), error.token.begin]).toEqual([message, position])
  expect(error.message).toMatch(/, line:1, col:\d+$/)
})

test('filters and tags can be listed and removed', () => {
  const own = new Liquid({ strictFilters: true })
  expect([Object.keys(own.filters).includes('upcase'), Object.keys(own.tags).includes('include')]).toEqual([true, true])
  own.unregisterFilter('upcase')
  expect(LiquidError.is(errorOf(() => own.parse('{{ a | upcase }}')))).toBe(true)
})
