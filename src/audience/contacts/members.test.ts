import fc from 'fast-check'
import { expect, test } from 'vitest'
import { create, createKey } from '../../../test/support/resources.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'

const newOrganization = await startSharedApp()

const password = 'correct horse battery'

async function createGroup(app: TestApp, name = 'Customers'): Promise<string> {
  return (await create(app, '/groups', { name })).id
}

const add = (app: TestApp, groupId: unknown, members: unknown) =>
  app.publicApi('POST', '/contacts/add-group-members', { group_id: groupId, members })

async function find(app: TestApp, email: string) {
  const found = await app.manage('GET', `/organization/contacts?query=${encodeURIComponent(email)}`)
  return found.body.data[0]
}

test('members are stored as subscribed contacts of the group, and the response counts them', async () => {
  const app = await newOrganization()
  const groupId = await createGroup(app)
  const answer = await add(app, groupId, [
    { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace', attributes: { plan: 'pro' } },
    { email: ' Grace@EXAMPLE.com ', unknown_field: 1 },
  ])
  expect(answer.status).toBe(200)
  expect(answer.body.data).toEqual({
    group_id: groupId,
    received: 2,
    created: 2,
    updated: 0,
    added: 2,
    already_members: 0,
    rejected: [],
    warnings: ['Unknown fields of members were ignored: unknown_field.'],
  })
  expect(await find(app, 'ada')).toMatchObject({
    email: 'ada@example.com',
    first_name: 'Ada',
    last_name: 'Lovelace',
    attributes: { plan: 'pro' },
    status: 'subscribed',
    groups: [{ id: groupId, name: 'Customers' }],
  })
  expect(await find(app, 'grace')).toMatchObject({ email: 'Grace@example.com', first_name: null, attributes: {} })
})

test('a contact known under another spelling is updated with the given fields', async () => {
  const app = await newOrganization()
  const [first, second] = [await createGroup(app, 'First'), await createGroup(app, 'Second')]
  await add(app, first, [
    { email: 'Ada@example.com', first_name: 'Ada', last_name: 'L', attributes: { plan: 'pro', seats: 1 } },
    { email: 'bob@example.com', first_name: 'Bob' },
  ])
  const answer = await add(app, second, [
    { email: 'ADA@Example.com', last_name: null, attributes: { seats: 2, 'a key': [null] } },
    { email: 'new@example.com' },
  ])
  expect(answer.body.data).toMatchObject({ created: 1, updated: 1, added: 2, already_members: 0 })
  const ada = await find(app, 'ada@')
  expect(ada).toMatchObject({
    email: 'Ada@example.com',
    first_name: 'Ada',
    last_name: null,
    attributes: { plan: 'pro', seats: 2, 'a key': [null] },
  })
  expect(ada.groups.map((group: { name: string }) => group.name)).toEqual(['First', 'Second'])
})

test('null clears a name and keeps attributes, as documented in the OpenAPI document', async () => {
  await using app = await startTestApp({}, ['serve'])
  const groupId = await createGroup(app)
  const email = 'ada@example.com'
  await add(app, groupId, [{ email, first_name: 'Ada', last_name: 'Lovelace', attributes: { plan: 'pro' } }])
  const nothing = { first_name: null, last_name: null, attributes: null }
  expect((await add(app, groupId, [{ email, ...nothing }])).body.data).toMatchObject({ updated: 1, rejected: [] })
  expect(await find(app, email)).toMatchObject({ first_name: null, last_name: null, attributes: { plan: 'pro' } })

  const { paths } = (await app.call('GET', '/openapi.json')).body
  const { requestBody } = paths['/public/api/v1/contacts/add-group-members'].post
  const { properties } = requestBody.content['application/json'].schema.properties.members.items
  for (const name of Object.keys(nothing))
    expect([name, properties[name].type]).toEqual([name, expect.arrayContaining(['null'])])
})

test('repeating a request writes no row', async () => {
  await using app = await startTestApp()
  const groupId = await createGroup(app)
  const members = [{ email: 'ada@example.com', first_name: 'Ada', attributes: { a: 1 } }, { email: 'b@example.com' }]
  await add(app, groupId, members)
  const rows = () => app.db`select contacts.xmin::text, contacts.xmax::text, ctid::text from contacts order by id`
  const before = await rows()
  const answer = await add(app, groupId, members)
  expect(answer.body.data).toMatchObject({ created: 0, updated: 2, added: 0, already_members: 2 })
  expect(await rows()).toEqual(before)
})

test('a member that occurs twice counts once, and its later fields win', async () => {
  const app = await newOrganization()
  const groupId = await createGroup(app)
  const answer = await add(app, groupId, [
    { email: 'Ada@example.com', first_name: 'Adah', last_name: 'L', attributes: { a: 1, b: 1 } },
    { email: 'ada@EXAMPLE.com', first_name: 'Ada', attributes: { b: 2 } },
  ])
  expect(answer.body.data).toMatchObject({ received: 2, created: 1, updated: 0, added: 1, already_members: 0 })
  expect(await find(app, 'ada')).toMatchObject({
    email: 'Ada@example.com',
    first_name: 'Ada',
    last_name: 'L',
    attributes: { a: 1, b: 2 },
  })
})

test('invalid members are rejected with index and reason while valid ones are stored', async () => {
  const app = await newOrganization()
  const groupId = await createGroup(app)
  const deep = JSON.parse('{"a":'.repeat(20) + 1 + '}'.repeat(20))
  const answer = await add(app, groupId, [
    { email: 'ada@example.com' },
    { email: 'not an address', first_name: 'X' },
    'ada@example.com',
    { first_name: 'No address' },
    { email: 'b@example.com', first_name: 7 },
    { email: 'c@example.com', last_name: 'x'.repeat(201) },
    { email: 'd@example.com', attributes: ['a'] },
    { email: 'e@example.com', attributes: { big: 'x'.repeat(17_000) } },
    { email: 'f@example.com', attributes: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`k${i}`, i])) },
    { email: 'g@example.com', first_name: 'a\0b' },
    { email: 'h@example.com', first_name: '\ud83d' },
    { email: 'i@example.com', attributes: { a: ['\0'] } },
    { email: 'j@example.com', attributes: { '\udc00': 1 } },
    { email: 'k@example.com', attributes: deep },
    null,
    { email: 'fine@example.com', first_name: '😀', attributes: { text: 'a literal \\u0000 and \\ud800' } },
  ])
  expect(answer.status).toBe(200)
  expect(answer.body.data).toMatchObject({ received: 16, created: 2, added: 2 })
  const problems = answer.body.data.rejected.map((each: { index: number; problem: string }) => [
    each.index,
    each.problem.split(':')[0],
  ])
  expect(problems).toEqual([
    [1, 'email is not a valid email address'],
    [2, 'must be an object'],
    [3, 'email must be a string'],
    [4, 'first_name must be a string'],
    [5, 'last_name must have at most 200 characters'],
    [6, 'attributes must be an object'],
    [7, 'attributes must have at most 16384 bytes as JSON'],
    [8, 'attributes must have at most 100 keys'],
    [9, 'first_name contains a character that cannot be stored (NUL or a lone surrogate)'],
    [10, 'first_name contains a character that cannot be stored (NUL or a lone surrogate)'],
    [11, 'attributes contains a character that cannot be stored (NUL or a lone surrogate)'],
    [12, 'attributes contains a character that cannot be stored (NUL or a lone surrogate)'],
    [13, 'attributes must be nested at most 10 levels deep'],
    [14, 'must be an object'],
  ])
  expect(answer.body.data.rejected[0].email).toBe('not an address')
  expect(answer.body.data.rejected[2].email).toBe(null)
  expect(await find(app, 'fine@')).toMatchObject({
    first_name: '😀',
    attributes: { text: 'a literal \\u0000 and \\ud800' },
  })
})

