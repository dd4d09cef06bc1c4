import fc from 'fast-check'
import { toValueSync } from 'liquidjs'
import { expect, test } from 'vitest'
import { Budget, bodyLimits } from '../budget.ts'
import { analyse } from './analyse.ts'
import { engineFor, MeteredEmitter } from './engine.ts'
import { isProblems, parsePart } from './parse.ts'
import { contextOf, planOf, renderPlan } from './plan.ts'

const names = ['a', 'b', 'size', 'first', 'last', '__proto__', 'x y', 'é']
const key = fc.oneof(
  fc.constantFrom('.a', '.b', '.size', '.first', '.last', '.length', '.constructor'),
  fc.constantFrom('[0]', '[1]', '[-1]', '["a"]', '["x y"]', '["size"]', '[a]', '["__proto__"]'),
)
const path = fc
  .tuple(fc.constantFrom('a', 'b', 'é', 'i', 'c', 'constructor', 'forloop'), fc.array(key, { maxLength: 3 }))
  .map(([root, keys]) => root + keys.join(''))
const finish = fc.constantFrom(
  '',
  '| escape',
  '| raw',
  '| default: "<none>"',
  '| default: 0 | escape',
  '| default: "" | raw',
  '| default: b',
  '| upcase',
  '| default: "x", allow_false: true',
)
const piece = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('<p>', ' & ', '\n', 'é</p>') },
  {
    weight: 5,
    arbitrary: fc
      .tuple(path, finish, fc.boolean())
      .map(([p, f, trim]) => (trim ? `{{- ${p} ${f} -}}` : `{{ ${p} ${f} }}`)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '{% assign a = b %}',
      '{% for i in a %}{{ i }}{{ forloop.index }}{{ i.a | default: "-" }}<hr>{% endfor %}',
      '{% for i in b reversed %}{% assign c = i %}{{ c }}{% endfor %}{{ c }}{{ i }}',
      '{% if b %}{{ b | raw }}{% endif %}',
      '{{ "<x>" }}{{ "<x>" | raw }}{{ nil | default: "&" | upcase }}{{ "x" | append: b }}',
      '{% if "x" %}<b>{{ "y" }}</b>{% if nil %}{% break %}{% elsif a %}{{ a }}{% endif %}{% endif %}',
      '{% unless nil %}{{ "a,b" | split: "," | last }}{% else %}{{ b }}{% endunless %}',
      '{% if "x" %}{% break %}{% endif %}',
      '{{ (1..3) }}{{ "x" | divided_by: 0 }}',
      '{% capture b %}<i>{{ a }}{% endcapture %}',
      '{% increment b %}',
      '{% continue %}',
    ),
  },
)
const json = fc.oneof(
  fc.constantFrom('<&>', '', null, false, true, 0, -1.5),
  fc.jsonValue({ maxDepth: 3 }).map((value) => structuredClone(value)),
)
const scope = fc
  .dictionary(fc.constantFrom(...names, 'c'), json)
  .chain((inner) => fc.record({ a: fc.oneof(json, fc.constant(inner)), b: json, é: json }, { requiredKeys: [] }))

test('a planned template renders exactly like the engine', () => {
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 8 }),
      scope,
      fc.constantFrom('html' as const, 'text' as const),
      (pieces, values, output) => {
        const engine = engineFor(output)
        const templates = parsePart(engine, 'html', pieces.join(''))
        if (isProblems(templates)) throw new Error(templates[0]?.message)
        const plan = planOf(engine, templates, analyse(templates).locals, output === 'html')
        const untouched = engine.parse(pieces.join(''))
        const byEngine = attempt(() => {
          const budget = new Budget(bodyLimits())
          const context = contextOf(engine, values, budget)
          return toValueSync(engine.renderer.renderTemplates(untouched, context, new MeteredEmitter(budget))) as string
        })
        expect(attempt(() => renderPlan(plan, values, new Budget(bodyLimits())))).toEqual(byEngine)
      },
    ),
    { numRuns: 1_000 },
  )
})

test('a template of single variables does not use the engine', () => {
  const templates = parsePart(
    engineFor('html'),
    'html',
    'a {{ b }} {{ c.d | default: "e" }} {{ f[0].g | escape }} {{ h | raw }}',
  )
  if (isProblems(templates)) throw new Error(templates[0]?.message)
  const { steps } = planOf(engineFor('html'), templates, new Set(), true)
  expect(steps.filter((step) => 'nodes' in step)).toEqual([])
})

test('outputs and conditions that are the same in all emails are rendered once', () => {
  const stepsOf = (source: string) => {
    const templates = parsePart(engineFor('html'), 'html', source)
    if (isProblems(templates)) throw new Error(templates[0]?.message)
    const { steps, hasLogic } = planOf(engineFor('html'), templates, new Set(), true)
    return { text: steps.map((step) => ('text' in step ? step.text : '*')).join(''), hasLogic }
  }
  expect(stepsOf('<{{ "a&" }}{{ nil | default: "b" }}>')).toEqual({ text: '<a&amp;b>', hasLogic: true })
  expect(stepsOf('{% if "x" %}<b>{{ "y" }}</b>{% else %}z{% endif %}').text).toBe('<b>y</b>')
  const variable = ['{% if "x" %}{{ a }}{% endif %}', '{% if a == "x" %}y{% endif %}', '{{ "x" | append: a }}']
  const timed = ['{{ "now" | date: "%s" }}', '{% if "now" | date: "%s" %}x{% endif %}']
  const stateful = ['{% increment a %}', '{% if "x" %}{% break %}{% endif %}', '{% capture a %}x{% endcapture %}']
  for (const source of [...variable, ...timed, ...stateful]) expect(stepsOf(source).text).toBe('*')
})

function attempt(render: () => string): string | { failed: true } {
  try {
    return render()
  } catch {
    return { failed: true }
  }
}
