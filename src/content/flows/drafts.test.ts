import { afterAll, beforeAll, expect, test } from 'vitest'
import { createFlow, orderFlow, send } from '../../../test/support/flows.ts'
import { getMessage } from '../../../test/support/messages.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app[Symbol.asyncDispose]())

const call = (method: string, path: string, body?: object) => app.manage(method, `/organization/flows${path}`, body)
const read = async (id: string) => (await call('GET', `/${id}`)).body.data
/** Sends through the flow and returns the subject and version of the message. */
async function sent(flowId: string) {
  const answer = await send(app, flowId)
  if (answer.status !== 200) return [answer.status, answer.body.error.type]
  const { data } = (await app.manage('GET', `/organization/messages/${answer.body.data.message_id}`)).body
  return [data.subject, data.flow_version]
}

test('sends use the published version until the draft is published', async () => {
  const id = await createFlow(app)
  expect(await read(id)).toMatchObject({ draft: null, version: 1 })
  expect((await call('GET', `/${id}/draft`)).status).toBe(404)
  expect((await call('POST', `/${id}/publish`)).status).toBe(409)
  expect((await call('DELETE', `/${id}/draft`)).status).toBe(404)

  const saved = await call('PUT', `/${id}/draft`, { subject: 'Draft {{ order_id }}', kind: 'marketing' })
  expect(saved.status).toBe(200)
  expect(saved.body.data).toMatchObject({
    ...orderFlow,
    flow_id: id,
    subject: 'Draft {{ order_id }}',
    kind: 'marketing',
    revision: 1,
    base_version: 1,
    updated_by: 'owner@acme.example',
  })
  expect(await read(id)).toMatchObject({ ...orderFlow, version: 1, draft: { revision: 1, base_version: 1 } })
  const listed = (await call('GET', '')).body.data.find((flow: { id: string }) => flow.id === id)
  expect(listed).toMatchObject({ kind: 'transactional', subject: orderFlow.subject, draft: { revision: 1 } })
  expect(await sent(id)).toEqual(['Order 1042 is on its way', 1])
  await call('PUT', `/${id}/draft`, { kind: 'transactional' })

  const published = await call('POST', `/${id}/publish`)
  expect(published.body.data).toMatchObject({
    subject: 'Draft {{ order_id }}',
    version: 2,
    draft: null,
    status: 'active',
  })
  expect(await sent(id)).toEqual(['Draft 1042', 2])

  await call('PUT', `/${id}/draft`, { subject: 'Never', name: 'Never' })
  expect((await call('DELETE', `/${id}/draft`)).status).toBe(200)
  expect(await read(id)).toMatchObject({
    name: orderFlow.name,
    subject: 'Draft {{ order_id }}',
    version: 2,
    draft: null,
  })
})

test('a flow created as a draft sends nothing until it is published', async () => {
  const made = await call('POST', '', { ...orderFlow, html: '<p>{% if %}</p>', draft: true })
  expect([made.status, made.body.data]).toMatchObject([
    201,
    { ...orderFlow, html: '<p>{% if %}</p>', status: 'draft', version: 0, variables: [], draft: { revision: 1 } },
  ])
  const { id } = made.body.data
  expect(await sent(id)).toEqual([409, 'flow_not_active'])
  for (const change of [{ status: 'active' }, { subject: 'Hello' }])
    expect((await call('PATCH', `/${id}`, change)).status).toBe(409)
  expect((await call('DELETE', `/${id}/draft`)).status).toBe(409)
  expect((await call('GET', '?status=draft')).body.data).toMatchObject([{ id, subject: orderFlow.subject, version: 0 }])
  expect((await call('GET', `/${id}/versions`)).body.data).toEqual([])

  const faulty = await call('POST', `/${id}/publish`)
  expect([faulty.status, faulty.body.error.fields[0]]).toMatchObject([422, { path: 'html', line: 1 }])
  await call('PUT', `/${id}/draft`, { html: orderFlow.html, name: 'Shipped' })
  expect(await read(id)).toMatchObject({ name: 'Shipped', status: 'draft' })
  const published = await call('POST', `/${id}/publish`)
  expect(published.body.data).toMatchObject({ name: 'Shipped', status: 'active', version: 1, draft: null })
  expect(await sent(id)).toEqual(['Order 1042 is on its way', 1])

  const other = await call('POST', '', { ...orderFlow, draft: true })
  expect((await call('DELETE', `/${other.body.data.id}`)).status).toBe(200)
  expect((await call('GET', `/${other.body.data.id}/draft`)).status).toBe(404)
})