test('a request without any valid member is rejected with each field', async () => {
  const app = await newOrganization()
  const groupId = await createGroup(app)
  const answer = await add(app, groupId, [{ email: 'x' }, 7])
  expect(answer.status).toBe(422)
  expect(answer.body.error.type).toBe('validation_failed')
  expect(answer.body.error.fields.map((field: { path: string }) => field.path)).toEqual([
    'members.0.email',
    'members.1',
  ])
})

test('an unknown group is a 404 and nothing is stored', async () => {
  await using app = await startTestApp()
  const groupId = await createGroup(app)
  await app.manage('DELETE', `/organization/groups/${groupId}`)
  for (const id of [groupId, 'grp_nonsense', '', 'x'.repeat(5_000)]) {
    for (const email of ['ada@example.com', 'no address']) {
      const answer = await add(app, id, [{ email }])
      expect([answer.status, answer.body.error.type]).toEqual([404, 'not_found'])
    }
  }
  expect(await app.db`select from contacts`).toHaveLength(0)
})

test('a malformed body is rejected with the invalid field', async () => {
  const app = await newOrganization()
  const groupId = await createGroup(app)
  const tooMany = Array.from({ length: 10_001 }, (_, i) => ({ email: `m${i}@example.com` }))
  const wrong: [unknown, string][] = [
    [{}, 'group_id'],
    [{ group_id: 5, members: [] }, 'group_id'],
    [{ group_id: groupId }, 'members'],
    [{ group_id: groupId, members: {} }, 'members'],
    [{ group_id: groupId, members: [] }, 'members'],
    [{ group_id: groupId, members: tooMany }, 'members'],
    ['text', 'body'],
  ]
  for (const [body, path] of wrong) {
    const answer = await app.publicApi('POST', '/contacts/add-group-members', body)
    expect(answer.status, JSON.stringify(body).slice(0, 80)).toBe(422)
    expect(answer.body.error.fields[0].path).toBe(path)
  }
  const raw = (text: string) =>
    app.call('POST', '/public/api/v1/contacts/add-group-members', {
      headers: { 'x-api-token': app.apiKey, 'content-type': 'application/json' },
      raw: text,
    })
  expect((await raw('{"group_id": ')).status).toBe(400)
  expect((await raw('')).status).toBe(400)
  expect((await raw(`"${'x'.repeat(17 * 1024 * 1024)}"`)).status).toBe(413)
})

