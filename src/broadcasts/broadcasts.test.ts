import { expect, test } from 'vitest'
import { join } from '../../test/support/people.ts'
import { create } from '../../test/support/resources.ts'
import { type Answer, startSharedApp, type TestApp } from '../../test/support/test-app.ts'

const newOrganization = await startSharedApp({}, ['serve'])

const greeting = {
  name: 'Newsletter',
  kind: 'marketing',
  subject: 'Hello {{ first_name | default: "there" }}',
  html: '<p>News about {{ topic }} for {{ city }}. <a href="https://example.com/news">Read</a></p>',
}

async function fill(app: TestApp) {
  const group = async (name: string, emails: string[]) => {
    const { id } = await create(app, '/groups', { name })
    const members = emails.map((email) => ({ email, attributes: email.startsWith('x') ? {} : { city: 'Vienna' } }))
    await app.publicApi('POST', '/contacts/add-group-members', { group_id: id, members })
    return id as string
  }
  return { group, flow: (await create(app, '/flows', greeting)).id as string }
}

/** A draft with an audience of four, one of whom is suppressed and another one lacks a variable. */
async function createDraft(app: TestApp) {
  const { group, flow } = await fill(app)
  const first = await group('First', ['ada@example.com', 'bob@example.com', 'x1@example.com'])
  const second = await group('Second', ['bob@example.com', 'carol@example.com', 'dan@example.com'])
  const staff = await group('Staff', ['dan@example.com'])
  await create(app, '/suppressions', { email: 'carol@example.com' })
  const changes = {
    flow_id: flow,
    audience: { group_ids: [first, second], exclude_group_ids: [staff] },
    context: { topic: 'birds' },
    missed_after_seconds: 90_000,
    messages_per_hour: 1000,
    schedule: { time_zone: 'Europe/Vienna', window: { days: ['mon', 'fri'], from: '08:00', to: '18:00' } },
  }
  const { id } = await create(app, '/broadcasts', { name: 'News' })
  const path = `/organization/broadcasts/${id}`
  const changed = (await app.manage('PATCH', path, changes)).body.data
  return { path, flow, changes, changed }
}

test('a draft is created, changed and deleted', async () => {
  const app = await newOrganization()
  const { id } = await create(app, '/broadcasts', { name: 'News' })
  const path = `/organization/broadcasts/${id}`
  expect((await app.manage('GET', path)).body.data).toMatchObject({
    name: 'News',
    status: 'draft',
    flow_id: null,
    missed_after_seconds: 3600,
    recipients: null,
    schedule: { at: null, time_zone: 'UTC', per_recipient: false, window: null },
    counts: { pending: 0, sent: 0 },
  })
  expect((await app.manage('POST', `${path}/check`)).status).toBe(422)
  const { changes, changed } = await createDraft(app)
  expect(changed).toMatchObject({ name: 'News', ...changes })
  expect((await app.manage('DELETE', path)).status).toBe(200)
  expect((await app.manage('GET', path)).status).toBe(404)
})

test('the check of a draft counts its recipients, and names what is missing, blocks or should be improved', async () => {
  const app = await newOrganization()
  const { path } = await createDraft(app)
  expect((await app.manage('POST', `${path}/check`)).body.data).toEqual({
    recipients: 3,
    audience: 4,
    suppressed: 1,
    unsubscribed: 0,
    not_subscribed: 0,
    missing_variables: [{ variable: 'city', contacts: 1 }],
    checked: 3,
    incomplete: 1,
    incomplete_contacts: [{ id: expect.any(String), email: 'x1@example.com', variables: ['city'] }],
    unused_context_keys: [],
    plan: expect.objectContaining({ messages_per_hour: 1000 }),
    blockers: ['unreachable_links', 'sender_not_verified', 'no_postal_address'].map((code) => ({
      code,
      message: expect.any(String),
    })),
    findings: [
      {
        check: 'link',
        path: 'html',
        line: 1,
        column: greeting.html.indexOf('"https') + 1,
        problem: 'The link "https://example.com/news" leads to a test address.',
        advice: 'Replace it with the address of your site.',
        variant: null,
      },
      expect.objectContaining({ check: 'postal_address', variant: null }),
    ],
    links: [],
    html_bytes: expect.any(Number),
  })
})