test('a change based on an outdated draft or version is refused', async () => {
  const id = await createFlow(app)
  const save = (body: object) => call('PUT', `/${id}/draft`, body)
  expect((await save({ subject: 'One', base_revision: 0, base_version: 1 })).status).toBe(200)
  const late = await save({ subject: 'Two', base_revision: 0 })
  expect([late.status, late.body.error.type]).toEqual([409, 'conflict'])
  const answers = await Promise.all(['Two', 'Three'].map((subject) => save({ subject, base_revision: 1 })))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  const tag = answers.find(({ status }) => status === 200)!.headers.get('etag')!

  // A revision is never used again, so an editor that was left open cannot overwrite a later draft.
  await call('DELETE', `/${id}/draft`)
  expect((await save({ subject: 'Three', base_revision: 2 })).status).toBe(409)
  expect((await save({ subject: 'Four', base_revision: 0 })).body.data.revision).toBe(3)
  const headers = { authorization: `Bearer ${app.session}`, 'if-match': tag }
  const stale = await app.call('PUT', `/api/v1/organization/flows/${id}/draft`, { headers, body: { subject: 'Five' } })
  expect(stale.status).toBe(412)

  await call('PATCH', `/${id}`, { subject: 'Published in between' })
  expect((await save({ subject: 'Six', base_version: 1 })).status).toBe(409)
  for (const guards of [{}, { base_version: 1 }, { base_revision: 2 }])
    expect((await call('POST', `/${id}/publish`, guards)).status).toBe(409)
  expect(await read(id)).toMatchObject({ subject: 'Published in between', version: 2 })
  const published = await call('POST', `/${id}/publish`, { base_version: 2, base_revision: 3 })
  expect(published.body.data).toMatchObject({ subject: 'Four', version: 3, draft: null })
})

test('publishing keeps a paused flow paused, and creates no version without a change of the content', async () => {
  const id = await createFlow(app, { status: 'paused' })
  await call('PUT', `/${id}/draft`, { name: 'Renamed' })
  const { data } = (await call('POST', `/${id}/publish`)).body
  expect(data).toMatchObject({ name: 'Renamed', status: 'paused', version: 1, draft: null })
})

test('a copy has the unpublished changes and is not published', async () => {
  const id = await createFlow(app)
  const copied = await call('POST', `/${id}/duplicate`)
  expect([copied.status, copied.body.data]).toMatchObject([
    201,
    { ...orderFlow, name: 'Copy of Order shipped', status: 'draft', version: 0 },
  ])
  await call('PUT', `/${id}/draft`, { subject: 'Draft' })
  const second = await call('POST', `/${id}/duplicate`, { name: 'Delivered' })
  expect(second.body.data).toMatchObject({ name: 'Delivered', subject: 'Draft', status: 'draft' })
  expect(await read(id)).toMatchObject({ version: 1, draft: { revision: 1 } })
})

test('the draft can be tested: with its content and kind, and without a version of its own', async () => {
  const id = await createFlow(app)
  await call('PUT', `/${id}/draft`, { subject: 'Draft {{ order_id }}', kind: 'marketing' })
  const context = { order_id: 7 }
  const test = async (body: object) => {
    const answer = await call('POST', `/${id}/test`, { to: 'ada@example.com', context, ...body })
    return await getMessage(app, answer.body.data.message_id)
  }
  expect(await test({})).toMatchObject({ subject: '[Test] Order 7 is on its way', flow_version: 1 })
  const drafted = await test({ draft: true })
  expect(drafted).toMatchObject({ subject: '[Test] Draft 7', flow_version: null, is_test: true })
  expect(drafted.html).toContain('Unsubscribe')
  await test({ draft: true })
  expect((await call('GET', `/${id}/versions`)).body.data).toHaveLength(1)
  expect(await app.db`select from flow_versions where number is null`).toHaveLength(1)
  const raw = await until('the email', async () => {
    const { body } = await app.manage('GET', `/organization/inbox/${drafted.id}`)
    return body.data?.text as string | undefined
  })
  expect(raw).toContain('/u/')
  expect((await call('POST', `/${id}/publish`)).body.data.version).toBe(2)
  expect((await call('POST', `/${id}/test`, { to: 'ada@example.com', context, draft: true })).status).toBe(409)
})