test('a key without the scope contacts:write cannot add members', async () => {
  const app = await newOrganization()
  const groupId = await createGroup(app)
  const key = await createKey(app, ['analytics:read'])
  const answer = await app.call('POST', '/public/api/v1/contacts/add-group-members', {
    headers: { 'x-api-token': key },
    body: { group_id: groupId, members: [{ email: 'ada@example.com' }] },
  })
  expect([answer.status, answer.body.error.type]).toEqual([403, 'insufficient_scope'])
})

test('unsubscribed contacts stay unsubscribed, also after erasure, and not_subscribed ones become subscribed', async () => {
  await using app = await startTestApp()
  const groupId = await createGroup(app)
  await add(app, groupId, [{ email: 'gone@example.com' }, { email: 'sent@example.com' }, { email: 'out@example.com' }])
  const [gone, out] = [await find(app, 'gone'), await find(app, 'out')]
  await app.manage('PATCH', `/organization/contacts/${out.id}`, { status: 'unsubscribed' })
  await app.manage('PATCH', `/organization/contacts/${gone.id}`, { status: 'unsubscribed' })
  await app.manage('DELETE', `/organization/contacts/${gone.id}`)
  await app.db.statement`update contacts set subscription = 'not_subscribed' where email = 'sent@example.com'`

  const second = await createGroup(app, 'Second')
  const named = { email: 'out@example.com', first_name: 'Out' }
  await add(app, second, [{ email: 'gone@example.com' }, { email: 'sent@example.com' }, named])
  expect(await find(app, 'out')).toMatchObject({ status: 'unsubscribed', first_name: 'Out' })
  expect((await find(app, 'sent')).status).toBe('subscribed')
  expect((await find(app, 'gone')).status).toBe('unsubscribed')
})

test('the same address in two organizations is two contacts, and neither can add to the other’s group', async () => {
  await using app = await startTestApp()
  const groupId = await createGroup(app)
  await add(app, groupId, [{ email: 'ada@example.com', first_name: 'Ada' }])
  const other = await app.call('POST', '/api/v1/auth/register', {
    body: { organization_name: 'Other', email: 'other@acme.example', password },
  })
  const headers = { authorization: `Bearer ${other.body.data.token}` }
  const key = await app.call('POST', '/api/v1/organization/api-keys', { headers, body: { name: 'other' } })
  const theirGroup = await app.call('POST', '/api/v1/organization/groups', { headers, body: { name: 'Customers' } })
  const addTheirs = (id: string) =>
    app.call('POST', '/public/api/v1/contacts/add-group-members', {
      headers: { 'x-api-token': key.body.data.api_key },
      body: { group_id: id, members: [{ email: 'ada@example.com', first_name: 'Other' }] },
    })
  expect((await addTheirs(groupId)).status).toBe(404)
  expect((await addTheirs(theirGroup.body.data.id)).body.data).toMatchObject({ created: 1, updated: 0 })
  expect((await find(app, 'ada')).first_name).toBe('Ada')
})