test('the check reads the email of each variant', async () => {
  const app = await newOrganization()
  const { path } = await createDraft(app)
  const variants = [{ share: 50 }, { subject: 'x'.repeat(80), share: 50 }]
  await app.manage('PATCH', path, { variants })
  const { findings, html_bytes: bytes } = (await app.manage('POST', `${path}/check`)).body.data
  expect(findings.map(({ check, variant }: Record<string, string>) => [check, variant])).toEqual([
    ['link', null],
    ['postal_address', null],
    ['subject', 'B'],
  ])
  expect(bytes).toBeGreaterThan(200)
})

test('a draft is duplicated under another name, with its planned time', async () => {
  const app = await newOrganization()
  const { path, flow, changes } = await createDraft(app)
  const copy = (await app.manage('POST', `${path}/duplicate`)).body.data
  expect(copy).toMatchObject({ name: 'Copy of News', status: 'draft', audience: changes.audience, flow_id: flow })
  expect((await app.manage('GET', '/organization/broadcasts?limit=1')).body.data).toMatchObject([{ id: copy.id }])
  const copyOfCopy = (await app.manage('POST', `/organization/broadcasts/${copy.id}/duplicate`)).body.data
  expect(copyOfCopy.name).toBe('Copy of News (2)')
  // One that has passed is rejected by the check.
  const schedule = { ...changes.schedule, at: '2026-01-05T09:00' }
  await app.manage('PATCH', path, { schedule })
  const planned = (await app.manage('POST', `${path}/duplicate`)).body.data
  expect(planned).toMatchObject({ name: 'Copy of News (3)', schedule })
  const late = await app.manage('POST', `/organization/broadcasts/${planned.id}/check`)
  expect([late.status, late.body.error.fields[0].path]).toEqual([422, 'schedule.at'])
})

test('a change that is based on an older revision is rejected, and changes nothing', async () => {
  const app = await newOrganization()
  const { data } = (await app.manage('POST', '/organization/broadcasts', { name: 'News' })).body
  const path = `/organization/broadcasts/${data.id}`
  const theirs = await app.manage('PATCH', path, { name: 'Theirs', base_revision: data.revision })
  expect([theirs.status, theirs.body.data.revision]).toEqual([200, data.revision + 1])
  const mine = await app.manage('PATCH', path, { subject: 'Mine', base_revision: data.revision })
  expect([mine.status, mine.body.error.type]).toEqual([409, 'conflict'])
  expect((await app.manage('GET', path)).body.data).toMatchObject({ name: 'Theirs', subject: null })
  expect((await app.manage('PATCH', path, { subject: 'Mine', base_revision: data.revision + 1 })).status).toBe(200)
})

test('broadcasts are found by a part of their name and by their id', async () => {
  const app = await newOrganization()
  await create(app, '/broadcasts', { name: 'October news' })
  const { id } = await create(app, '/broadcasts', { name: 'November sale' })
  const found = async (query: string) => {
    const { data } = (await app.manage('GET', `/organization/broadcasts?query=${encodeURIComponent(query)}`)).body
    return data.map(({ name }: { name: string }) => name)
  }
  expect(await found('NOVEMBER')).toEqual(['November sale'])
  expect(await found(id)).toEqual(['November sale'])
  expect(await found('%')).toEqual([])
})

test('segments add to the audience and are subtracted from it, and nobody is counted twice', async () => {
  const app = await newOrganization()
  const { group, flow } = await fill(app)
  const first = await group('First', ['ada@example.com', 'bob@example.com', 'x1@example.com'])
  await group('Others', ['carol@example.com', 'dan@example.com'])
  const vienna = await create(app, '/segments', {
    name: 'Vienna',
    filter: { type: 'text', field: 'attributes.city', operator: 'equals', value: 'Vienna' },
  })
  const bob = await create(app, '/segments', {
    name: 'Bob',
    filter: { type: 'text', field: 'email', operator: 'equals', value: 'bob@example.com' },
  })
  const count = async (audience: object) => {
    const { id } = await create(app, '/broadcasts', {
      name: 'News',
      flow_id: flow,
      audience,
      context: { topic: 'birds' },
    })
    return (await app.manage('POST', `/organization/broadcasts/${id}/check`)).body.data.recipients
  }
  expect(await count({ segment_ids: [vienna.id] })).toBe(4)
  expect(await count({ group_ids: [first], segment_ids: [vienna.id] })).toBe(5)
  expect(await count({ group_ids: [first], segment_ids: [vienna.id], exclude_segment_ids: [bob.id] })).toBe(4)
  expect(await count({ segment_ids: [vienna.id], exclude_group_ids: [first] })).toBe(2)
})

