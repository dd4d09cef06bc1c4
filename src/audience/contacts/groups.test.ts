import { expect, test } from 'vitest'
import { create } from '../../../test/support/resources.ts'
import { startSharedApp, type TestApp } from '../../../test/support/test-app.ts'
import { newId, parseId, toText } from '../../platform/values/ids.ts'

const newOrganization = await startSharedApp({}, ['serve'])

const groups = '/organization/groups'

async function createContact(app: TestApp, email: string): Promise<string> {
  return (await create(app, '/contacts', { email })).id
}

test('groups are listed by name with the number of their members', async () => {
  const app = await newOrganization()
  const [zebra, ant] = [
    await create(app, '/groups', { name: ' Zebra ' }),
    await create(app, '/groups', { name: 'ant' }),
  ]
  expect(zebra).toMatchObject({ name: 'Zebra', member_count: 0 })
  const members = [{ email: 'a@example.com' }, { email: 'b@example.com' }]
  await app.publicApi('POST', '/contacts/add-group-members', { group_id: zebra.id, members })
  const list = await app.manage('GET', groups)
  expect(list.body.data).toEqual([ant, { ...zebra, member_count: 2 }])
  expect((await app.manage('GET', `${groups}/${zebra.id}`)).body.data.member_count).toBe(2)
})

test('group names are unique regardless of case, on creation and renaming', async () => {
  const app = await newOrganization()
  const [one, two] = [await create(app, '/groups', { name: 'One' }), await create(app, '/groups', { name: 'Two' })]
  expect((await app.manage('POST', groups, { name: 'one' })).status).toBe(409)
  expect((await app.manage('PATCH', `${groups}/${two.id}`, { name: 'ONE' })).status).toBe(409)
  expect((await app.manage('PATCH', `${groups}/${one.id}`, { name: 'ONE' })).body.data.name).toBe('ONE')
  await create(app, '/groups', { name: 'Grüne Äpfel' })
  expect((await app.manage('POST', groups, { name: 'GRÜNE äpfel' })).status).toBe(409)
  expect((await app.manage('PATCH', `${groups}/${two.id}`, { name: 'grüne äPFEL' })).status).toBe(409)
  await create(app, '/groups', { name: 'Grune Apfel' })
  for (const name of ['', '  ', 'x'.repeat(201), 'a\0b', 7])
    expect((await app.manage('POST', groups, { name })).status).toBe(422)
  expect((await app.manage('PATCH', `${groups}/${toText('grp', newId('grp'))}`, { name: 'One' })).status).toBe(404)
})

test('deleting a group keeps its contacts', async () => {
  const app = await newOrganization()
  const group = await create(app, '/groups', { name: 'Gone' })
  const id = await createContact(app, 'ada@example.com')
  await app.manage('POST', `${groups}/${group.id}/members`, { contact_ids: [id] })
  expect((await app.manage('DELETE', `${groups}/${group.id}`)).body.data).toBe(null)
  expect((await app.manage('GET', `${groups}/${group.id}`)).status).toBe(404)
  expect((await app.manage('GET', `/organization/contacts/${id}`)).body.data.groups).toEqual([])
  const organizationId = parseId('org', app.organizationId)!
  expect(await app.db`select from group_members where organization_id = ${organizationId}`).toHaveLength(0)
  expect((await app.manage('DELETE', `${groups}/${group.id}`)).status).toBe(404)
})

test('groups come in pages if there is a limit', async () => {
  const app = await newOrganization()
  for (const name of ['delta', 'Alpha', 'charlie', 'Bravo']) await create(app, '/groups', { name: name })
  const read = async (query: string) => {
    const { status, body } = await app.manage('GET', `${groups}?${query}`)
    return { status, names: body.data?.map(({ name }: { name: string }) => name), cursor: body.next_cursor }
  }
  const all = ['Alpha', 'Bravo', 'charlie', 'delta']
  expect(await read('')).toEqual({ status: 200, names: all, cursor: null })
  const first = await read('limit=3')
  expect(first.names).toEqual(all.slice(0, 3))
  expect(await read(`limit=3&cursor=${first.cursor}`)).toEqual({ status: 200, names: ['delta'], cursor: null })
  expect(await read('limit=4')).toEqual({ status: 200, names: all, cursor: null })
  expect([(await read('limit=0')).status, (await read('cursor=x')).status]).toEqual([422, 422])
})