test('ten parallel requests with ten thousand overlapping members store each contact once', async () => {
  await using app = await startTestApp()
  const groupId = await createGroup(app)
  // Each request has 5,000 members of its own and shares 5,000 with the next, in a different order.
  const requests = Array.from({ length: 10 }, (_, n) => {
    const members = Array.from({ length: 10_000 }, (_, i) => ({ email: `m${(n * 5_000 + i) % 50_000}@example.com` }))
    return members.sort(() => (n % 2 ? -1 : 1)).reverse()
  })
  const answers = await Promise.all(requests.map((members) => add(app, groupId, members)))
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
  const sum = (field: string) => answers.reduce((total, { body }) => total + body.data[field], 0)
  expect({
    received: sum('received'),
    created: sum('created'),
    updated: sum('updated'),
    added: sum('added'),
    already: sum('already_members'),
  }).toEqual({ received: 100_000, created: 50_000, updated: 50_000, added: 50_000, already: 50_000 })
  const [count] = await app.db<{ contacts: number; members: number }>`
    select (select count(*) from contacts) as contacts, (select count(*) from group_members) as members`
  expect(count).toEqual({ contacts: 50_000, members: 50_000 })
})

test('concurrent requests, edits and erasures of the same contacts all succeed', async () => {
  await using app = await startTestApp()
  const groups = [await createGroup(app, 'One'), await createGroup(app, 'Two')]
  const members = (n: number) =>
    Array.from({ length: 200 }, (_, i) => ({
      email: `m${(i * 7 + n) % 200}@example.com`,
      attributes: { [`k${n}`]: n },
    }))
  await add(app, groups[0], members(0))
  const people = (await app.manage('GET', '/organization/contacts?limit=100')).body.data as { id: string }[]
  const answers = await Promise.all([
    ...Array.from({ length: 12 }, (_, n) => add(app, groups[n % 2], members(n))),
    ...people.slice(0, 20).map(({ id }) => app.manage('DELETE', `/organization/contacts/${id}`)),
    ...people
      .slice(20, 40)
      .map(({ id }, n) => app.manage('PATCH', `/organization/contacts/${id}`, { email: `m${200 + n}@example.com` })),
  ])
  expect(answers.map(({ status }) => status)).toEqual(Array(52).fill(200))
  const [{ orphans } = { orphans: -1 }] = await app.db<{ orphans: number }>`
    select count(*) as orphans from group_members
    left join contacts on contacts.organization_id = group_members.organization_id and contacts.id = contact_id
    where contacts.id is null`
  expect(orphans).toBe(0)
  // No request lost attributes that another merged into the same contact.
  const [row] = await app.db<{ merged: number }>`
    select count(*) as merged from contacts
    where email_key !~ '^m2[0-9][0-9]@' and created_at = (select min(created_at) from contacts)
      and (select count(*) from jsonb_object_keys(attributes)) < 12`
  expect(row!.merged).toBe(0)
})

test('a group deleted while members are being added keeps none of them', async () => {
  await using app = await startTestApp()
  const members = Array.from({ length: 1_000 }, (_, i) => ({ email: `m${i}@example.com` }))
  for (let round = 0; round < 5; round++) {
    const groupId = await createGroup(app, `Round ${round}`)
    const [deleted, ...added] = await Promise.all([
      app.manage('DELETE', `/organization/groups/${groupId}`),
      ...Array.from({ length: 4 }, () => add(app, groupId, members)),
    ])
    expect(deleted!.status).toBe(200)
    for (const { status } of added) expect([200, 404]).toContain(status)
    expect(await app.db`select from group_members`).toHaveLength(0)
  }
})

