import { expect, test } from 'vitest'
import { checkEmail } from './email-checks.ts'
import { analyse } from './liquid/analyse.ts'
import { engineFor } from './liquid/engine.ts'
import { withPreheader } from './preheader.ts'
import { Lines } from './problems.ts'
import { compileTemplate, loadTemplate, variablesMax } from './template.ts'
import { trackLinks } from './track-links.ts'

// Each of these took minutes to hours while its cost was quadratic.

const mjml = (body: string) =>
  `<mjml><mj-body><mj-section><mj-column><mj-text>${body}</mj-text></mj-column></mj-section></mj-body></mjml>`

/** Letters that are not ASCII, thousands of different ones. */
const manyLetters = (count: number) =>
  Array.from({ length: count }, (_, at) => String.fromCodePoint(0x4e00 + (at % 20_000))).join('')

test('MJML that contains placeholder-like words compiles', async () => {
  const html = mjml(`{{ name }} liquidtag${'q'.repeat(400_000)} {{ name }}`)
  const compilation = await compileTemplate({ subject: 'x', source: { format: 'mjml', text: html }, text: 'x' })
  if (compilation.kind !== 'compiled') throw new Error(JSON.stringify(compilation.problems))
  expect(compilation.template.stored.html).toContain('{{ name }} liquidtagqqq')
})

test.each([
  ['includes', `${'\n'.repeat(100_000)}${'<mj-include path="x" />'.repeat(1_000)}`],
  ['lost tags', `<mjml><mj-body>${'\n'.repeat(50_000)}${'{{a}}'.repeat(1_000)}</mj-body></mjml>`],
  [
    'wrong attributes',
    `<mjml><mj-body>${'\n'.repeat(50_000)}${'<mj-section a="1"></mj-section>'.repeat(1_000)}</mj-body></mjml>`,
  ],
])('of many faults of MJML the first ten are reported: %s', async (_name, html) => {
  const compilation = await compileTemplate({ subject: 'x', source: { format: 'mjml', text: html }, text: 'x' })
  if (compilation.kind !== 'faulty') throw new Error('compiled')
  expect(compilation.problems).toHaveLength(10)
})

test('positions are converted to line and column', () => {
  const lines = new Lines('a\n\nbc\n')
  const positions = [0, 1, 2, 3, 4, 5, 6].map((position) => lines.at(position))
  expect(positions.map(({ line, column }) => `${line}:${column}`)).toEqual([
    '1:1',
    '1:2',
    '2:1',
    '3:1',
    '3:2',
    '3:3',
    '4:1',
  ])
  expect([1, 2, 3, 4, 5].map((line) => lines.text(line))).toEqual(['a', '', 'bc', '', ''])
})

test('tens of thousands of guards around as many variables are analysed', () => {
  const guards = (tag: number) => Array.from({ length: 250 }, (_, i) => `g${tag}_${i} == nil`).join(' or ')
  const shown = (tag: number) => Array.from({ length: 250 }, (_, i) => `| append: v${tag}_${i} `).join('')
  const tags = Array.from({ length: 300 }, (_, tag) => tag)
  const source = `{% if x %}${tags.map((tag) => `{% elsif ${guards(tag)} %}`).join('')}{% else %}${tags
    .map((tag) => `{{ "" ${shown(tag)}}}`)
    .join('')}{% endif %}`
  const { variables } = analyse(engineFor('html').parse(source))
  expect(variables).toHaveLength(150_001)
})

test.each([
  ['a space after a long host', `https://${'a'.repeat(1_000_000)} b`],
  ['a long host of many letters', `https://${manyLetters(1_000_000)}`],
  ['such a host after more slashes', `https:////${manyLetters(1_000_000)}`],
  ['such a host after a user name', `https://a@${manyLetters(1_000_000)}`],
])('a link or an image with an invalid address is reported, and not tracked: %s', (_name, address) => {
  const html = `<a href="${address}">x</a><img alt="" src="${address}">`
  const { findings } = checkEmail({
    subject: 'x',
    html,
    source: html,
    isMarketing: false,
    postalAddress: null,
    templateAddress: { isRead: false, stored: null },
    baseUrl: 'https://links.invalid',
    unsubscribeUrl: '',
    utmQuery: 'utm_source=news',
    isSure: () => true,
  })
  const problem = expect.stringContaining('is not a valid address')
  expect(findings).toMatchObject([{ check: 'link', problem }, { check: 'image', problem }, { check: 'weight' }])
  const tracking = { trackedUrl: () => 'tracked', pixelUrl: undefined, unsubscribeUrl: undefined }
  expect(trackLinks(html, tracking)).toBe(html)
})

test('the preheader stands at the start of the body, however many body tags there are', () => {
  const html = '<title><body></title><!-- <body> --><p><body class="a>b">Hello'
  expect(withPreheader(html, 'A')).toMatch(
    /^<title><body><\/title><!-- <body> --><p><body class="a>b"><div data-preheader/,
  )
  const unclosed = '<body '.repeat(300_000)
  expect(withPreheader(unclosed, 'A').endsWith(`</div>${unclosed}`)).toBe(true)
})

test('a variable is optional only within a condition on it or its parent', () => {
  const optional = (source: string) =>
    analyse(engineFor('html').parse(source))
      .variables.filter(({ hasDefault }) => hasDefault)
      .map(({ name }) => name)
  expect(optional('{% if a %}{{ a.b }}{% endif %}')).toEqual(['a', 'a.b'])
  expect(optional('{% if a.b %}{{ a }}{% endif %}')).toEqual(['a.b'])
  expect(optional('{% if a %}{% if a %}{% endif %}{{ a }}{% endif %}')).toEqual(['a'])
  expect(optional('{% if a %}{% endif %}{{ a }}')).toEqual([])
  expect(optional('{% if a == nil %}{{ b }}{% elsif b %}{{ a }}{{ b }}{% else %}{{ a }}{% endif %}')).toEqual(['a'])
  expect(optional('{% if ab %}{{ a.b }}{% endif %}')).toEqual(['ab'])
})

test('a template with too many variables is rejected', async () => {
  const html = (count: number) => Array.from({ length: count }, (_, i) => `{{ v${i} }}`).join('')
  const compile = (count: number) =>
    compileTemplate({ subject: 'x', source: { format: 'html', text: html(count) }, text: 'x' })
  expect(await compile(variablesMax)).toMatchObject({ kind: 'compiled' })
  const message = 'The template uses more than 1000 variables. Group them in lists or objects.'
  expect(await compile(variablesMax + 1)).toMatchObject({ kind: 'faulty', problems: [{ part: 'html', message }] })
  // Versions that were stored before the limit existed remain usable.
  const stored = {
    subject: 'x',
    html: html(variablesMax + 1),
    brand: null,
    text: { from: 'flow' as const, source: 'x' },
  }
  expect((await loadTemplate(stored)).variables).toHaveLength(variablesMax + 1)
})