test('invalid content is rejected with the path of the field', async () => {
  const app = await newOrganization()
  const wrong: [object, string][] = [
    [{ flow_id: 'flw_00000000000000000000000000' }, 'flow_id'],
    [{ audience: { group_ids: ['grp_00000000000000000000000000'] } }, 'audience.group_ids.0'],
    [{ audience: { exclude_segment_ids: ['seg_00000000000000000000000000'] } }, 'audience.exclude_segment_ids.0'],
    [{ schedule: { time_zone: 'Mars/Base' } }, 'schedule.time_zone'],
    [{ schedule: { at: '2026-02-30T09:00' } }, 'schedule.at'],
    [{ schedule: { per_recipient: true } }, 'schedule.at'],
    [{ schedule: { window: { days: ['mon'], from: '18:00', to: '08:00' } } }, 'schedule.window.to'],
    [{ schedule: { window: { days: ['mon'], from: '8', to: '18:00' } } }, 'schedule.window.from'],
    [{ missed_after_seconds: 59 }, 'missed_after_seconds'],
    [{ missed_after_seconds: 31 * 86_400 }, 'missed_after_seconds'],
    [{ messages_per_hour: 0 }, 'messages_per_hour'],
    [{ variants: [{ share: 50 }] }, 'variants'],
    [{ variants: [{ share: 50 }, { share: 49 }] }, 'variants'],
    [{ variants: [{ share: 50 }, { share: 50, flow_version: 7 }] }, 'variants.1.flow_version'],
    [{ variants: [{ share: 50, subject: 'A', flow_version: 1 }, { share: 50 }] }, 'variants.0'],
    [{ variants: [{ share: 50 }, { share: 50, subject: '{% if %}' }] }, 'variants.1.subject'],
    [{ variants: [{ share: 50 }, { share: 50, subject: ' ' }] }, 'variants.1.subject'],
    [{ variants: [{ share: 50 }, { share: 50, subject: 'News\r\nBcc: x@example.com' }] }, 'variants.1.subject'],
    [{ variants: Array(5).fill({ share: 20 }) }, 'variants'],
    [{ test_percent: 0 }, 'test_percent'],
    [{ winner_by: 'luck' }, 'winner_by'],
    [{ decide_after_seconds: 59 }, 'decide_after_seconds'],
  ]
  for (const [content, path] of wrong) {
    const { status, body } = await app.manage('POST', '/organization/broadcasts', { name: 'News', ...content })
    expect([content, status, body.error?.fields[0]?.path]).toEqual([content, 422, path])
  }
})

test('a start needs the permission and the exact number of recipients', async () => {
  const app = await newOrganization()
  const { group, flow } = await fill(app)
  const audience = { group_ids: [await group('First', ['ada@example.com', 'bob@example.com'])] }
  const draft = { name: 'News', flow_id: flow, audience, context: { topic: 'birds' } }
  const path = `/organization/broadcasts/${(await create(app, '/broadcasts', draft)).id}`

  const { id: memberId, manage: asMember } = await join(app, 'eve@acme.example', 'member')
  expect((await asMember('POST', `${path}/start`, { expected_recipients: 2 })).status).toBe(403)
  expect((await asMember('PATCH', path, { name: 'Bird news' })).status).toBe(200)

  const permitted = await app.manage('PATCH', `/organization/members/${memberId}`, { can_start_broadcasts: true })
  expect(permitted.body.data).toMatchObject({ role: 'member', can_start_broadcasts: true })
  const refused = await asMember('POST', `${path}/start`, { expected_recipients: 3 })
  expect(refused.status).toBe(409)
  expect(refused.body.message).toContain('has 2 recipients now, not 3')
  const answers = await Promise.all([1, 2, 3].map(() => asMember('POST', `${path}/start`, { expected_recipients: 2 })))
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409])
  expect((await asMember('PATCH', path, { name: 'Late' })).status).toBe(409)
  expect((await asMember('DELETE', path)).status).toBe(409)
})

