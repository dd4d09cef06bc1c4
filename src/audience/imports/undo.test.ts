import { expect, test } from 'vitest'
import { asDistributed } from '../../../test/support/as-distributed.ts'
import { createFlow, send } from '../../../test/support/flows.ts'
import { create } from '../../../test/support/resources.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { newId, parseId } from '../../platform/values/ids.ts'
import { forgetExpiredChanges } from './undo.ts'

const newOrganization = await startSharedApp()

const contacts = '/organization/contacts'

async function importFile(app: TestApp, raw: string, groupId: string): Promise<string> {
  const headers = { authorization: `Bearer ${app.session}`, 'content-type': 'text/csv' }
  const path = `/api/v1/organization/contacts/import?filename=list.csv&group_id=${groupId}`
  const { body } = await app.call('POST', path, { headers, raw })
  await until('the import', async () => (await importOf(app, body.data.id)).status === 'done')
  return body.data.id
}

const importOf = async (app: TestApp, id: string) => (await app.manage('GET', `/organization/imports/${id}`)).body.data

async function undo(app: TestApp, id: string) {
  expect((await app.manage('POST', `/organization/imports/${id}/undo`)).status).toBe(202)
  return until('the undo', async () => {
    const record = await importOf(app, id)
    return record.undo.status === 'done' ? record : undefined
  })
}

type Contact = { id: string; email: string; status: string; attributes: object; first_name: string | null }

const storedChanges = ({ db, organizationId }: TestApp) =>
  db`select from import_changes where organization_id = ${parseId('org', organizationId)!}`

async function contactsOf(app: TestApp) {
  const { data } = (await app.manage('GET', `${contacts}?limit=100`)).body
  return new Map((data as Contact[]).map((contact) => [contact.email, contact]))
}

const find = async (app: TestApp, email: string) => (await app.manage('GET', `${contacts}?query=${email}`)).body.data[0]

/** Contacts, of whom an import changes some and adds 6,000 and three more. */
async function importOverContacts(app: TestApp) {
  const [group, other] = [
    await create(app, '/groups', { name: 'News' }),
    await create(app, '/groups', { name: 'Other' }),
  ]
  const old = { first_name: 'Ada', attributes: { plan: 'free', seats: 3 } }
  await create(app, '/contacts', { email: 'ada@example.com', ...old })
  await create(app, '/contacts', { email: 'bob@example.com', first_name: 'Bob', attributes: { plan: 'free' } })
  await create(app, '/contacts', { email: 'left@example.com' })
  const flowId = await createFlow(app)
  await send(app, flowId, { contact_email: 'sent@example.com' })
  await create(app, '/suppressions', { email: 'never@example.com' })
  const before = await contactsOf(app)
  const many = Array.from({ length: 6_000 }, (_, index) => `reader${index}@example.com,Reader,pro,,`)
  const id = await importFile(
    app,
    [
      'email,first_name,plan,city,status',
      'ada@example.com,Augusta,pro,London,',
      'bob@example.com,Robert,pro,,',
      'sent@example.com,Sent,,,',
      'left@example.com,,,,unsubscribed',
      'gone@example.com,,,,bounced',
      'never@example.com,,,,suppressed',
      ...many,
      // In another batch than the first row of this contact.
      'ada@example.com,Countess,,Paris,',
      'reader1@example.com,Twice,,,',
    ].join('\n'),
    group.id,
  )
  return { id, group, other, flowId, before }
}

type Imported = Awaited<ReturnType<typeof importOverContacts>>

/** Changes four contacts after the import. */
async function changeContacts(app: TestApp, { before, other, flowId }: Imported) {
  const bob = before.get('bob@example.com')!.id
  await app.manage('PATCH', `${contacts}/${bob}`, { attributes: { plan: 'team' } })
  const [edited, joined, emailed] = [
    await find(app, 'reader10@example.com'),
    await find(app, 'reader11@example.com'),
    await find(app, 'reader12@example.com'),
  ]
  await app.manage('PATCH', `${contacts}/${edited.id}`, { last_name: 'Kept' })
  await create(app, `/groups/${other.id}/members`, { contact_ids: [joined.id] })
  await send(app, flowId, { contact_email: emailed.email })
  return { edited, joined, emailed }
}

/** Stores an event and a delivery about each contact. */
async function storeDeliveries(app: TestApp, about: Contact[]): Promise<void> {
  const organizationId = parseId('org', app.organizationId)
  const webhookId = newId('whk')
  await app.db.statement`
    insert into webhooks (organization_id, id, name, url, all_events, event_types, secret, status)
    values (${organizationId}, ${webhookId}, 'CRM', 'https://acme.example', true, '{}', '', 'paused')`
  for (const contact of about) {
    const eventId = newId('evt')
    await app.db.statement`
      insert into events (organization_id, id, event_name, occurred_at, contact_id, contact_email, contact_first_name)
      values (${organizationId}, ${eventId}, 'contactCreated', now(), ${parseId('con', contact.id)}, ${contact.email}, 'R')`
    await app.db.statement`
      insert into deliveries (organization_id, id, webhook_id, event_id, event_name, status, body)
      values (${organizationId}, delivery_id(${eventId}, ${webhookId}), ${webhookId}, ${eventId}, 'contactCreated',
        'delivered', ${contact.email})`
  }
}

test('an import changes and adds contacts, and can be undone', async () => {
  const app = await newOrganization()
  const { id } = await importOverContacts(app)
  expect(await find(app, 'ada@example.com')).toMatchObject({
    first_name: 'Countess',
    attributes: { plan: 'pro', seats: 3, city: 'Paris' },
  })
  expect((await find(app, 'left@example.com')).status).toBe('unsubscribed')
  expect((await find(app, 'sent@example.com')).status).toBe('subscribed')
  expect((await importOf(app, id)).undo_until).toEqual(expect.any(String))
})

