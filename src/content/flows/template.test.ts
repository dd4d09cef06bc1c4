import { expect, onTestFinished, test } from 'vitest'
import { compileTemplate, loadTemplate } from './template.ts'
import type { TemplateValues } from './values.ts'
import { missingVariables, unusedContextKeys } from './variables.ts'

const unsubscribeUrl = 'https://mail.example.com/u/abc'

function valuesOf(
  context: Record<string, unknown> = {},
  contact: Partial<TemplateValues['contact']> = {},
): TemplateValues {
  return {
    contact: { email: 'ada@example.com', firstName: 'Ada', lastName: null, attributes: { plan: 'pro' }, ...contact },
    organization: { name: 'Analytical Engines' },
    unsubscribeUrl,
    context,
  }
}

type Given = { subject?: string; html?: string; text?: string | null }

const compile = ({ html = '<p>Hello</p>', ...given }: Given) =>
  compileTemplate({ subject: 'Hello', source: { format: 'html', text: html }, ...given })

async function compiled(given: Given) {
  const compilation = await compile(given)
  if (compilation.kind === 'faulty') throw new Error(JSON.stringify(compilation.problems))
  return compilation.template
}

async function problemsOf(given: Given) {
  const compilation = await compile(given)
  return compilation.kind === 'faulty' ? compilation.problems : []
}

async function htmlOf(html: string, context?: Record<string, unknown>): Promise<string> {
  return (await compiled({ html })).render(valuesOf(context)).html
}

const requirements = (template: Awaited<ReturnType<typeof compiled>>) =>
  Object.fromEntries(template.variables.map(({ name, hasDefault }) => [name, hasDefault ? 'optional' : 'needed']))

test('values are escaped in HTML, but not in the subject and the text', async () => {
  const template = await compiled({
    subject: 'For {{ name }}',
    html: '<p title="{{ name }}">{{ name }}</p>',
    text: '{{ name }}',
  })
  const name = `<b>"O'Neil" & Co</b>`
  const escaped = '&lt;b&gt;&#34;O&#39;Neil&#34; &amp; Co&lt;/b&gt;'
  expect(template.render(valuesOf({ name }))).toEqual({
    subject: `For ${name}`,
    html: `<p title="${escaped}">${escaped}</p>`,
    text: name,
  })
})

test('values escaped by the template or marked as HTML are not escaped again', async () => {
  expect(await htmlOf('{{ x | escape }} {{ x | escape_once }} {{ x | raw }}', { x: 'a & b' })).toBe(
    'a &amp; b a &amp; b a & b',
  )
  expect(await htmlOf('{{ x | newline_to_br }}', { x: 'a <\nb' })).toBe('a &lt;<br />\nb')
  expect(await htmlOf('{% capture x %}<b>{{ y }}</b>{% endcapture %}{{ x }}', { y: '&' })).toBe('<b>&amp;</b>')
})

test('a captured value is escaped after a filter', async () => {
  const html = await htmlOf('{% capture x %}<b>{{ y }}</b>{% endcapture %}{{ x | downcase }} {{ x.size }}', { y: 'A' })
  expect(html).toBe('&lt;b&gt;a&lt;/b&gt; 8')
})

test('filters never produce HTML in a subject or text', async () => {
  const template = await compiled({
    subject: '{{ x | escape }}',
    text: '{{ x | newline_to_br }} {{ x | escape_once }}',
  })
  expect(template.render(valuesOf({ x: 'a & b' }))).toMatchObject({ subject: 'a & b', text: 'a & b a & b' })
})

test('a subject that is too long is truncated between two characters', async () => {
  const template = await compiled({ subject: '!{{ x }}' })
  expect(template.render(valuesOf({ x: '🦜'.repeat(2_000) })).subject).toBe(`!${'🦜'.repeat(997)}`)
})

test('a subject is a single line for any values', async () => {
  const template = await compiled({ subject: 'Order\n{{ x }}\r\n' })
  expect(template.render(valuesOf({ x: 'a\r\nBcc: b@example.com\u0000\u2028c' })).subject).toBe(
    'Order a Bcc: b@example.com c',
  )
})

