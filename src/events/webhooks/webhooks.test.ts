import { expect, test } from 'vitest'
import { happen } from '../../../test/support/events.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'

const newOrganization = await startSharedApp()

const url = 'https://hooks.acme.example/waxwing'
const create = (app: TestApp, more: object = {}) =>
  app.manage('POST', '/organization/webhooks', {
    name: 'Orders',
    url,
    event_types: ['emailOpen', 'emailClick'],
    ...more,
  })

test('the secret of a webhook is only returned on creation and encrypted in the database', async () => {
  await using app = await startTestApp()
  const made = await create(app)
  expect(made.status).toBe(201)
  expect(made.body.data).toMatchObject({
    name: 'Orders',
    url,
    event_types: ['emailOpen', 'emailClick'],
    all_events: false,
    status: 'active',
    last_delivery_at: null,
    failing_since: null,
  })
  const { id, signing_secret: secret } = made.body.data
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  for (const path of ['/organization/webhooks', `/organization/webhooks/${id}`]) {
    const answer = await app.manage('GET', path)
    expect(answer.status).toBe(200)
    expect(answer.text).not.toContain('secret":"whsec')
    expect(answer.text).not.toContain(secret)
  }
  const [row] = await app.db<{
    row: string
  }>`select to_jsonb(webhooks)::text || encode(secret, 'escape') as row from webhooks`
  expect(row!.row).not.toContain(secret.slice(6, 20))
})

test('all events can be selected with one field, and the selection can be changed', async () => {
  const app = await newOrganization()
  const { id } = (await create(app, { event_types: undefined, all_events: true })).body.data
  const [all] = (await app.manage('GET', '/organization/webhooks')).body.data
  expect(all).toMatchObject({ all_events: true })
  expect(all.event_types).toContain('contactUnsubscribe')
  const some = await app.manage('PATCH', `/organization/webhooks/${id}`, { event_types: ['emailSent'] })
  expect(some.body.data).toMatchObject({ all_events: false, event_types: ['emailSent'] })
})

test('invalid webhooks are rejected with the field', async () => {
  await using app = await startTestApp({ EGRESS_ALLOW_PRIVATE: 'false' })
  const wrong: [string, object][] = [
    ['name', { name: '  ' }],
    ['name', { name: 'half a parrot \ud83e' }],
    ['url', { url: 'http://hooks.acme.example/' }],
    ['url', { url: 'https://user:pass@hooks.acme.example/' }],
    ['url', { url: 'https://localhost/' }],
    ['url', { url: 'https://127.0.0.1/' }],
    ['url', { url: 'https://0x7f.1/' }],
    ['url', { url: 'https://2130706433/' }],
    ['url', { url: 'https://[::ffff:10.0.0.1]/' }],
    ['url', { url: 'https://169.254.169.254/latest' }],
    ['url', { url: 'nonsense' }],
    ['event_types', { event_types: [] }],
    ['event_types', { event_types: undefined }],
    ['event_types.1', { event_types: ['emailOpen', 'emailEaten'] }],
    ['event_types.0', { event_types: ['emailEaten'], all_events: true }],
  ]
  for (const [path, more] of wrong) {
    const answer = await create(app, more)
    expect([more, answer.status, answer.body.error.fields[0].path]).toEqual([more, 422, path])
  }
  expect((await app.manage('GET', '/organization/webhooks')).body.data).toEqual([])
})

test('only 200 acknowledges and no 4xx is retried, unless a webhook says otherwise', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { id, ...made } = (await create(app)).body.data
  expect(made).toMatchObject({ acknowledge: '200', retry_4xx: [] })
  const path = `/organization/webhooks/${id}`
  const changed = await app.manage('PATCH', path, { acknowledge: '2xx', retry_4xx: [429, 408] })
  expect(changed.body.data).toMatchObject({ acknowledge: '2xx', retry_4xx: [408, 429] })
  const renamed = await app.manage('PATCH', path, { name: 'Renamed' })
  expect(renamed.body.data).toMatchObject({ acknowledge: '2xx', retry_4xx: [408, 429] })
  expect((await app.manage('PATCH', path, { retry_4xx: [] })).body.data).toMatchObject({ retry_4xx: [] })
  for (const wrong of [{ acknowledge: '201' }, { retry_4xx: [404] }, { retry_4xx: [429, 429] }, { retry_4xx: 429 }])
    expect([wrong, (await app.manage('PATCH', path, wrong)).status]).toEqual([wrong, 422])
  const second = await create(app, { acknowledge: '2xx', retry_4xx: [425] })
  expect(second.body.data).toMatchObject({ acknowledge: '2xx', retry_4xx: [425] })
})