test('undoing an import removes and restores what nobody has changed since', async () => {
  const app = await newOrganization()
  const imported = await importOverContacts(app)
  const { id, group, other, before } = imported
  const { edited, joined, emailed } = await changeContacts(app, imported)
  const done = await undo(app, id)
  expect(done.undo).toMatchObject({ removed: 6_000 + 2 - 3, restored: 4 })
  const now = await contactsOf(app)
  expect([...now.keys()].sort()).toEqual([...before.keys(), edited.email, joined.email, emailed.email].sort())
  for (const email of ['ada@example.com', 'left@example.com', 'sent@example.com'])
    expect(now.get(email)).toEqual(before.get(email))
  expect(now.get('bob@example.com')).toMatchObject({ first_name: 'Bob', attributes: { plan: 'team' }, groups: [] })
  expect(now.get(joined.email)).toMatchObject({ groups: [{ id: other.id }] })
  expect((await app.manage('GET', `/organization/groups/${group.id}`)).body.data.member_count).toBe(0)
  expect((await app.manage('GET', '/organization/suppressions')).body.data).toMatchObject([
    { email: 'never@example.com' },
  ])
  expect(await storedChanges(app)).toEqual([])
  expect((await app.manage('POST', `/organization/imports/${id}/undo`)).status).toBe(409)
  expect(done.undo_until).toBeNull()
})

test('undoing an import is kept among the consents, and erases what events and deliveries say about removed contacts', async () => {
  const app = await newOrganization()
  const { id, before } = await importOverContacts(app)
  const [edited, removed] = [await find(app, 'reader10@example.com'), await find(app, 'reader13@example.com')]
  await app.manage('PATCH', `${contacts}/${edited.id}`, { last_name: 'Kept' })
  await storeDeliveries(app, [edited, removed])
  await undo(app, id)
  const events = app.db`
    select contact_email, contact_first_name, body
    from events join deliveries using (organization_id)
    where organization_id = ${parseId('org', app.organizationId)!} and event_id = events.id and events.event_name = 'contactCreated' order by events.id`
  expect(await events).toEqual([
    { contactEmail: edited.email, contactFirstName: 'R', body: edited.email },
    { contactEmail: null, contactFirstName: null, body: '' },
  ])
  const left = before.get('left@example.com')!.id
  expect((await app.manage('GET', `${contacts}/${left}/consents`)).body.data).toMatchObject([
    { action: 'subscribed', source: { type: 'user' } },
    { action: 'unsubscribed', source: { type: 'import' } },
    { action: 'subscribed', source: { type: 'user' } },
  ])
})

test('the contacts of an import are those that it created, changed and added to its group', async () => {
  const app = await newOrganization()
  const group = await create(app, '/groups', { name: 'News' })
  for (const email of ['changed@example.com', 'joined@example.com', 'other@example.com'])
    await app.manage('POST', contacts, { email, first_name: 'Old' })
  await app.manage('POST', contacts, { email: 'member@example.com', group_ids: [group.id] })
  await importFile(app, 'email\nbefore@example.com\n', group.id)
  const file = 'email,first_name\nchanged@example.com,New\njoined@example.com,\ncreated@example.com,\n'
  const id = await importFile(app, file, group.id)

  const emailsOf = async (query: string) =>
    (await app.manage('GET', `${contacts}?import_id=${query}&sort=email`)).body.data.map(({ email }: Contact) => email)
  expect(await emailsOf(id)).toEqual(['changed@example.com', 'created@example.com', 'joined@example.com'])
  expect(await emailsOf(`${id}&query=created`)).toEqual(['created@example.com'])
  expect((await app.manage('GET', `${contacts}/count?import_id=${id}`)).body.data.count).toBe(3)
  const unknown = await app.manage('GET', `${contacts}?import_id=imp_01arz3ndektsv4rrffq69g5fav`)
  expect(unknown.status).toBe(404)

  const matching = { import_id: id, query: 'joined' }
  await app.manage('POST', '/organization/bulk-actions', { action: 'erase', matching })
  await until('the action', async () => (await emailsOf(id)).length === 2)
  await undo(app, id)
  expect(await emailsOf(id)).toEqual([])
})

test('undoing an import on a distributed database removes the contacts that it created', async () => {
  await using app = await startTestApp({}, undefined, { openFor: ({ db }) => asDistributed(db) })
  const group = await create(app, '/groups', { name: 'News' })
  const id = await importFile(app, 'email\nada@example.com\nbob@example.com\n', group.id)
  expect((await undo(app, id)).undo).toMatchObject({ removed: 2, kept: 0 })
})

test('an import can be undone for 7 days, and its recorded changes are deleted then', async () => {
  const app = await newOrganization()
  const group = await create(app, '/groups', { name: 'News' })
  await app.manage('POST', contacts, { email: 'ada@example.com', first_name: 'Ada' })
  const id = await importFile(app, 'email,first_name\nada@example.com,Augusta\n', group.id)
  await forgetExpiredChanges(app.db)
  expect(await storedChanges(app)).toHaveLength(1)
  await app.db.statement`update imports set finished_at = now() - interval '7 days' where id = ${parseId('imp', id)!}`
  expect((await importOf(app, id)).undo_until).toBeNull()
  expect((await app.manage('POST', `/organization/imports/${id}/undo`)).status).toBe(409)
  await forgetExpiredChanges(app.db)
  expect(await storedChanges(app)).toEqual([])
  expect((await contactsOf(app)).get('ada@example.com')!.first_name).toBe('Augusta')
})
