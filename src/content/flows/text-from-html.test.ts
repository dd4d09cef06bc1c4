import { expect, test } from 'vitest'
import { compileTemplate } from './template.ts'
import { loadHtmlToText } from './text-from-html.ts'
import type { TemplateValues } from './values.ts'

const values: TemplateValues = {
  contact: { email: 'ada@example.com', firstName: 'Ada', lastName: null, attributes: {} },
  organization: { name: 'Analytical Engines' },
  unsubscribeUrl: 'https://mail.example.com/u/abc',
  context: {
    name: 'A & <B>',
    url: 'https://example.com/?a=1&b=2',
    items: [
      { name: 'Cards', price: 3 },
      { name: 'Gears & wheels', price: 5 },
    ],
    note: 'first\nsecond',
    html: '<p>One</p><p>Two</p>',
    no: false,
  },
}

async function textOf(html: string): Promise<{ text: string; from: string }> {
  const compilation = await compileTemplate({ subject: 'x', source: { format: 'html', text: html } })
  if (compilation.kind !== 'compiled') throw new Error(JSON.stringify(compilation.problems))
  return { text: compilation.template.render(values).text, from: compilation.template.stored.text.from }
}

test('text is converted from HTML with links and without escaping', async () => {
  const { text, from } = await textOf(`<html><head><title>T</title><style>p { color: red }</style></head><body>
    <h1>Dear {{ name }}</h1><p>See&nbsp;<a href="{{ url }}">your order</a> &amp; <b>smile</b>.</p>
    <p><a href="https://example.com/">https://example.com/</a> <a href="#top">Up</a></p>
    <img src="https://example.com/l.png" alt="Our logo"><script>alert(1)</script></body></html>`)
  expect(text).toBe(
    'Dear A & <B>\n\nSee\u00a0your order [https://example.com/?a=1&b=2] & smile.\n\nhttps://example.com/ Up\n\nOur logo',
  )
  expect(from).toBe('template')
})

test('table rows and list items are separate lines, and loops leave no gaps', async () => {
  const { text } = await textOf(`<p>You bought:</p>
    <table>{% for item in items %}<tr><td>{{ item.name }}</td><td>{{ item.price }}</td></tr>{% endfor %}</table>
    {% if no %}<p>Never</p>{% endif %}
    <ul>{% for item in items %}<li>{{ item.name }}</li>{% endfor %}</ul>{% if items %}<p>Thanks</p>{% endif %}`)
  expect(text).toBe('You bought:\n\nCards 3\nGears & wheels 5\n\n- Cards\n- Gears & wheels\n\nThanks')
})

test('a preheader starts the text, without its filler characters', async () => {
  const filler = '&nbsp;&zwnj;&#847;&#8199;'.repeat(30)
  const { text } = await textOf(`<body><div style="display:none">Two gears for you${filler}</div><p>Hello</p></body>`)
  expect(text).toBe('Two gears for you\n\nHello')
})

const alike = [
  '<p>{{ name }} {{ note }}</p>',
  '<div>{% if no %}<p>a</p>{% else %}<p>b {{ name }}</p>{% endif %}<p>c</p></div>',
  '<p>a {% if no %}x{% endif %} b</p>',
  '<p>{{ note | newline_to_br }}</p>',
  '<table><tr>{% for i in items %}<td>{{ i.name }}</td>{% endfor %}</tr></table>',
  '<a href="{% if no %}https://x.example{% else %}{{ url }}{% endif %}">go</a>',
  '{% assign n = name | upcase %}<p>{{ n }}</p>{% comment %}<p>gone</p>{% endcomment %}',
  '{% capture n %}<b>{{ name }}</b>{% endcapture %}<p>{{ n }}</p>',
  '<p>{%- if items -%} {{ items.size }} {%- endif -%}</p>',
  '{% if items %}<OL><li>{{ name }}</li><li>b {{ note }}</li></OL>{% endif %}{% if no %}x{% endif %}',
  '<blockquote>{{ note }}</blockquote><hr><p>{{ name }}</p>',
]

for (const html of alike) {
  test(`the derived text template equals the converted rendered HTML: ${html}`, async () => {
    const compilation = await compileTemplate({ subject: 'x', source: { format: 'html', text: html } })
    if (compilation.kind !== 'compiled') throw new Error(JSON.stringify(compilation.problems))
    const { template } = compilation
    expect(template.stored.text.from).toBe('template')
    const rendered = template.render(values)
    const words = (text: string) => text.split(/\s+/).join(' ').trim()
    expect(words(rendered.text)).toBe(words((await loadHtmlToText())(rendered.html)))
  })
}

test('the text is converted from the rendered HTML if a derived template could differ', async () => {
  const cases: [string, string][] = [
    ['{{ html | raw }}', 'One\n\nTwo'],
    ['<ol>{% for i in items %}<li>{{ i.name }}</li>{% endfor %}</ol>', '1. Cards\n 2. Gears & wheels'],
    ['<!-- {% if no %} --><p>a</p><!-- {% endif %} -->', ''],
    ['<style>{% if no %}p{}{% endif %}</style><p>a</p>', 'a'],
    ['<p>a</p>{{- name -}}<p>b</p>', 'a\n\nA & <B>\n\nb'],
    ['<pre>a   b {{ name }}</pre>', 'a   b A & <B>'],
  ]
  for (const [html, text] of cases) expect(await textOf(html)).toEqual({ text, from: 'html' })
})

test('the text of a flow is used unchanged', async () => {
  const compilation = await compileTemplate({
    subject: 'x',
    source: { format: 'html', text: '<p>a</p>' },
    text: '  {{ name }}\n\n\n\nb ',
  })
  if (compilation.kind !== 'compiled') throw new Error('faulty')
  expect(compilation.template.render(values).text).toBe('  A & <B>\n\n\n\nb ')
})

test('extremely nested elements are truncated', async () => {
  const { text } = await textOf(`<p>top</p>${'<div>'.repeat(50_000)}deep`)
  expect(text).toBe('top')
})

test('long runs of tabs take linear time', async () => {
  const html = '<p>{% if name %}{{ tabs }}{{ name }}{% endif %}</p>'
  const compilation = await compileTemplate({ subject: 'x', source: { format: 'html', text: html } })
  if (compilation.kind !== 'compiled') throw new Error('faulty')
  const context = { ...values.context, tabs: '\t'.repeat(400_000) }
  expect(compilation.template.render({ ...values, context }).text).toBe('A & <B>')
})

test('the preview of React Email and its fillers are left out of the text', async () => {
  const filler = '\u00a0\u200c\u200b\u200d\u200e\u200f\ufeff'.repeat(40)
  const preview = (marks: string) =>
    `<div style="display:none" ${marks}>Your order<div>${filler}</div></div><p>Hello Ada</p>`
  expect((await textOf(preview('data-skip-in-text="true"'))).text).toBe('Hello Ada')
  expect((await textOf(preview(''))).text).toBe('Your order\n\nHello Ada')
})
