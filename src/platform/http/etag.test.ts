import { expect, test } from 'vitest'
import { createFlow } from '../../../test/support/flows.ts'
import { create } from '../../../test/support/resources.ts'
import { startTestApp } from '../../../test/support/test-app.ts'

test('an edit with If-Match is rejected if the record was edited since, and applied if not', async () => {
  await using app = await startTestApp()
  const make = async (path: string, body: object) => (await create(app, path, body)).id
  const webhook = { name: 'CRM', url: 'https://crm.example.com/', all_events: true }
  const records: [path: string, change: (value: string) => object][] = [
    [`/flows/${await createFlow(app)}`, (name) => ({ name })],
    [`/flows/${await createFlow(app)}`, (subject) => ({ subject })],
    [`/webhooks/${await make('/webhooks', webhook)}`, (name) => ({ name })],
    [`/contacts/${await make('/contacts', { email: 'ada@example.com' })}`, (first_name) => ({ first_name })],
    ['', (name) => ({ name })],
  ]
  for (const [path, change] of records) {
    const url = `/api/v1/organization${path}`
    const call = (method: string, body?: object, tag?: string) =>
      app.call(method, url, {
        headers: { authorization: `Bearer ${app.session}`, ...(tag !== undefined && { 'if-match': tag }) },
        body,
      })
    const read = await call('GET')
    const tag = read.headers.get('etag')!
    expect(tag).toMatch(/^"[\w-]{22}"$/)
    expect((await call('GET')).headers.get('etag')).toBe(tag)

    const edited = await call('PATCH', change('one'), tag)
    expect([path, edited.status]).toEqual([path, 200])
    const next = edited.headers.get('etag')!
    expect(next).not.toBe(tag)
    const outdated = await call('PATCH', change('two'), tag)
    expect([path, outdated.status, outdated.body.error.type]).toEqual([path, 412, 'precondition_failed'])
    expect((await call('GET')).headers.get('etag')).toBe(next)

    // Of edits at the same time that are based on the same state, one is applied.
    const edits = await Promise.all(['a', 'b', 'c', 'd'].map((value) => call('PATCH', change(value), next)))
    expect([path, ...edits.map(({ status }) => status).sort()]).toEqual([path, 200, 412, 412, 412])
    const current = (await call('GET')).headers.get('etag')!
    expect((await call('PATCH', change('weak'), `"other", W/${current}`)).status).toBe(200)
    expect((await call('PATCH', change('any'), '*')).status).toBe(200)
    expect((await call('PATCH', change('none'))).status).toBe(200)
  }
})

test('the tag of a webhook does not depend on its deliveries', async () => {
  await using app = await startTestApp()
  const body = { name: 'CRM', url: 'http://127.0.0.1:9/', all_events: true }
  const { id } = await create(app, '/webhooks', body)
  const tag = async () => (await app.manage('GET', `/organization/webhooks/${id}`)).headers.get('etag')
  const before = await tag()
  await app.manage('POST', `/organization/webhooks/${id}/test`, { event_name: 'emailOpen' })
  expect(await tag()).toBe(before)
})
