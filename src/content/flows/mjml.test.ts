import { expect, test } from 'vitest'
import { compileTemplate } from './template.ts'
import type { TemplateValues } from './values.ts'

const compile = (html: string) => compileTemplate({ subject: 'x', source: { format: 'mjml', text: html } })

const values: TemplateValues = {
  contact: { email: 'ada@example.com', firstName: 'Ada', lastName: null, attributes: {} },
  organization: { name: 'Analytical Engines' },
  unsubscribeUrl: 'https://mail.example.com/u/abc',
  context: { items: [{ name: 'Cards' }, {}], color: '#123456', width: 200, url: 'https://example.com/', count: 2 },
}

test('MJML compiles to HTML with working Liquid tags, also with a < in a tag', async () => {
  const compilation = await compile(`<mjml>
    <mj-head><mj-preview>For {{ first_name }}</mj-preview></mj-head>
    <mj-body><mj-section><mj-column>
      <mj-raw>{% for item in items %}</mj-raw>
      <mj-text color="{{ color }}">[{{ item.name | default: "a<b" }}]{% if count < 3 %}[few]{% endif %}</mj-text>
      <mj-raw>{% endfor %}</mj-raw>
      <mj-button href="{{ url }}" width="{{ width }}px">Go</mj-button>
    </mj-column></mj-section></mj-body></mjml>`)
  if (compilation.kind !== 'compiled') throw new Error(JSON.stringify(compilation.problems))
  const { html, text } = compilation.template.render(values)
  expect(html).toContain('[Cards][few]')
  expect(html).toContain('[a&lt;b][few]')
  expect(html).toContain('color:#123456')
  expect(html).toContain('width:200px')
  expect(html).toMatch(/<a\s[^>]*href="https:\/\/example.com\/"/)
  expect(html).not.toMatch(/<mj-|liquidtag|\{%|\{\{/)
  expect(text).toBe('For Ada\n\n[Cards][few]\n\n[a<b][few]\n\nGo [https://example.com/]')
})

test('an email loads no font from another server unless the MJML asks for it', async () => {
  const body = '<mj-body><mj-section><mj-column><mj-text>Hi</mj-text></mj-column></mj-section></mj-body>'
  const htmlOf = async (source: string) => {
    const compilation = await compile(source)
    if (compilation.kind !== 'compiled') throw new Error(JSON.stringify(compilation.problems))
    return compilation.template.render(values).html
  }
  expect(await htmlOf(`<mjml>${body}</mjml>`)).not.toMatch(/googleapis|@import|<link/)
  const head = `<mj-head><mj-font name="Lato" href="https://fonts.example.com/lato.css" />
    <mj-attributes><mj-all font-family="Lato, sans-serif" /></mj-attributes></mj-head>`
  expect(await htmlOf(`<mjml>${head}${body}</mjml>`)).toContain('@import url(https://fonts.example.com/lato.css)')
})

test('MJML errors and dropped tags are reported with line and column', async () => {
  const compilation = await compile(`<mjml><mj-body>
{% if
   a %}
<mj-section><mj-nosuch></mj-nosuch><mj-column colour="red"></mj-column></mj-section>
  {% endif %}
</mj-body></mjml>`)
  if (compilation.kind !== 'faulty') throw new Error('compiled')
  const found = compilation.problems.map(({ line, column, message }) => `${line}:${column} ${message}`)
  expect(found).toEqual([
    "4:13 mj-nosuch: Element mj-nosuch doesn't exist or is not registered.",
    '4:36 mj-column: Attribute colour is illegal.',
    expect.stringMatching(/^2:1 MJML does not allow \{% if/),
    expect.stringMatching(/^5:3 MJML does not allow \{% endif %\} here/),
  ])
})

test('mj-include is rejected before compilation', async () => {
  const compilation = await compile('<mjml><mj-body>\n  <mj-include path="/etc/passwd" type="html" /></mj-body></mjml>')
  const message = 'mj-include is not available: templates cannot include others.'
  expect(compilation).toEqual({ kind: 'faulty', problems: [{ part: 'html', line: 2, column: 3, message }] })
})

test('invalid or too deeply nested MJML is rejected', async () => {
  expect(await compile('hello')).toMatchObject({ problems: [{ part: 'html', line: 1, column: 1 }] })
  const deep = `<mjml><mj-body>${'<mj-wrapper>'.repeat(15_000)}</mj-body></mjml>`
  expect(await compile(deep)).toMatchObject({ problems: [{ message: 'It is nested too deeply.' }] })
})
