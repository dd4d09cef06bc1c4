import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { startSharedApp } from '../../../test/support/test-app.ts'
import { createUnknownFieldCheck } from './unknown-fields.ts'

const newOrganization = await startSharedApp({}, ['serve'])

/** An idle machine needs 10 ms. Comparing all of these names takes seconds. */
const describeMsMax = 250

test('a send with a misspelt field is rejected with the field that was meant, and sends nothing', async () => {
  const app = await newOrganization()
  const flowId = await createFlow(app)
  const later = '2027-01-01T00:00:00Z'
  const wrong: [object, string][] = [
    [{ sendAt: later }, 'send_at'],
    [{ 'send-at': later }, 'send_at'],
    [{ SEND_AT: later }, 'send_at'],
    [{ sent_at: later }, 'send_at'],
    [{ scheduled_at: later }, 'send_at'],
    [{ scheduledAt: later }, 'send_at'],
    [{ contex: { order_id: 1 } }, 'context'],
    [{ contactEmail: 'bob@example.com' }, 'contact_email'],
    [{ idempotencyKey: 'order-1' }, 'the header Idempotency-Key'],
  ]
  for (const [more, meant] of wrong) {
    const { status, body } = await send(app, flowId, more)
    expect([status, body.error?.fields]).toEqual([
      422,
      [{ path: Object.keys(more)[0], problem: `is unknown. Did you mean ${meant}?` }],
    ])
  }
  const path = `/organization/flows/${flowId}`
  const to = 'ada@example.com'
  const once = await app.manage('POST', `${path}/send`, { contact_email: to, context: { order_id: 1 }, sendAt: later })
  const tested = await app.manage('POST', `${path}/test`, { to, context: { order_id: 1 }, sendAt: later })
  expect([once.status, tested.status]).toEqual([422, 422])
  expect((await app.manage('GET', '/organization/messages')).body.data).toEqual([])
})

test('other unknown fields of a send are ignored with a warning, also in a repeated request', async () => {
  const app = await newOrganization()
  const flowId = await createFlow(app)
  const request = () => send(app, flowId, { tags: ['a'], campaign: 'x' }, { 'idempotency-key': 'order-1' })
  const expected = { status: 'queued', warnings: ['Unknown fields were ignored: tags, campaign.'] }
  expect((await request()).body.data).toMatchObject(expected)
  const again = await request()
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(again.body.data).toMatchObject(expected)
  expect((await send(app, flowId)).body.data.warnings).toEqual([])
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`${'x'.repeat(100)}${index}`, index]))
  const [warning] = (await send(app, flowId, many)).body.data.warnings
  expect(warning.length).toBeLessThan(1_000)
  expect(warning).toContain('… and 490 more.')
})

