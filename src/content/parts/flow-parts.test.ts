import { expect, test } from 'vitest'
import { createFlow } from '../../../test/support/flows.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { withParts } from '../flows/with-parts.ts'

const newApp = await startSharedApp({}, ['serve'])

const create = (app: TestApp, name: string, html: string) =>
  app.manage('POST', '/organization/flow-parts', { name, html })
const preview = async (app: TestApp, body: object) =>
  (await app.manage('POST', '/organization/flows/preview', { subject: 'A', ...body })).body.data

test('a flow includes the text that its part had when it was published, until it is rebuilt', async () => {
  const app = await newApp()
  const part = (await create(app, 'footer', '<p>Bye {{ name }},\n{{ brand.name }}</p>')).body.data
  const flowId = await createFlow(app, { name: 'News', subject: 'A', html: `<p>Hi</p>{% part "footer" %}` })
  const flow = async () => (await app.manage('GET', `/organization/flows/${flowId}`)).body.data
  expect(await flow()).toMatchObject({
    version: 1,
    html: `<p>Hi</p>{% part "footer" %}`,
    variables: [{ name: 'name' }],
  })
  const stored = async () =>
    app.db<{ html: string }>`
      select versions.html from flows
      join flow_versions versions on versions.organization_id = flows.organization_id and versions.id = flows.version_id
      where flows.name = 'News'`
  expect(await stored()).toEqual([{ html: '<p>Hi</p><p>Bye {{ name }}, {{ brand.name }}</p>' }])

  const changed = await app.manage('PATCH', `/organization/flow-parts/${part.id}`, { html: '<p>See you</p>' })
  expect(changed.body.data.html).toBe('<p>See you</p>')
  expect((await preview(app, { html: '{% part "footer" %}' })).html).toBe('<p>See you</p>')
  expect((await stored())[0]!.html).toContain('Bye')
  const details = (await app.manage('GET', `/organization/flow-parts/${part.id}`)).body.data
  expect(details).toMatchObject({ html: '<p>See you</p>', flows: [{ id: flowId, name: 'News' }] })
  const { html: _html, flows: _flows, ...summary } = details
  expect((await app.manage('GET', '/organization/flow-parts')).body.data).toEqual([summary])
  await app.manage('POST', `/organization/flows/${flowId}/rebuild`)
  expect([(await flow()).version, await stored()]).toEqual([2, [{ html: '<p>Hi</p><p>See you</p>' }]])

  // A published flow does not need the part any more, but cannot be published again.
  expect((await app.manage('DELETE', `/organization/flow-parts/${part.id}`)).status).toBe(200)
  expect((await app.manage('POST', `/organization/flows/${flowId}/preview`, {})).body.data.problems).toHaveLength(1)
  expect((await app.manage('POST', `/organization/flows/${flowId}/rebuild`)).status).toBe(422)
  expect((await flow()).version).toBe(2)
})

test('parts of MJML are compiled with the template, and problems are located in it', async () => {
  const app = await newApp()
  const section = '<mj-section>\n<mj-column>\n<mj-text>Bye</mj-text>\n</mj-column>\n</mj-section>'
  await create(app, 'bye', section)
  const template = (body: string) => ({ html: `<mjml>\n<mj-body>\n${body}\n</mj-body>\n</mjml>`, html_format: 'mjml' })
  expect((await preview(app, template('{% part "bye" %}'))).html).toContain('>Bye</div>')
  expect((await preview(app, template("{%- part 'bye' -%}\n<mj-nothing />"))).problems).toMatchObject([{ line: 4 }])
  expect((await preview(app, template('{% part "no" %}'))).problems).toMatchObject([
    { path: 'html', line: 3, column: 1, problem: 'There is no part "no".' },
  ])
  const other = await newApp()
  expect((await preview(other, { html: '{% part "bye" %}' })).problems).toHaveLength(1)
})

test('invalid parts are rejected, and a template can include a limited number', async () => {
  const app = await newApp()
  expect((await create(app, 'footer', '<p>1</p>')).status).toBe(201)
  expect((await create(app, 'footer', '<p>2</p>')).status).toBe(409)
  for (const [name, html, path] of [
    ['Footer', '<p></p>', 'name'],
    ['a"b', '<p></p>', 'name'],
    ['a', ' ', 'html'],
    ['a', '{% part "footer" %}', 'html'],
    ['a', '{% if x %}', 'html'],
    ['a', '{{ contact.frist_name }}', 'html'],
  ] as const) {
    const { status, body } = await create(app, name, html)
    expect([name, html, status, body.error.fields[0].path]).toEqual([name, html, 422, path])
  }
  const many = (count: number) => preview(app, { html: '{% part "footer" %}'.repeat(count) })
  expect((await many(50)).problems).toEqual([])
  expect((await many(51)).problems).toMatchObject([{ problem: 'A template can include 50 parts.' }])
  const large = 'x'.repeat(90_000)
  await create(app, 'large', large)
  expect((await preview(app, { html: '{% part "large" %}'.repeat(6) })).problems).toMatchObject([
    { problem: 'It exceeds 500 KB.' },
  ])
  // The text is not built before.
  const parts = new Map([['large', large]])
  expect(withParts('{% part "large" %}'.repeat(50), parts)).toMatchObject([{ message: 'It exceeds 500 KB.' }])
  expect(withParts('{% part "large" %}'.repeat(5), parts)).toBe(large.repeat(5))
})

test('a large part is checked in a task process', async () => {
  await using app = await startTestApp({}, ['serve'])
  const compiled = async () => {
    const { text } = await app.call('GET', '/metrics')
    return Number(/waxwing_tasks_total\{task="flows.compile",outcome="done"\} (\d+)/.exec(text)?.[1] ?? 0)
  }
  const html = '{{ name }}'.repeat(2_000)
  const { id } = (await create(app, 'large', html)).body.data
  const changed = await app.manage('PATCH', `/organization/flow-parts/${id}`, { html: `${html}\n{{ name | none }}` })
  expect([changed.status, changed.body.error.fields]).toEqual([
    422,
    [{ path: 'html', line: 2, column: 1, problem: 'Unknown filter "none".' }],
  ])
  await until('the tasks to be counted', async () => (await compiled()) === 2)
})