test('context keys take precedence over the contact, but not over reserved names', async () => {
  const html =
    '{{ first_name }} {{ context.order }} {{ order }} {{ contact.first_name }} {{ organization.name }} {{ email }}'
  const context = {
    first_name: 'Augusta',
    order: 7,
    contact: 'x',
    organization: { name: 'y' },
    unsubscribe_url: 'z',
    email: null,
  }
  expect(await htmlOf(html, context)).toBe('Augusta 7 7 Ada Analytical Engines ada@example.com')
  expect(await htmlOf('{{ email }} {{ last_name }}', { email: 'a@b.c', last_name: 'L' })).toBe('a@b.c L')
  expect(await htmlOf('{{ unsubscribe_url }} {{ contact.attributes.plan }}', context)).toBe(`${unsubscribeUrl} pro`)
})

test('contact attributes are available at the top level with the lowest precedence', async () => {
  const contact = {
    attributes: JSON.parse(
      '{"plan":"pro","seats":3,"color":"red","first_name":"x","last_name":"x","contact":"x","unsubscribe_url":"x","__proto__":{"a":1}}',
    ),
  }
  const template = await compiled({
    html: '{{ plan }} {{ seats }} {{ color }} {{ first_name }} [{{ last_name | default: "" }}] {{ contact.email }} {{ unsubscribe_url }} [{{ a | default: "" }}]',
  })
  const values = valuesOf({ seats: 4, color: null }, contact)
  expect(template.render(values).html).toBe(`pro 4 red Ada [] ada@example.com ${unsubscribeUrl} []`)
  expect(missingVariables(template, values)).toEqual([])
  expect(missingVariables(template, valuesOf({}, { attributes: { plan: null } }))).toEqual(['plan', 'seats', 'color'])
})

test('lists are shown element by element, objects as JSON, nil as nothing', async () => {
  expect(
    await htmlOf('{{ a }}|{{ b | raw }}|{{ c }}|{{ d }}', { a: [1, [2, 'x']], b: { k: 1 }, c: null, d: false }),
  ).toBe('12x|{"k":1}||false')
})

test('inherited properties are inaccessible', async () => {
  const context = JSON.parse('{"__proto__": {"a": 1}, "list": [], "o": {}}')
  const html = '[{{ a }}][{{ constructor }}][{{ list.constructor.name }}][{{ o.toString }}][{{ o.__proto__ }}]'
  expect(await htmlOf(html, context)).toBe('[][][][][]')
})

test('dates are formatted in UTC and English on every machine', async () => {
  const zone = process.env.TZ
  process.env.TZ = 'Asia/Tokyo'
  onTestFinished(() => {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
  })
  expect(await htmlOf('{{ "2026-03-01T23:30:00+02:00" | date: "%A %d %B %Y %H:%M %z" }}')).toBe(
    'Sunday 01 March 2026 21:30 +0000',
  )
})

test('all errors are reported at once, with part, line and column', async () => {
  const problems = await problemsOf({
    subject: 'Hello {{ name',
    html: '<p>\n  {{ a | nofilter }}\n  {% include "footer" %}{{ b }}\n{% nosuch %}{% if a %}\n{{ | }}',
    text: '{{ a }}\n{% endif %}',
  })
  expect(problems.map(({ part, line, column }) => `${part} ${line}:${column}`)).toEqual([
    'subject 1:7',
    'html 2:3',
    'html 3:3',
    'html 4:1',
    'html 5:4',
    'html 4:13',
    'text 2:1',
  ])
  expect(problems[1]?.message).toBe('Unknown filter "nofilter".')
  expect(problems[2]?.message).toBe('The tag "include" is not available: templates cannot include others.')
  expect(problems[5]?.message).toBe('{% if a %} is never closed.')
})

test('tags that read files are rejected', async () => {
  for (const tag of ["{% include 'a' %}", "{% render 'a' %}", "{% layout 'a' %}", '{% block a %}{% endblock %}'])
    expect((await problemsOf({ html: tag }))[0]?.message).toMatch(/templates cannot include others/)
})