test('a misspelt field inside a send is rejected, and another one is ignored with a warning', async () => {
  const app = await newOrganization()
  const flowId = await createFlow(app)
  const file = { filename: 'a.txt', content: 'YQ==' }
  const email = { from: 'a@acme.example', to: 'ada@example.com', subject: 'Hello', html: '<p>Hello</p>' }
  const meant = async (path: string, more: object, headers: Record<string, string> = {}) => {
    const body = path.endsWith('flow') ? { flow_id: flowId, contact_email: 'ada@example.com', ...more } : more
    const response = await fetch(`${app.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-token': app.apiKey, ...headers },
      body: JSON.stringify(body),
    })
    const answer = (await response.json()) as { message: string; error?: { fields: object[] } }
    return [response.status, answer.error?.fields[0] ?? answer.message]
  }
  const wrong = (path: string, name: string) => ({ path, problem: `is unknown. Did you mean ${name}?` })
  const emails = '/public/api/v1/emails'
  const flow = '/public/api/v1/flow/send-email-through-flow'
  const contentId = wrong('attachments.0.contentId', 'content_id')
  expect(await meant(flow, { context: { order_id: 1 }, attachments: [{ ...file, contentId: 'a' }] })).toEqual([
    422,
    contentId,
  ])
  expect(await meant(emails, { ...email, attachments: [{ ...file, contentId: 'a' }] })).toEqual([422, contentId])
  expect(await meant(emails, { ...email, tracking: { open: false } })).toEqual([422, wrong('tracking.open', 'opens')])
  expect(await meant(emails, { ...email, tags: [{ Name: 'a', name: 'a', value: 'b' }] })).toEqual([
    422,
    wrong('tags.0.Name', 'name'),
  ])
  const batch = await app.publicApi('POST', '/emails/batch', [{ ...email, tracking: { click: false } }, email])
  expect(batch.body.data.results).toMatchObject([
    { ok: false, error: { fields: [wrong('tracking.click', 'clicks')] } },
    { ok: true, warnings: [] },
  ])
  const asResend = { authorization: `Bearer ${app.apiKey}` }
  expect(await meant('/emails', { ...email, tracking: { open: false } }, asResend)).toEqual([
    422,
    'tracking.open: is unknown. Did you mean opens?',
  ])
  const ignored = 'Unknown fields were ignored: colour, attachments.0.type.'
  const more = { colour: 'red', attachments: [{ ...file, type: 'text/plain' }] }
  const sent = await app.publicApi('POST', '/emails', { ...email, ...more })
  expect(sent.body.data.warnings).toEqual([ignored])
  const resend = await fetch(`${app.url}/emails`, {
    method: 'POST',
    headers: { ...asResend, 'content-type': 'application/json' },
    body: JSON.stringify({ ...email, ...more, topic_id: null }),
  })
  expect(await resend.json()).toEqual({ id: expect.stringMatching(/^eml_/), warnings: [ignored] })
})

test('unknown fields of members are reported', async () => {
  const app = await newOrganization()
  const group = await app.manage('POST', '/organization/groups', { name: 'News' })
  const add = async (...members: object[]) =>
    (await app.publicApi('POST', '/contacts/add-group-members', { group_id: group.body.data.id, members })).body.data
  expect((await add({ email: 'ada@example.com', first_name: 'Ada' })).warnings).toEqual([])
  const added = await add(
    { email: 'ada@example.com', firstName: 'Ada' },
    { email: 'ben@example.com', firstName: 'Ben', city: 'Bern' },
  )
  expect(added).toMatchObject({
    updated: 1,
    created: 1,
    warnings: ['Unknown fields of members were ignored: firstName, city. Did you mean first_name?'],
  })
  const names = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`field${index}`, index]))
  const [warning] = (await add({ email: 'ada@example.com', ...names })).warnings
  expect(warning).toContain('field8, field9 and others.')
})

test('a broadcast with an unknown field is rejected', async () => {
  const app = await newOrganization()
  const post = (path: string, body: object) => app.manage('POST', `/organization/broadcasts${path}`, body)
  const { id } = (await post('', { name: 'News' })).body.data
  const problems: unknown[] = []
  for (const wrong of [
    { messagesPerHour: 5 },
    { colour: 'red' },
    { schedule: { At: '2027-01-01T09:00' } },
    { audience: { exclude_groups_ids: [] } },
    { schedule: { window: { days: ['mon'], from: '08:00', until: '18:00' } } },
  ]) {
    const created = await post('', { name: 'News', ...wrong })
    const changed = await app.manage('PATCH', `/organization/broadcasts/${id}`, wrong)
    expect([created.status, changed.status]).toEqual([422, 422])
    // A change has one more field.
    const shown = JSON.stringify(changed.body.error.fields).replace(', base_revision', '')
    expect(JSON.parse(shown)).toEqual(created.body.error.fields)
    problems.push(created.body.error.fields.at(-1))
  }
  expect(problems).toEqual([
    { path: 'messagesPerHour', problem: 'is unknown. Did you mean messages_per_hour?' },
    { path: 'colour', problem: expect.stringMatching(/^is unknown. Allowed: name, .*schedule/) },
    { path: 'schedule.At', problem: 'is unknown. Did you mean at?' },
    { path: 'audience.exclude_groups_ids', problem: 'is unknown. Did you mean exclude_group_ids?' },
    { path: 'schedule.window.until', problem: 'is unknown. Allowed: days, from, to' },
  ])
  const started = await post(`/${id}/start`, { recipients: 5 })
  expect([started.status, started.body.error.fields[0].path]).toEqual([422, 'recipients'])
  expect((await post('', { name: 'News', context: { anything: 1 } })).status).toBe(201)
})

test('unknown query parameters are rejected with the allowed ones', async () => {
  const app = await newOrganization()
  const fieldOf = async (path: string) => {
    const { status, body } = await app.manage('GET', `/organization${path}`)
    return [status, body.error?.fields]
  }
  expect(await fieldOf('/contacts?q=ada')).toEqual([
    422,
    [{ path: 'q', problem: expect.stringMatching(/^is unknown. Allowed: query, .*limit/) }],
  ])
  expect(await fieldOf('/messages?Limit=5')).toEqual([
    422,
    [{ path: 'Limit', problem: 'is unknown. Did you mean limit?' }],
  ])
  expect(await fieldOf('/webhooks?limit=5')).toEqual([422, [{ path: 'limit', problem: 'is unknown' }]])
  // Forms send empty fields as well.
  expect(await fieldOf('/contacts?q=')).toEqual([200, undefined])
  const metric =
    '/analytics/metrics/get-email-event-metric?event_name=emailOpen&start_date=2026-01-01&end_date=2026-01-02'
  expect((await app.publicApi('GET', metric)).status).toBe(200)
  expect((await app.publicApi('GET', `${metric}&flow=flw_1`)).status).toBe(422)
  expect((await app.call('GET', '/health?cache=1')).status).toBe(200)
})

test('fifty thousand unknown fields are described without comparing all of them', () => {
  const check = createUnknownFieldCheck({
    properties: { from: 1, to: 1, subject: 1, html: 1, text: 1, tracking: 1, attachments: 1 },
  })
  const names = [
    (at: number) => `${at}`.padEnd(88, 'x'),
    (at: number) => `${at}`.padEnd(7, 'x'),
    (at: number) => `${'-'.repeat(99)}${at}`,
  ]
  for (const name of names) {
    const body = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [name(at), at]))
    const before = process.cpuUsage()
    expect(check(body)).toEqual([expect.stringContaining('and many more')])
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1000).toBeLessThan(describeMsMax)
  }
  expect(() => check({ ['-'.repeat(5_000_000)]: 1, htm: '' })).toThrow('Did you mean html?')
})