test('concurrent changes do not overwrite each other', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { id } = (await create(app)).body.data
  for (const status of ['paused', 'active', 'paused', 'active']) {
    const changes = [{ name: 'a' }, { status }, { name: 'b' }, { event_types: ['emailSent'] }, { name: 'c' }]
    await Promise.all(changes.map((change) => app.manage('PATCH', `/organization/webhooks/${id}`, change)))
    const [webhook] = (await app.manage('GET', '/organization/webhooks')).body.data
    expect(webhook).toMatchObject({ status, event_types: ['emailSent'] })
    expect(await app.db`select held from lanes`).toEqual([{ held: status === 'paused' }])
  }
})

test('an organization can have fifty webhooks, also with concurrent requests', async () => {
  const app = await newOrganization()
  const answers = await Promise.all(Array.from({ length: 55 }, () => create(app)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(50)
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(5)
})

test('rotating returns a new secret and when the previous one expires', async () => {
  const app = await newOrganization()
  const { id, signing_secret: first } = (await create(app)).body.data
  const rotated = await app.manage('POST', `/organization/webhooks/${id}/rotate-secret`, {})
  expect(rotated.body.data.signing_secret).not.toBe(first)
  expect(Date.parse(rotated.body.data.secret_rotation_ends_at)).toBeGreaterThan(Date.now() + 23 * 3_600_000)
  const atOnce = await app.manage('POST', `/organization/webhooks/${id}/rotate-secret`, { overlap_hours: 0 })
  expect(atOnce.body.data.secret_rotation_ends_at).toBeNull()
  expect((await app.manage('POST', `/organization/webhooks/${id}/rotate-secret`, { overlap_hours: -1 })).status).toBe(
    422,
  )
})

test('only selected events are delivered, and only to webhooks of the organization', async () => {
  await using app = await startTestApp({}, ['serve'])
  const opens = (await create(app, { event_types: ['emailOpen'] })).body.data.id
  const all = (await create(app, { all_events: true })).body.data.id
  await happen(app.db, app.organizationId, 'emailOpen')
  await happen(app.db, app.organizationId, 'emailHardBounce')
  const namesOf = async (id: string) =>
    (await app.manage('GET', `/organization/webhooks/${id}/deliveries`)).body.data.map(
      (delivery: { event_name: string }) => delivery.event_name,
    )
  expect(await namesOf(opens)).toEqual(['emailOpen'])
  expect(await namesOf(all)).toEqual(['emailHardBounce', 'emailOpen'])
})

test('webhooks and deliveries of another organization are not found', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { id } = (await create(app, { all_events: true })).body.data
  await happen(app.db, app.organizationId, 'emailOpen')
  const delivery = (await app.manage('GET', `/organization/webhooks/${id}/deliveries`)).body.data[0].id
  const other = await app.call('POST', '/api/v1/auth/register', {
    body: { organization_name: 'Other', email: 'other@acme.example', password: 'correct horse battery' },
  })
  const headers = { authorization: `Bearer ${other.body.data.token}` }
  const base = '/api/v1/organization'
  const calls: [string, string, object?][] = [
    ['GET', `${base}/webhooks/${id}`],
    ['PATCH', `${base}/webhooks/${id}`, { name: 'Mine' }],
    ['DELETE', `${base}/webhooks/${id}`],
    ['POST', `${base}/webhooks/${id}/rotate-secret`, {}],
    ['POST', `${base}/webhooks/${id}/test`, { event_name: 'emailOpen' }],
    ['GET', `${base}/webhooks/${id}/deliveries`],
    ['POST', `${base}/webhooks/${id}/replay`, { since: '2020-01-01' }],
    ['GET', `${base}/deliveries/${delivery}`],
    ['POST', `${base}/deliveries/${delivery}/replay`],
  ]
  for (const [method, path, body] of calls)
    expect([path, (await app.call(method, path, { headers, body })).status]).toEqual([path, 404])
  expect((await app.call('GET', `${base}/webhooks`, { headers })).body.data).toEqual([])
})