test('filters that evaluate code are unknown', async () => {
  expect((await problemsOf({ html: '{{ a | where_exp: "x", "x == 1" }}' }))[0]?.message).toBe(
    'Unknown filter "where_exp".',
  )
})

test('an empty or oversized part is rejected', async () => {
  expect((await problemsOf({ subject: ' ' }))[0]?.message).toBe('The subject is empty.')
  expect((await problemsOf({ html: '' }))[0]?.message).toBe('The HTML is empty.')
  expect((await problemsOf({ subject: 'x'.repeat(999) }))[0]).toMatchObject({ part: 'subject', line: 1, column: 1 })
  expect((await problemsOf({ html: 'é'.repeat(250_001) }))[0]).toMatchObject({
    part: 'html',
    message: 'It exceeds 500 KB.',
  })
  expect((await problemsOf({ text: 'x'.repeat(500_001) }))[0]).toMatchObject({ part: 'text' })
})

test('a variable is optional if every use has a default, is a condition, or is inside a condition on it', async () => {
  const html = `
    {{ needed }} {{ defaulted | default: "x" }} {{ both | default: "x" }} {{ both }}
    {% if tested %}{{ tested }}{{ tested.inner }}{{ other }}{% endif %}
    {% unless absent %}{% else %}{{ absent }}{% endunless %}
    {% if a and b.size > 0 %}{{ a }}{{ b[0].name }}{% elsif c == "x" %}{{ c }}{{ a2 }}{% endif %}
    {% if d == nil %}{% else %}{{ d }}{% endif %} {% if e != "" %}{{ e }}{% endif %} {% if f or g %}{{ f }}{% endif %}
    {% case kind %}{% when "new" %}{{ kind }}{% endcase %}
    {% for item in items %}{{ item.name }}{{ forloop.index }}{{ items.size }}{% endfor %}
    {% assign total = price | times: 2 %}{{ total }} {% assign who = nick | default: "you" %}{{ who }}
    {{ order["id"] }} {{ list[0] }} {{ map[key].x }} {{ text | append: suffix }} {% for i in (1..count) %}{% endfor %}`
  expect(requirements(await compiled({ html }))).toEqual({
    needed: 'needed',
    defaulted: 'optional',
    both: 'needed',
    tested: 'optional',
    'tested.inner': 'optional',
    other: 'needed',
    absent: 'optional',
    a: 'optional',
    'b.size': 'optional',
    'b[0].name': 'optional',
    c: 'optional',
    a2: 'needed',
    d: 'optional',
    e: 'needed',
    f: 'needed',
    g: 'optional',
    kind: 'optional',
    items: 'optional',
    'items.size': 'optional',
    price: 'needed',
    nick: 'optional',
    'order.id': 'needed',
    'list[0]': 'needed',
    map: 'needed',
    key: 'needed',
    text: 'needed',
    suffix: 'needed',
    count: 'optional',
  })
})

test('a field that no contact or organization has is reported with its place and a suggestion', async () => {
  const problems = await problemsOf({
    subject: 'Hi {{ contact.frist_name }}',
    html: '<p>\n  {% if contact.plan == "pro" %}{{ contact["firstName"] }}{% endif %}</p>',
    text: '{{ organization.nam }} {{ x | default: contact.name }} {{ contact["a b"] }} {{ contact.unsubscribe_url }}',
  })
  expect(problems.map(({ part, line, column, message }) => `${part} ${line}:${column} ${message}`)).toEqual([
    'subject 1:7 There is no contact.frist_name. Did you mean contact.first_name?',
    'html 2:9 There is no contact.plan. Did you mean contact.attributes.plan?',
    'html 2:36 There is no contact.firstName. Did you mean contact.first_name?',
    'text 1:4 There is no organization.nam. Did you mean organization.name?',
    'text 1:40 There is no contact.name. Did you mean contact.first_name?',
    'text 1:59 There is no contact.a b.',
    'text 1:80 There is no contact.unsubscribe_url. Did you mean unsubscribe_url?',
  ])
  const allowed = `{{ contact.email.size }}{{ contact.attributes.a.b }}{{ contact[key] }}{{ context.contact.plan }}
    {% for contact in contacts %}{{ contact.plan }}{% endfor %}{% assign organization = x %}{{ organization.town }}`
  expect(await problemsOf({ html: allowed })).toEqual([])
})