test('an API key starts broadcasts only if its creator may, and as long as they may', async () => {
  const app = await newOrganization()
  const { group, flow } = await fill(app)
  const audience = { group_ids: [await group('First', ['ada@example.com'])] }
  const content = { name: 'News', flow_id: flow, audience, context: { topic: 'birds' } }
  const path = `/organization/broadcasts/${(await create(app, '/broadcasts', content)).id}`
  const { id: memberId, manage: asMember } = await join(app, 'mia@acme.example', 'member')
  const member = `/organization/members/${memberId}`
  const newKey = (scopes: string[], by = asMember) => by('POST', '/organization/api-keys', { name: 'k', scopes })
  const act = async (key: Answer, action: string) => {
    const headers = { 'x-api-token': key.body.data.api_key }
    const { status, body } = await app.call('POST', `/api/v1${path}/${action}`, { headers, body: {} })
    return [status, body.error?.type]
  }
  const actions = ['start', 'schedule', 'resume', 'choose-variant', 'retry-failed']

  const refused = await newKey(['broadcasts:write', 'broadcasts:send'])
  expect([refused.status, refused.body.error.type]).toEqual([403, 'forbidden'])
  const drafts = await newKey(['broadcasts:read', 'broadcasts:write'])
  for (const action of actions) expect(await act(drafts, action)).toEqual([403, 'insufficient_scope'])
  expect((await act(drafts, 'check'))[0]).toBe(200)

  await app.manage('PATCH', member, { can_start_broadcasts: true })
  const sender = await newKey(['broadcasts:send'])
  expect(sender.status).toBe(201)
  expect(await act(sender, 'resume')).toEqual([409, 'conflict'])
  expect(await act(sender, 'check')).toEqual([403, 'insufficient_scope'])
  await app.manage('PATCH', member, { can_start_broadcasts: false })
  for (const action of actions) expect(await act(sender, action)).toEqual([403, 'forbidden'])
  await app.manage('PATCH', member, { can_start_broadcasts: true })
  expect(await act(sender, 'resume')).toEqual([409, 'conflict'])
  await app.manage('DELETE', member)
  for (const action of actions) expect(await act(sender, action)).toEqual([403, 'forbidden'])

  const byOwner = await newKey(['broadcasts:send'], app.manage)
  expect((await act(byOwner, 'start'))[0]).toBe(202)
})

