import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { getMessage } from '../../../test/support/messages.ts'
import { create } from '../../../test/support/resources.ts'
import { smallGif } from '../../../test/support/small-gif.ts'
import { startSharedApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { textOn } from './colors.ts'

const newApp = await startSharedApp()

const change = (app: TestApp, body: object) => app.manage('PATCH', '/organization/brand', body)
const get = async (app: TestApp) => (await app.manage('GET', '/organization/brand')).body.data

async function uploadLogo({ call, session }: TestApp) {
  const { body } = await call('POST', '/api/v1/organization/images?name=Logo', {
    headers: { authorization: `Bearer ${session}`, 'content-type': 'image/gif' },
    raw: smallGif,
  })
  return body.data as { id: string; url: string }
}

const html =
  '<body><a href="{{ brand.website_url | default: "https://example.com/" }}">{% if brand.logo_url %}<img src="{{ brand.logo_url }}" alt="{{ brand.name }}">{% else %}{{ brand.name }}{% endif %}</a><p style="color:{{ brand.color }}">{{ order_id }} "brand.color"</p><p>{{ brand.address }}</p></body>'

/** The HTML of an email that was sent through the flow. */
async function sendAndRead(app: TestApp, flowId: string): Promise<string> {
  const { message_id: id } = (await send(app, flowId)).body.data
  return until('the email', async () => (await getMessage(app, id)).html as string)
}

test('an empty brand has defaults, and a change of one field keeps the others', async () => {
  const app = await newApp()
  const defaults = { name: 'Acme', logo_url: null, color: '#1f5fa3', text_on_color: '#ffffff', address: null }
  expect(await get(app)).toMatchObject({ name: null, color: null, values: defaults, updated_at: null })

  const logo = await uploadLogo(app)
  await change(app, { logo_image_id: logo.id, color: '#FFCC00', font: 'georgia', website_url: 'acme.example' })
  const { body } = await change(app, { name: ' Acme Store ', postal_address: ' Main St 1,\r\n\r\n1010 Vienna ' })
  expect(body.data).toMatchObject({
    name: 'Acme Store',
    logo_image_id: logo.id,
    postal_address: 'Main St 1\n1010 Vienna',
    values: {
      name: 'Acme Store',
      logo_url: logo.url,
      color: '#ffcc00',
      text_on_color: '#101418',
      font: 'Georgia, Times, serif',
      address: 'Main St 1, 1010 Vienna',
      website_url: 'https://acme.example/',
    },
  })
  await change(app, { logo_image_id: null, color: null })
  expect((await get(app)).values).toMatchObject({ name: 'Acme Store', logo_url: null, color: '#1f5fa3' })
})

test('settings that would break templates, and images of other organizations, are rejected', async () => {
  const app = await newApp()
  const foreign = await uploadLogo(await newApp())
  expect((await change(app, { logo_image_id: foreign.id })).status).toBe(404)
  for (const [body, path] of [
    [{ color: 'red' }, 'color'],
    [{ color: '#12345"' }, 'color'],
    [{ font: 'Comic Sans' }, 'font'],
    [{ name: '{{ contact.email }}' }, 'name'],
    [{ postal_address: 'a\nb\nc\nd\ne\nf\ng' }, 'postal_address'],
    [{ website_url: 'javascript:alert(1)' }, 'website_url'],
    [{ website_url: 'our website' }, 'website_url'],
    // Encoded, each letter has six characters.
    [{ website_url: `https://acme.example/${'ü'.repeat(400)}` }, 'website_url'],
  ] as const) {
    const { status, body: answer } = await change(app, body)
    expect([status, answer.error.fields[0].path]).toEqual([422, path])
  }
})

test('a flow whose tags are too long with the values of the brand is rejected', async () => {
  const app = await newApp()
  const template = { subject: 'A', html: `<p>{{ brand.website_url${' | append: brand.website_url'.repeat(2)} }}</p>` }
  const flowId = await createFlow(app, template)
  await change(app, { website_url: `https://acme.example/${'a'.repeat(1_900)}` })
  const path = 'html'
  const problem = 'This tag has more than 4000 characters with the values of the brand.'
  const preview = await app.manage('POST', '/organization/flows/preview', template)
  expect(preview.body.data.problems).toMatchObject([{ path, problem }])
  const rebuilt = await app.manage('POST', `/organization/flows/${flowId}/rebuild`)
  expect([rebuilt.status, rebuilt.body.error.fields]).toMatchObject([422, [{ path, problem }]])
})

test('emails have the brand that their version was published with, until the flow is rebuilt', async () => {
  const app = await newApp()
  const flowId = await createFlow(app, { html, subject: 'News of {{ brand.name }} {{ order_id }}' })
  const first = await sendAndRead(app, flowId)
  expect(first).toContain('>Acme</a>')
  expect(first).toContain('<p style="color:#1f5fa3">1042 "brand.color"</p>')

  const logo = await uploadLogo(app)
  await change(app, { name: `Tom's "Acme" & <Co>`, color: '#aa0000', logo_image_id: logo.id, postal_address: 'A\nB' })
  expect((await get(app)).outdated_flows).toEqual([{ id: flowId, name: 'Order shipped' }])
  expect(await sendAndRead(app, flowId)).toContain('color:#1f5fa3')

  const rebuild = () => app.manage('POST', `/organization/flows/${flowId}/rebuild`)
  expect((await rebuild()).body.data.version).toBe(2)
  const second = await sendAndRead(app, flowId)
  expect(second).toContain(`<img src="${logo.url}" alt="Tom’s &#34;Acme&#34; &amp; &lt;Co&gt;">`)
  expect(second).toContain('<p style="color:#aa0000">')
  expect(second).toContain('<p>A, B</p>')
  expect((await get(app)).outdated_flows).toEqual([])
  expect((await rebuild()).body.data.version).toBe(2)
  const source = (await app.manage('GET', `/organization/flows/${flowId}`)).body.data
  expect([source.html, source.variables.map(({ name }: { name: string }) => name)]).toEqual([html, ['order_id']])
})

test('a preview and a test email have the current brand, and an unknown field of the brand is an error', async () => {
  const app = await newApp()
  const draft = { name: 'News', kind: 'marketing', subject: 'News', html: '<p>{{ brand.color }}</p>', draft: true }
  const { id } = await create(app, '/flows', draft)
  const testEmail = async () => {
    const { body } = await app.manage('POST', `/organization/flows/${id}/test`, {
      to: ['ada@example.com'],
      draft: true,
    })
    const { message_id: message } = body.data.emails[0]
    return until('the test', async () => (await getMessage(app, message)).html)
  }
  expect(await testEmail()).toContain('#1f5fa3')
  await change(app, { color: '#00aa00' })
  expect(await testEmail()).toContain('#00aa00')
  const preview = async (html: string) =>
    (await app.manage('POST', '/organization/flows/preview', { subject: 'A', html })).body.data
  expect((await preview('<p>{{ brand.color }}</p>')).html).toContain('#00aa00')
  expect((await preview('<p>{{ brand.colour }}</p>')).problems).toMatchObject([
    { path: 'html', problem: 'There is no brand.colour. Did you mean brand.color?' },
  ])
})

test('the unsubscribe page has the look of the brand', async () => {
  const app = await newApp()
  const logo = await uploadLogo(app)
  await change(app, { name: 'Acme Store', logo_image_id: logo.id, color: '#aa0000', postal_address: 'Main St 1' })
  await change(app, { background_color: '#fff5e6', font: 'georgia', website_url: 'https://acme.example/?a="><b>' })
  await app.manage('POST', '/organization/contacts', { email: 'ada@example.com' })
  const flowId = await createFlow(app, {
    kind: 'marketing',
    html: '<a href="{{ unsubscribe_url }}">x</a>',
    subject: 'A',
  })
  const { message_id: message } = (await send(app, flowId)).body.data
  const email = await until('the email', async () => {
    const { status, body } = await app.manage('GET', `/organization/inbox/${message}`)
    return status === 200 ? (body.data.html as string) : undefined
  })
  const path = /\/u\/[\w-]+/.exec(email)![0]
  const page = await fetch(`${app.url}${path}`)
  const text = await page.text()
  expect(text).toContain('Unsubscribe from Acme Store?')
  expect(text).toContain(`<img src="${new URL(logo.url).pathname}" alt="Acme Store"`)
  expect(text).toContain('--accent: #aa0000; --on-accent: #ffffff; --font: Georgia, Times, serif;')
  expect(text).toContain('--ground: #fff5e6;')
  expect(text).toContain('<a href="https://acme.example/?a=%22%3E%3Cb%3E" rel="noreferrer"><img')
  for (const style of ['red;} body{display:none', '</style><b>', 'url(//a)'])
    expect((await change(app, { background_color: style })).status).toBe(422)
  expect(text).toContain('Acme Store, Main St 1')
  expect(page.headers.get('content-security-policy')).toContain("img-src 'self'")
})

test('text on a colour is black or white, whichever is easier to read', () => {
  expect(['#000000', '#1f5fa3', '#ffffff', '#ffcc00', '#777777'].map(textOn)).toEqual([
    '#ffffff',
    '#ffffff',
    '#101418',
    '#101418',
    '#ffffff',
  ])
})
