import { expect, test } from 'vitest'
import { Refusal } from '../../platform/values/errors.ts'
import { compileTemplate } from './template.ts'
import type { TemplateValues } from './values.ts'

// Without limits, each of these would run for seconds or hours, or exhaust the memory.

const valuesOf = (context: Record<string, unknown>): TemplateValues => ({
  contact: { email: 'ada@example.com', firstName: 'Ada', lastName: null, attributes: {} },
  organization: { name: 'Analytical Engines' },
  unsubscribeUrl: 'https://mail.example.com/u/abc',
  context,
})

const manyTimes = (count: number, text: string) => text.repeat(count)
const loop = (body: string, times = 100_000) =>
  `{% for i in (1..${times / 100}) %}{% for j in (1..100) %}${body}{% endfor %}{% endfor %}`
const big = manyTimes(60_000, 'a')
const nothing = '{% assign list = "" | split: "" %}'
const pattern = `b${manyTimes(16_000, 'a')}`

const wasteful: Record<string, string> = {
  'a huge range': '{% for i in (1..100000000) %}x{% endfor %}',
  'a range where adding one changes nothing': '{% for i in (9007199254740992..9007199254740996) %}x{% endfor %}',
  'such a range from the context': '{% for i in (from..to) %}x{% endfor %}',
  'such a range in a filter': '{{ (9007199254740992..9007199254740996) | join }}',
  'loops in loops': loop(loop('{{ i }}')),
  'loops around nothing': loop(loop('')),
  'a table row by row': '{% tablerow i in (1..100000) cols: 1 %}{% endtablerow %}',
  'a text that doubles': `{% assign x = "aaaaaaaaaa" %}${manyTimes(60, '{% assign x = x | append: x %}')}{{ x }}`,
  'a capture that doubles': `{% capture x %}aaaaaaaaaa{% endcapture %}${manyTimes(60, '{% capture x %}{{ x }}{{ x }}{% endcapture %}')}{{ x }}`,
  'a list that holds itself tenfold': `${nothing}${manyTimes(12, `{% assign list = "" | split: "" ${manyTimes(10, '| push: list ')} %}`)}{{ list }}`,
  'joining such a list': `${nothing}${manyTimes(12, `{% assign list = "" | split: "" ${manyTimes(10, '| push: list ')} %}`)}{{ list | join }}`,
  'comparing such a list': `${nothing}${manyTimes(12, `{% assign list = "" | split: "" ${manyTimes(10, '| push: list ')} %}`)}{% if list == list %}{% endif %}`,
  'a list that doubles': `{% assign list = big | split: "" %}${manyTimes(20, '{% assign list = list | concat: list %}')}{{ list }}`,
  'a list of long texts': `${nothing}{% assign list = list | push: big %}${manyTimes(20, '{% assign list = list | concat: list %}')}{{ list | size }}`,
  'a value shown thousands of times': manyTimes(4_000, '{{ big }}'),
  'a long literal in a loop': loop(manyTimes(70_000, 'lorem ')),
  'long raw text in a loop': loop(`{% raw %}${manyTimes(70_000, 'lorem ')}{% endraw %}`),
  'a search that compares everything': '{% if aaa contains pattern %}{% endif %}',
  'a search from the end': '{{ aaa | replace_last: pattern, "" | size }}',
  'dates without end': loop(`{{ "now" | date: "${manyTimes(50, '%c')}" }}`),
  'a date of a long format': `{{ "now" | date: "${manyTimes(1_500, '%c')}" }}`,
  'a date padded by a billion': '{{ "now" | date: "%1000000000Y" }}',
  'sorting lists of lists': `{% assign letters = big | split: "" %}${nothing}${loop('{% assign list = list | push: letters %}')}{{ list | sort | size }}`,
  'sorting again and again': `{% assign letters = big | split: "" %}${loop('{% assign sorted = letters | sort %}')}`,
  'searching lists again and again': `{% assign list = (1..20000) %}${loop('{{ list | where: "x", 1 | size }}')}`,
  'JSON again and again': loop('{{ context | json }}'),
  'hashing again and again': loop('{{ big | sha256 }}'),
  'a long condition in a loop': loop(`{% if ${manyTimes(600, 'a and ')} a %}{% endif %}`),
  'a long cycle in a loop': loop(`{% cycle ${manyTimes(300, '"aaaaaaaaa", ')} "b" %}`),
  'a list turned round for each step': `{% assign list = (1..30000) %}${loop('{% for k in list reversed limit: 0 %}{% endfor %}')}`,
  'a list too deep to walk': '{{ deep }}',
  'JSON too deep to write': '{{ deep | json }}',
}