test('what a scheduled broadcast sends, and to whom, is changed only by people who may start broadcasts', async () => {
  const app = await newOrganization()
  const { group, flow } = await fill(app)
  const filter = { type: 'text', field: 'email', operator: 'contains', value: 'zzz' }
  const segment = async (name: string) => (await create(app, '/segments', { name, filter })).id as string
  const [excluded, unused] = [await segment('Excluded'), await segment('Unused')]
  const audience = { group_ids: [await group('First', ['ada@example.com'])], exclude_segment_ids: [excluded] }
  const schedule = { at: new Date(Date.now() + 86_400_000).toISOString() }
  const content = { name: 'News', flow_id: flow, audience, schedule, context: { topic: 'birds' } }
  const path = `/organization/broadcasts/${(await create(app, '/broadcasts', content)).id}`
  const { id: memberId, manage: asMember } = await join(app, 'tom@acme.example', 'member')
  const key = (await create(app, '/api-keys', { name: 'k', scopes: ['contacts:write', 'flows:write'] })).api_key
  const byKey = (method: string, url: string, body?: object) =>
    app.call(method, `/api/v1${url}`, { headers: { 'x-api-token': key }, body })
  const edits = [
    ['POST', `/organization/flows/${flow}/publish`, {}],
    ['PATCH', `/organization/flows/${flow}`, { subject: 'Other' }],
    ['PATCH', `/organization/flows/${flow}`, { kind: 'transactional' }],
    ['PATCH', `/organization/segments/${excluded}`, { filter }],
  ] as const
  let drafts = 0
  const tryAll = async (send: typeof byKey) => {
    await app.manage('PUT', `/organization/flows/${flow}/draft`, { subject: `Draft ${++drafts}` })
    const statuses = []
    for (const [method, url, body] of edits) statuses.push((await send(method, url, body)).status)
    return statuses
  }

  // All requests about the flow that publish a version.
  const requests = app.openapi
    .operations()
    .filter(({ method, path }) => path.startsWith('/api/v1/organization/flows/{id}') && /^P/.test(method))
    .map(({ method, path }) => ({ method, path: path.slice('/api/v1'.length) }))
  const publishing = async (send: typeof byKey) => {
    const version = async () => (await app.manage('GET', `/organization/flows/${flow}`)).body.data.version
    const found = []
    for (const { method, path } of requests) {
      const subject = `{{ brand.name }} ${++drafts}`
      await app.manage('PATCH', '/organization/brand', { name: `Acme ${drafts}` })
      const before = await version()
      await app.manage('PUT', `/organization/flows/${flow}/draft`, { subject, base_version: before })
      await send(method, path.replace('{id}', flow), { subject: `New ${subject}` })
      if ((await version()) !== before) found.push(path.replace('/organization/flows/{id}', method))
    }
    return found.sort()
  }

  expect(await tryAll(asMember)).toEqual([200, 200, 200, 200])
  expect(await publishing(asMember)).toEqual(['PATCH', 'POST/publish', 'POST/rebuild'])
  await app.manage('PATCH', `/organization/flows/${flow}`, { kind: 'marketing', subject: '{{ brand.name }}' })
  expect((await app.manage('POST', `${path}/schedule`)).status).toBe(202)
  expect(await tryAll(asMember)).toEqual([403, 403, 403, 403])
  expect(await tryAll(byKey)).toEqual([403, 403, 403, 403])
  expect(await publishing(asMember)).toEqual([])
  expect((await asMember('PATCH', `/organization/flows/${flow}`, { name: 'Renamed' })).status).toBe(200)
  expect((await asMember('PATCH', `/organization/segments/${unused}`, { filter })).status).toBe(200)
  expect((await asMember('PATCH', `/organization/segments/${excluded}`, { name: 'Renamed' })).status).toBe(200)
  await app.manage('PATCH', `/organization/members/${memberId}`, { can_start_broadcasts: true })
  expect(await tryAll(asMember)).toEqual([200, 200, 200, 200])
  await app.manage('POST', `${path}/cancel`)
  expect(await tryAll(byKey)).toEqual([200, 200, 200, 200])
})

test('a start schedules a broadcast with a planned time, at most once, and compares no number unless one is expected', async () => {
  const app = await newOrganization()
  const { group, flow } = await fill(app)
  const audience = { group_ids: [await group('First', ['ada@example.com'])] }
  const start = async (schedule: object) => {
    const { id } = await create(app, '/broadcasts', { name: 'News', flow_id: flow, audience, schedule })
    return [1, 2].map(() => app.manage('POST', `/organization/broadcasts/${id}/start`))
  }
  const day = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10)
  for (const at of [`${day}T17:00:30+09:00`, `${day}T08:00:30Z`, `${day}T17:00:30`]) {
    const [first, second] = (await Promise.all(await start({ at, time_zone: 'Asia/Tokyo' }))).sort(
      (a, b) => a.status - b.status,
    )
    expect([first!.status, second!.status]).toEqual([202, 409])
    expect(first!.body.data).toMatchObject({ status: 'scheduled', starts_at: `${day}T08:00:30.000Z` })
  }
  const past = await Promise.all(await start({ at: '2020-01-10T08:00:00Z' }))
  expect(past.map(({ status }) => status)).toEqual([422, 422])
  const distant = await Promise.all(await start({ at: new Date(Date.now() + 366 * 86_400_000).toISOString() }))
  expect(distant.map(({ body }) => body.error.fields[0].path)).toEqual(['schedule.at', 'schedule.at'])
  const now = await Promise.all(await start({}))
  expect(now.map(({ status }) => status).sort()).toEqual([202, 409])
})