test('any members value yields 200 or 422', async () => {
  const app = await newOrganization()
  const groupId = await createGroup(app)
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }))
  const anything = fc.jsonValue({ stringUnit: 'binary' })
  const member = fc.record(
    {
      email: fc.oneof(fc.emailAddress(), text, anything),
      first_name: fc.oneof(text, anything),
      last_name: text,
      attributes: fc.oneof(fc.dictionary(text, anything), anything),
    },
    { requiredKeys: ['email'] },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(member, anything), { minLength: 1, maxLength: 20 }), async (members) => {
      fc.pre(!JSON.stringify(members).includes('__proto__'))
      const answer = await add(app, groupId, members)
      expect([200, 422]).toContain(answer.status)
      const { created, updated, rejected } = answer.body.data ?? { created: 0, updated: 0, rejected: members }
      expect(created + updated + rejected.length).toBeLessThanOrEqual(members.length)
    }),
    { numRuns: 100 },
  )
})

const attributesNamed = (prefix: string, count: number, value: unknown = 1) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, value]))

test('a member that occurs ten thousand times with new attributes stays within the limits', async () => {
  const app = await newOrganization()
  const groupId = await createGroup(app)
  // The names repeat: to parse a million different ones takes most of the time that a task may take.
  const members = Array.from({ length: 10_000 }, (_, index) => ({
    email: 'ada@example.com',
    attributes: { ...attributesNamed(`a${index === 0 ? 0 : 1 + (index % 100)}_`, 60), shared: index },
  }))
  const answer = await add(app, groupId, members)
  expect(answer.status).toBe(200)
  expect(answer.body.data).toMatchObject({ received: 10_000, created: 1 })
  expect(answer.body.data.rejected).toHaveLength(9_999)
  expect(answer.body.data.rejected[0]).toMatchObject({ index: 1, problem: expect.stringContaining('at most 100 keys') })
  expect((await find(app, 'ada')).attributes).toEqual({ ...attributesNamed('a0_', 60), shared: 0 })
})

test('the attribute limits include existing attributes, and other members are stored', async () => {
  const app = await newOrganization()
  const groupId = await createGroup(app)
  const other = await createGroup(app, 'Other')
  await add(app, groupId, [
    { email: 'ada@example.com', first_name: 'Ada', attributes: attributesNamed('a', 60) },
    { email: 'bob@example.com', attributes: { text: 'x'.repeat(10_000) } },
  ])
  const answer = await add(app, other, [
    { email: 'new@example.com' },
    { email: 'ada@example.com', first_name: 'Eve', attributes: attributesNamed('b', 60) },
    { email: 'bob@example.com', attributes: { more: 'y'.repeat(10_000) } },
  ])
  expect(answer.body.data).toMatchObject({ created: 1, updated: 0, added: 1, already_members: 0 })
  expect(answer.body.data.rejected.map(({ index, email }: { index: number; email: string }) => [index, email])).toEqual(
    [
      [1, 'ada@example.com'],
      [2, 'bob@example.com'],
    ],
  )
  expect(await find(app, 'ada')).toMatchObject({ first_name: 'Ada', attributes: attributesNamed('a', 60) })
  expect((await find(app, 'ada')).groups).toHaveLength(1)
  const full = await add(app, other, [
    { email: 'ada@example.com', attributes: attributesNamed('b', 40) },
    { email: 'bob@example.com', attributes: { more: 'y'.repeat(16 * 1024 - 10_000 - 21) } },
  ])
  expect(full.body.data).toMatchObject({ updated: 2, rejected: [] })
  expect((await add(app, other, [{ email: 'ada@example.com', attributes: { c: 1 } }])).status).toBe(422)
})

test('concurrent requests cannot exceed the attribute limits together', async () => {
  const app = await newOrganization()
  const groupId = await createGroup(app)
  await add(app, groupId, [{ email: 'ada@example.com' }])
  await Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map((name) =>
      add(app, groupId, [{ email: 'ada@example.com', attributes: attributesNamed(name, 40) }]),
    ),
  )
  expect(Object.keys((await find(app, 'ada')).attributes)).toHaveLength(80)
})

test('a large body that is not JSON or not UTF-8 is rejected like a small one', async () => {
  const app = await newOrganization()
  const post = (raw: Uint8Array | string) =>
    app.call('POST', '/public/api/v1/contacts/add-group-members', {
      headers: { 'x-api-token': app.apiKey, 'content-type': 'application/json' },
      raw,
    })
  for (const size of [10, 1_000_000]) {
    expect((await post('['.repeat(size))).body.error.type).toBe('invalid_json')
    expect((await post(Buffer.alloc(size, 0xff))).body.error.type).toBe('invalid_json')
  }
})