const context = {
  big,
  aaa: manyTimes(32_000, 'a'),
  pattern,
  from: 2 ** 53,
  to: 2 ** 53 + 8,
  deep: JSON.parse(manyTimes(20_000, '[') + manyTimes(20_000, ']')),
}

for (const [name, html] of Object.entries(wasteful)) {
  test(`${name} is rejected without side effects`, async () => {
    const compilation = await compileTemplate({ subject: 'x', source: { format: 'html', text: html }, text: 'x' })
    expect(compilation.kind).toBe('compiled')
    if (compilation.kind !== 'compiled') return
    const { template } = compilation
    expect(() => template.render(valuesOf(context))).toThrow(Refusal)
  })
}

const unparsable: Record<string, string> = {
  'more tags than the parser can bear': manyTimes(100_000, '{{a}}'),
  'tags nested too deeply': manyTimes(60, '{% if a %}') + manyTimes(60, '{% endif %}'),
  'tags nested beyond the stack': manyTimes(5_000, '{% if a %}'),
  'brackets nested beyond the stack': `{{ a${manyTimes(1_900, '[a')} }}`,
  'a variable with keys without end': `{{ a${manyTimes(1_500, '.b')} }}`,
  'a tag that never ends': `{{ ${manyTimes(400_000, 'a')}`,
  'openings without end': manyTimes(240_000, '{{'),
  'a tag of great length': `{{ "${manyTimes(20_000, 'a')}" }}`,
  'a comment of many lines': `{% # ${manyTimes(400_000, '\n')}# %}`,
  'a liquid tag of many lines': `{% liquid\n${manyTimes(1_500, 'break\n')} %}`,
  'thousands of faults': manyTimes(4_000, '{{ a | nofilter }}\n'),
}

for (const [name, html] of Object.entries(unparsable)) {
  test(`${name}: the template is rejected with a reason`, async () => {
    const compilation = await compileTemplate({ subject: 'x', source: { format: 'html', text: html }, text: 'x' })
    expect(compilation).toMatchObject({ kind: 'faulty' })
    if (compilation.kind !== 'faulty') return
    expect(compilation.problems.length).toBeLessThanOrEqual(10)
    for (const { part, line, column, message } of compilation.problems) {
      expect(part).toBe('html')
      expect(line).toBeGreaterThanOrEqual(1)
      expect(column).toBeGreaterThanOrEqual(1)
      expect(message).toMatch(/^.{5,220}\.$/s)
    }
  })
}

test('a table of a thousand rows is within the limits of an email', async () => {
  const html = `<table>{% for row in rows %}<tr><td>{{ row.name }}</td><td>{{ row.price | round: 2 }}</td></tr>{% endfor %}</table>`
  const compilation = await compileTemplate({ subject: 'x', source: { format: 'html', text: html }, text: 'x' })
  if (compilation.kind !== 'compiled') throw new Error('faulty')
  const rows = Array.from({ length: 1_000 }, (_, index) => ({ name: `Item ${index}`, price: index / 7 }))
  expect(compilation.template.render(valuesOf({ rows })).html.match(/<tr>/g)).toHaveLength(1_000)
})