test('a stored template with a field that no contact has still renders', async () => {
  const template = await loadTemplate({
    subject: 'Hi',
    html: '{% if contact.plan == "pro" %}Pro{% else %}Free{% endif %}',
    text: { from: 'html' },
    brand: null,
  })
  expect(template.render(valuesOf()).html).toBe('Free')
  const strict = await loadTemplate({
    subject: 'Hi {{ contact.frist_name }}',
    html: 'x',
    text: { from: 'html' },
    brand: null,
  })
  expect(missingVariables(strict, valuesOf())).toEqual(['contact.frist_name'])
})

test('missing variables are provided by neither context nor contact', async () => {
  const template = await compiled({
    subject: '{{ order.id }} {{ first_name }} {{ last_name }}',
    html: '{{ contact.attributes.plan }} {{ contact.attributes.seats }} {{ organization.name }} {{ unsubscribe_url }} {{ note }} {{ no }}',
  })
  expect(missingVariables(template, valuesOf())).toEqual([
    'order.id',
    'last_name',
    'contact.attributes.seats',
    'note',
    'no',
  ])
  const contact = { lastName: 'Lovelace', attributes: { plan: 'x', seats: 0 } }
  expect(missingVariables(template, valuesOf({ order: { id: 1 }, note: '', no: false }, contact))).toEqual([])
  expect(missingVariables(template, valuesOf({ order: null, note: null, no: 0 }, contact))).toEqual([
    'order.id',
    'note',
  ])
})

test('a variable used as a default is missing only if both are', async () => {
  const template = await compiled({ html: '{{ nickname | default: alias | default: title }}' })
  expect(missingVariables(template, valuesOf())).toEqual(['title'])
  expect(missingVariables(template, valuesOf({ nickname: 'Al' }))).toEqual([])
  expect(missingVariables(template, valuesOf({ alias: 'Al' }))).toEqual([])
  expect(missingVariables(template, valuesOf({ nickname: '' }))).toEqual(['title'])
})

test('unused context keys are listed', async () => {
  const template = await compiled({
    html: '{{ a }}{% for x in list %}{{ x }}{% endfor %}{{ context.b }}{{ contact.email }}',
  })
  expect(unusedContextKeys(template, { a: 1, list: [], b: 1, x: 1, c: 1, contact: 1 })).toEqual(['x', 'c', 'contact'])
  const whole = await compiled({ html: '{{ context | json }}' })
  expect(unusedContextKeys(whole, { a: 1 })).toEqual([])
})

test('a stored template survives JSON and renders the same after it is loaded', async () => {
  const template = await compiled({
    subject: 'A {{ a }}',
    html: '<ol>{% for i in list %}<li>{{ i }}</li>{% endfor %}</ol>{{ a }}',
  })
  const loaded = await loadTemplate(JSON.parse(JSON.stringify(template.stored)))
  const values = valuesOf({ a: '<1>', list: ['x', 'y'] })
  expect(loaded.render(values)).toEqual(template.render(values))
  expect(loaded.variables).toEqual(template.variables)
})

test('increment starts from zero in each part of each email', async () => {
  const template = await compiled({ subject: '{% increment n %}', html: '{% increment n %}{% increment n %}' })
  expect(template.render(valuesOf())).toMatchObject({ subject: '0', html: '01' })
  expect(template.render(valuesOf())).toMatchObject({ subject: '0', html: '01' })
})

test('a break outside of a loop ends the part', async () => {
  expect(await htmlOf('a{{ x }}{% break %}b{{ x }}', { x: 1 })).toBe('a1')
})

test('a value that the template cannot handle is rejected with the position', async () => {
  const template = await compiled({ html: '<p>\n{{ x | base64_decode }}</p>' })
  expect(() => template.render(valuesOf({ x: '!' }))).toThrow(
    expect.objectContaining({
      name: 'Refusal',
      type: 'validation_failed',
      fields: [{ path: 'html', problem: 'line 2, column 1: Invalid base64 provided to base64_decode.' }],
    }),
  )
})
