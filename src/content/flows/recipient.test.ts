import { expect, test } from 'vitest'
import { recipientOf, snapshotOf } from './recipient.ts'
import { compileTemplate } from './template.ts'
import type { TemplateValues } from './values.ts'

const values: TemplateValues = {
  contact: {
    email: 'ada@example.com',
    firstName: 'Ada',
    lastName: null,
    attributes: { plan: 'pro', city: 'London', x: { y: 1 } },
  },
  organization: { name: 'Acme' },
  unsubscribeUrl: 'https://mail.example.com/u/abc',
  time: Date.UTC(2026, 0, 2),
  context: { key: 'plan' },
}

async function compiled(html: string) {
  const compilation = await compileTemplate({ subject: 'Hello', source: { format: 'html', text: html } })
  if (compilation.kind !== 'compiled') throw new Error(compilation.problems[0]?.message)
  return compilation.template
}

test.each([
  ['<p>Hello</p>', {}],
  ['{{ plan }}', { plan: 'pro' }],
  ['{{ contact.attributes.city | upcase }}', { city: 'London' }],
  ['{{ contact["attributes"]["x"]["y"] }}', { x: { y: 1 } }],
  ['{% if plan == "pro" %}{{ x.y }}{% endif %}', { plan: 'pro', x: { y: 1 } }],
  ['{% assign plan = plan | default: "free" %}{{ plan }}', { plan: 'pro' }],
  ['{% for city in cities %}{{ city }}{% endfor %}{{ city }}', { city: 'London' }],
  ['<!--[if mso]><i><![endif]-->{{ plan }}', { plan: 'pro' }],
  ['{{ contact.attributes[key] }}', values.contact.attributes],
  ['{{ contact.attributes | json }}', values.contact.attributes],
  ['{{ contact | json }}', values.contact.attributes],
  ['{% for pair in contact.attributes %}{{ pair[0] }}{% endfor %}', values.contact.attributes],
])('%s keeps what it reads and renders the same from the snapshot', async (html, attributes) => {
  const template = await compiled(html)
  const snapshot = snapshotOf(template.recipientFields, values)
  expect(snapshot.attributes ?? {}).toEqual(attributes)
  const restored = { ...values, ...recipientOf('ada@example.com', JSON.parse(JSON.stringify(snapshot))) }
  expect(template.render(restored)).toEqual(template.render(values))
})

test('the name of the organization is kept only if the template shows it', async () => {
  expect(snapshotOf((await compiled('{{ organization.name }}')).recipientFields, values).organization).toBe('Acme')
  expect(snapshotOf((await compiled('{{ name }}')).recipientFields, values).organization).toBeUndefined()
})

test('"now" is the given time', async () => {
  const template = await compiled('{{ "now" | date: "%Y-%m-%d" }} {{ "today" | date: "%Y" }}')
  expect(template.render(values).html).toBe('2026-01-02 2026')
})
