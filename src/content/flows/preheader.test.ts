import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { startSharedApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'

const newApp = await startSharedApp()

async function sendAndRead(app: TestApp, flowId: string): Promise<{ html: string; text: string }> {
  const { message_id: id } = (await send(app, flowId)).body.data
  return until('the email', async () => {
    const { data } = (await app.manage('GET', `/organization/messages/${id}`)).body
    return data.html ? data : undefined
  })
}

test('the preheader is hidden at the start of the body, in HTML and MJML, and not in the text', async () => {
  const app = await newApp()
  const preheader = 'Order {{ order_id }}: <tea> & cake'
  const shown = 'mso-hide:all">Order 1042: &lt;tea&gt; &amp; cake&#847;'
  const mjml =
    '<mjml><mj-body><mj-section><mj-column><mj-text>Hello</mj-text></mj-column></mj-section></mj-body></mjml>'
  for (const flow of [
    { html: '<html><body class="a">Hello</body></html>' },
    { html: '<p>Hello</p>' },
    // Its text is converted when it is sent.
    { html: '<pre>Hello</pre>' },
    { html: mjml, html_format: 'mjml' },
  ]) {
    const id = await createFlow(app, { ...flow, preheader })
    const { html, text } = await sendAndRead(app, id)
    expect(html).toContain(shown)
    expect(html.indexOf(shown)).toBeLessThan(html.indexOf('Hello'))
    expect(html.indexOf(shown)).toBeGreaterThan(html.indexOf('<body'))
    expect(text.trim()).toBe('Hello')
  }
})

test('the preheader is part of a version, a draft and a preview, and its problems are located', async () => {
  const app = await newApp()
  const id = await createFlow(app, { preheader: 'First' })
  const flow = async () => (await app.manage('GET', `/organization/flows/${id}`)).body.data
  expect(await flow()).toMatchObject({ version: 1, preheader: 'First' })
  await app.manage('PUT', `/organization/flows/${id}/draft`, { preheader: 'Second' })
  expect((await app.manage('POST', `/organization/flows/${id}/publish`)).body.data).toMatchObject({
    version: 2,
    preheader: 'Second',
  })
  const { data: earlier } = (await app.manage('GET', `/organization/flows/${id}/versions/1`)).body
  expect(earlier.preheader).toBe('First')
  await app.manage('PATCH', `/organization/flows/${id}`, { preheader: '' })
  expect(await flow()).toMatchObject({ version: 3, preheader: null })

  const preview = async (preheader: string) =>
    (await app.manage('POST', '/organization/flows/preview', { subject: 'A', html: '<p>B</p>', preheader })).body.data
  expect((await preview('Hi {{ name }}')).variables).toEqual([{ name: 'name', has_default: false }])
  expect((await preview('Hi {{ name')).problems).toMatchObject([{ path: 'preheader', line: 1 }])
  expect((await preview('x'.repeat(301))).problems).toMatchObject([
    { path: 'preheader', problem: 'The preheader has more than 300 characters.' },
  ])
  const full = { subject: 'A', html: '{{ a }}'.repeat(5_000), text: 'B', preheader: '{{ a }}' }
  const { problems } = (await app.manage('POST', '/organization/flows/preview', full)).body.data
  expect(problems).toMatchObject([{ path: 'html', problem: 'The template has more than 5000 tags.' }])
})
