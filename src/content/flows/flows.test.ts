import { expect, test } from 'vitest'
import { createFlow, orderFlow, send } from '../../../test/support/flows.ts'
import { lockWaits } from '../../../test/support/lock-waits.ts'
import { getMessage } from '../../../test/support/messages.ts'
import { type Answer, startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { parseId } from '../../platform/values/ids.ts'

const newOrganization = await startSharedApp()

test('a new flow is active and lists the variables of its template', async () => {
  const app = await newOrganization()
  const answer = await app.manage('POST', '/organization/flows', orderFlow)
  expect(answer.status).toBe(201)
  expect(answer.body.data).toMatchObject({
    ...orderFlow,
    status: 'active',
    version: 1,
    html_format: 'html',
    text: null,
  })
  expect(answer.body.data.id).toMatch(/^flw_/)
  expect(answer.body.data.variables).toContainEqual({ name: 'order_id', has_default: false })
})

test('a template error is rejected with line and column, and nothing is saved', async () => {
  const app = await newOrganization()
  const answer = await app.manage('POST', '/organization/flows', {
    ...orderFlow,
    html: '<p>\n  {{ order_id | nonsense }}\n</p>',
  })
  expect(answer.status).toBe(422)
  expect(answer.body.error.fields[0]).toMatchObject({ path: 'html', line: 2 })
  expect((await app.manage('GET', '/organization/flows')).body.data).toEqual([])
})

test('saving changed content creates a version; other changes do not', async () => {
  await using app = await startTestApp()
  const id = await createFlow(app)
  const renamed = await app.manage('PATCH', `/organization/flows/${id}`, { name: 'Renamed' })
  expect(renamed.body.data).toMatchObject({ name: 'Renamed', version: 1 })
  const changed = await app.manage('PATCH', `/organization/flows/${id}`, { subject: 'Soon: {{ order_id }}' })
  expect(changed.body.data).toMatchObject({ version: 2, subject: 'Soon: {{ order_id }}', html: orderFlow.html })
  const versions = await app.manage('GET', `/organization/flows/${id}/versions`)
  expect(versions.body.data.map((version: { version: number }) => version.version)).toEqual([2, 1])
  expect(versions.body.data[0].created_by).toBe('owner@acme.example')
  const first = await app.manage('GET', `/organization/flows/${id}/versions/1`)
  expect(first.body.data.subject).toBe(orderFlow.subject)
})

test('concurrent saves create two versions', async () => {
  const app = await newOrganization()
  const id = await createFlow(app)
  const saves = await Promise.all(
    [1, 2, 3, 4].map((n) => app.manage('PATCH', `/organization/flows/${id}`, { subject: `Version ${n}` })),
  )
  expect(saves.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect((await app.manage('GET', `/organization/flows/${id}/versions`)).body.data).toHaveLength(5)
})

test('a flow paused during a save stays paused', async () => {
  const app = await newOrganization()
  const id = await createFlow(app)
  const answers = await changeAtOnce(app, id, { status: 'paused', name: 'On hold' }, { subject: 'Soon' })
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  const flow = await app.manage('GET', `/organization/flows/${id}`)
  expect(flow.body.data).toMatchObject({ status: 'paused', name: 'On hold', subject: 'Soon', version: 2 })
})

test('concurrent changes of different fields are both kept', async () => {
  const app = await newOrganization()
  const id = await createFlow(app)
  const answers = await changeAtOnce(app, id, { subject: 'Soon' }, { html: '<p>Here</p>' })
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  const flow = await app.manage('GET', `/organization/flows/${id}`)
  expect(flow.body.data).toMatchObject({ subject: 'Soon', html: '<p>Here</p>', version: 3 })
})

test('a change to the value that a concurrent change replaces is not lost', async () => {
  const app = await newOrganization()
  const id = await createFlow(app)
  await changeAtOnce(app, id, { subject: 'Soon' }, { subject: orderFlow.subject })
  const flow = await app.manage('GET', `/organization/flows/${id}`)
  expect(flow.body.data).toMatchObject({ subject: orderFlow.subject, version: 3 })
})

test('a change with an outdated base version is rejected', async () => {
  const app = await newOrganization()
  const id = await createFlow(app)
  const change = (body: object) => app.manage('PATCH', `/organization/flows/${id}`, body)
  expect((await change({ subject: 'Two', base_version: 1 })).body.data).toMatchObject({ subject: 'Two', version: 2 })
  const late = await change({ html: '<p>Late</p>', name: 'Late', status: 'paused', base_version: 1 })
  expect([late.status, late.body.error.type]).toEqual([409, 'conflict'])
  expect(late.body.message).toBe(
    'Version 2 of this flow was saved in the meantime. Reload it and apply your change again.',
  )
  const flow = await app.manage('GET', `/organization/flows/${id}`)
  expect(flow.body.data).toMatchObject({ ...orderFlow, subject: 'Two', status: 'active', version: 2 })
  const early = await change({ subject: 'Early', base_version: 3 })
  expect([early.status, early.body.error.fields[0].path]).toEqual([422, 'base_version'])
})

test('of concurrent changes of the same base version only the first succeeds', async () => {
  const app = await newOrganization()
  const id = await createFlow(app)
  for (const second of [{ html: '<p>Here</p>' }, { name: 'Renamed' }]) {
    const { version } = (await app.manage('GET', `/organization/flows/${id}`)).body.data
    const first = { subject: `After version ${version}`, base_version: version }
    const answers = await changeAtOnce(app, id, first, { ...second, base_version: version })
    expect(answers.map(({ status }) => status)).toEqual([200, 409])
  }
  const flow = await app.manage('GET', `/organization/flows/${id}`)
  expect(flow.body.data).toMatchObject({ ...orderFlow, subject: 'After version 2', version: 3 })
})

test('MJML is compiled on save and returned as written', async () => {
  const app = await newOrganization()
  const html =
    '<mjml><mj-body><mj-section><mj-column><mj-text>Hi {{ order_id }}</mj-text></mj-column></mj-section></mj-body></mjml>'
  const id = await createFlow(app, { html, html_format: 'mjml' })
  expect((await app.manage('GET', `/organization/flows/${id}`)).body.data).toMatchObject({ html, html_format: 'mjml' })
  const preview = await app.manage('POST', `/organization/flows/${id}/preview`, { context: { order_id: 7 } })
  expect(preview.body.data.html).toMatch(/<!doctype html>[\s\S]*Hi 7/i)
})

test('a preview shows unsaved content, missing variables and template errors', async () => {
  const app = await newOrganization()
  const id = await createFlow(app)
  const preview = (body: object) => app.manage('POST', `/organization/flows/${id}/preview`, body)
  const good = (await preview({ context: { order_id: '<b>' }, subject: 'For {{ order_id }}' })).body.data
  expect(good).toMatchObject({ subject: 'For <b>', missing: [], problems: [] })
  expect(good.html).toContain('orders/&lt;b&gt;')
  expect((await preview({})).body.data.missing).toEqual(['order_id'])
  const faulty = await preview({ html: '{% if %}' })
  expect(faulty.status).toBe(200)
  expect(faulty.body.data).toMatchObject({ html: null, problems: [{ path: 'html', line: 1 }] })
})

test('a preview equals a test email to the same address', async () => {
  const app = await newOrganization()
  const email = 'grace@example.com'
  await app.manage('POST', '/organization/contacts', { email, first_name: 'Grace', attributes: { plan: 'pro' } })
  const text = {
    subject: 'For {{ contact.first_name | default: "you" }}',
    html: '<p>{{ contact.attributes.plan }}</p>',
  }
  const created = await app.manage('POST', '/organization/flows', { name: 'News', kind: 'marketing', ...text })
  const path = `/organization/flows/${created.body.data.id}`

  const preview = (await app.manage('POST', `${path}/preview`, { contact_email: email })).body.data
  const test = await app.manage('POST', `${path}/test`, { to: email })
  const sent = await getMessage(app, test.body.data.message_id)

  expect(preview).toMatchObject({ subject: 'For Grace', html: sent.html, text: sent.text })
  expect(preview.html).toMatch(/<p>pro<\/p>.*>Unsubscribe</)
  const stranger = (
    await app.manage('POST', '/organization/flows/preview', { ...text, contact_email: 'x@example.com' })
  ).body.data
  expect(stranger).toMatchObject({ subject: 'For you', missing: ['contact.attributes.plan'] })
  expect(stranger.html).not.toContain('Unsubscribe')
  const marketing = await app.manage('POST', '/organization/flows/preview', { ...text, kind: 'marketing' })
  expect(marketing.body.data.html).toContain('Unsubscribe')
})

test('a preview checks links as they are rendered, and does not judge those that depend on a missing value', async () => {
  await using app = await startTestApp()
  const problems = async (html: string, context: object = {}) => {
    const { data } = (await app.manage('POST', '/organization/flows/preview', { subject: 'Hello', html, context })).body
    expect(data).toMatchObject({ html: expect.any(String), problems: [] })
    return data.findings.map(({ problem }: { problem: string }) => problem)
  }
  const dead = (link: string) => `The link "${link}" does not start with https:// and will not work in an email.`
  expect(await problems('<a href="{{ unsubscribe_url }}">b</a>')).toEqual([])
  const partly = '<a href="{{ shop }}/cart">a</a><a href="/help">b</a>'
  expect(await problems(partly)).toEqual([dead('/help')])
  expect(await problems(partly, { shop: 'https://shop.waxwing.dev' })).toEqual([dead('/help')])
  expect(await problems(partly, { shop: '' })).toEqual([dead('/cart'), dead('/help')])
  expect(await problems('<a href="{{ link }}">a</a>')).toEqual([])
  expect(await problems('<a href="{{ link }}">a</a>', { link: '' })).toEqual(['A link has no address.'])
})

test('a preview of marketing asks for the postal address until the email contains it', async () => {
  await using app = await startTestApp()
  const preview = async (html: string, kind = 'marketing') => {
    const body = { subject: 'Hello', html, kind }
    const { data } = (await app.manage('POST', '/organization/flows/preview', body)).body
    return data.findings.map(({ check, advice }: Record<string, string>) => `${check}: ${advice}`)
  }
  const setFirst = 'postal_address: Set it under Brand, and add {{ brand.address }} to the footer.'
  expect(await preview('<p>Hello</p>')).toEqual([setFirst])
  expect(await preview('<p>Hello</p>', 'transactional')).toEqual([])
  const hasPlace = '<p>{% if brand.address %}{{ brand.address }}{% endif %}</p>'
  expect(await preview(hasPlace)).toEqual(['postal_address: Set it under Brand: the email has a place for it.'])
  await app.manage('PATCH', '/organization/brand', { postal_address: 'Main St 1\n1010 Vienna' })
  expect(await preview('<p>Hello</p>')).toEqual(['postal_address: Add {{ brand.address }} to the footer.'])
  expect(await preview('<p>Main St&nbsp;1<br>1010 Vienna</p>')).toEqual([])
  expect(await preview(hasPlace)).toEqual([])
  const hidden = '<p>{% if contact.attributes.plan %}{{ brand.address }}{% endif %}</p>'
  expect(await preview(hidden)).toEqual([expect.stringContaining('does not show it to this recipient')])
})

test('a deleted flow is not found, and sends through it are rejected', async () => {
  const app = await newOrganization()
  const id = await createFlow(app)
  expect((await app.manage('DELETE', `/organization/flows/${id}`)).body.data).toBeNull()
  expect((await app.manage('GET', `/organization/flows/${id}`)).status).toBe(404)
  expect((await app.manage('DELETE', `/organization/flows/${id}`)).status).toBe(404)
  expect((await send(app, id)).status).toBe(404)
})

test('invalid senders, names and kinds are rejected', async () => {
  const app = await newOrganization()
  for (const wrong of [
    { name: ' ' },
    { kind: 'other' },
    { from_email: 'nobody' },
    { reply_to: 'a@b\r\nBcc: x@y.example' },
    { subject: '' },
    { html: '' },
  ]) {
    const answer = await app.manage('POST', '/organization/flows', { ...orderFlow, ...wrong })
    expect([wrong, answer.status]).toEqual([wrong, 422])
  }
})

test('flows are listed newest first, in pages, per organization', async () => {
  await using app = await startTestApp()
  for (const n of [1, 2, 3]) await createFlow(app, { name: `Flow ${n}` })
  const first = await app.manage('GET', '/organization/flows?limit=2')
  expect(first.body.data.map((flow: { name: string }) => flow.name)).toEqual(['Flow 3', 'Flow 2'])
  const second = await app.manage('GET', `/organization/flows?limit=2&cursor=${first.body.next_cursor}`)
  expect(second.body.data.map((flow: { name: string }) => flow.name)).toEqual(['Flow 1'])
  expect(second.body.next_cursor).toBeNull()
  const other = await app.call('POST', '/api/v1/auth/register', {
    body: { organization_name: 'Other', email: 'o@other.example', password: 'correct horse battery' },
  })
  const theirs = await app.call('GET', '/api/v1/organization/flows', {
    headers: { authorization: `Bearer ${other.body.data.token}` },
  })
  expect(theirs.body.data).toEqual([])
})

/** Both changes have read the flow before either is written; the first is written first. */
async function changeAtOnce(app: TestApp, id: string, first: object, second: object): Promise<Answer[]> {
  const answers: Promise<Answer>[] = []
  await app.db.begin(async (tx) => {
    await tx`select id from flows where organization_id = ${parseId('org', app.organizationId)} for update`
    for (const change of [first, second]) {
      answers.push(app.manage('PATCH', `/organization/flows/${id}`, change))
      await until('the change to wait for its turn', async () => (await lockWaits(app.db)).length === answers.length)
    }
  })
  return Promise.all(answers)
}