test('all contacts are added to a group or none, and not_subscribed ones become subscribed', async () => {
  const app = await newOrganization()
  const group = await create(app, '/groups', { name: 'G' })
  const [ada, bob] = [await createContact(app, 'ada@example.com'), await createContact(app, 'bob@example.com')]
  await app.db.statement`update contacts set subscription = 'not_subscribed' where id = ${parseId('con', bob)!}`
  const path = `${groups}/${group.id}/members`
  const refused = await app.manage('POST', path, { contact_ids: [ada, toText('con', newId('con')), 'x'] })
  expect(refused.status).toBe(404)
  expect(refused.body.error.fields.map((field: { path: string }) => field.path)).toEqual([
    'contact_ids.1',
    'contact_ids.2',
  ])
  expect((await app.manage('POST', path, { contact_ids: [] })).status).toBe(422)
  expect((await app.manage('POST', path, { contact_ids: [ada] })).body.data).toEqual({ added: 1 })
  expect((await app.manage('POST', path, { contact_ids: [ada, bob, bob] })).body.data).toEqual({ added: 1 })
  expect((await app.manage('GET', `/organization/contacts/${bob}`)).body.data.status).toBe('subscribed')

  expect((await app.manage('DELETE', `${path}/${bob}`)).status).toBe(200)
  expect((await app.manage('DELETE', `${path}/${bob}`)).status).toBe(404)
  expect((await app.manage('GET', `${groups}/${group.id}`)).body.data.member_count).toBe(1)
})

test('adding to a group never subscribes an address that unsubscribed', async () => {
  const app = await newOrganization()
  const group = await create(app, '/groups', { name: 'G' })
  const emails = ['by.hand@example.com', 'by.api@example.com']
  const [byHand, byApi] = await Promise.all(emails.map((email) => createContact(app, email)))
  const organizationId = parseId('org', app.organizationId)!
  await app.db.statement`
    update contacts set subscription = 'not_subscribed' where organization_id = ${organizationId}`
  await app.db.statement`
    insert into suppressions (organization_id, email_key, reason, email)
    select organization_id, email_key, 'unsubscribe', email from contacts where organization_id = ${organizationId}`
  await app.manage('POST', `${groups}/${group.id}/members`, { contact_ids: [byHand] })
  await app.publicApi('POST', '/contacts/add-group-members', { group_id: group.id, members: [{ email: emails[1] }] })
  for (const id of [byHand, byApi])
    expect((await app.manage('GET', `/organization/contacts/${id}`)).body.data).toMatchObject({
      status: 'unsubscribed',
      groups: [{ id: group.id }],
    })
})

test('another organization can neither read nor change a group', async () => {
  const app = await newOrganization()
  const group = await create(app, '/groups', { name: 'Ours' })
  const ada = await createContact(app, 'ada@example.com')
  const registered = await app.call('POST', '/api/v1/auth/register', {
    body: { organization_name: 'Other', email: 'other@acme.example', password: 'correct horse battery' },
  })
  const headers = { authorization: `Bearer ${registered.body.data.token}` }
  const theirs = (method: string, path: string, body?: unknown) => app.call(method, `/api/v1${path}`, { headers, body })
  expect((await theirs('GET', groups)).body.data).toEqual([])
  const made = await theirs('POST', groups, { name: 'Ours' })
  expect(made.status).toBe(201)
  const tries: [string, string, unknown?][] = [
    ['GET', `${groups}/${group.id}`],
    ['PATCH', `${groups}/${group.id}`, { name: 'Theirs' }],
    ['DELETE', `${groups}/${group.id}`],
    ['POST', `${groups}/${made.body.data.id}/members`, { contact_ids: [ada] }],
    ['POST', `${groups}/${group.id}/members`, { contact_ids: [ada] }],
  ]
  for (const [method, path, body] of tries) expect((await theirs(method, path, body)).status).toBe(404)
})
