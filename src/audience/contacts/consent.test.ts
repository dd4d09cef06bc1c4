import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { appSecret, tokens } from '../../../test/support/readers.ts'
import { addMembers, create } from '../../../test/support/resources.ts'
import { callUrl, startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { startReceiver } from '../../../test/support/webhook-receiver.ts'
import { rebuildCounters } from '../../events/recording/rebuild.ts'
import { parseId } from '../../platform/values/ids.ts'

const newOrganization = await startSharedApp()

const contacts = '/organization/contacts'
const changeNames = ['contactCreated', 'contactUpdated', 'contactSubscribed']

async function importFile(app: TestApp, raw: string): Promise<string> {
  const headers = { authorization: `Bearer ${app.session}`, 'content-type': 'text/csv' }
  const { body } = await app.call('POST', '/api/v1/organization/contacts/import?filename=list.csv', { headers, raw })
  await until('the import', async () => {
    const { status } = (await app.manage('GET', `/organization/imports/${body.data.id}`)).body.data
    return status === 'done'
  })
  return body.data.id
}

const findId = async (app: TestApp, email: string): Promise<string> =>
  (await app.manage('GET', `${contacts}?query=${email}`)).body.data[0].id

test('every subscription and unsubscription is kept with its time, source and address', async () => {
  await using app = await startTestApp({ APP_SECRET: appSecret })
  await app.manage('PATCH', '/organization', { keep_addresses: true })
  const group = await create(app, '/groups', { name: 'News' })
  await addMembers(app, group.id, [{ email: 'ada@example.com' }])
  const ada = await findId(app, 'ada@example.com')
  const flowId = await createFlow(app)
  const message = (await send(app, flowId)).body.data
  const ids = {
    organizationId: parseId('org', app.organizationId)!,
    messageId: parseId('msg', message.message_id)!,
    contactId: parseId('con', ada)!,
    flowId: parseId('flw', flowId)!,
  }
  // On a busy machine, the lookup of the setting can take too long, and then no address is stored.
  await until('an address to be stored', async () => {
    await callUrl('GET', `${app.url}/t/o/${tokens.sign('email', ids)}`)
    return (await app.db`select from events where data ? 'ip'`).length > 0
  })
  const link = tokens.sign('unsubscribe_link', ids)
  const asForm = { raw: '', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  const statusIs = (status: string) =>
    until(status, async () => (await app.manage('GET', `${contacts}/${ada}`)).body.data.status === status)
  await callUrl('POST', `${app.url}/u/${link}`, asForm)
  await statusIs('unsubscribed')
  // Unavailable while the database is considered down, which a busy machine can cause.
  await until('the undo', async () => (await callUrl('POST', `${app.url}/u/${link}/undo`, asForm)).status === 200)
  await statusIs('subscribed')
  await app.manage('PATCH', `${contacts}/${ada}`, { status: 'unsubscribed' })
  await app.manage('DELETE', '/organization/suppressions/ada@example.com')
  const importId = await importFile(app, 'email,status\nada@example.com,unsubscribed\nbob@example.com,\n')

  const recipient = { type: 'recipient', id: null, name: null }
  const owner = { type: 'user', id: expect.stringMatching(/^usr_/), name: 'owner@acme.example' }
  const list = (await app.manage('GET', `${contacts}/${ada}/consents`)).body.data
  expect(list).toMatchObject([
    { action: 'unsubscribed', source: { type: 'import', id: importId, name: 'list.csv' }, ip: null, event_id: null },
    { action: 'subscribed', source: owner, ip: '127.0.0.1' },
    { action: 'unsubscribed', source: owner, ip: '127.0.0.1', method: 'api', message_id: null },
    { action: 'subscribed', source: recipient, ip: '127.0.0.1' },
    { action: 'unsubscribed', source: recipient, ip: '127.0.0.1', method: 'page', message_id: message.message_id },
    { action: 'subscribed', source: { type: 'api_key', id: expect.stringMatching(/^key_/) }, ip: null },
  ])
  expect((await app.manage('GET', `${contacts}/${ada}/export`)).body.data.consents).toEqual(list)
  const bob = await findId(app, 'bob@example.com')
  expect((await app.manage('GET', `${contacts}/${bob}/consents`)).body.data).toMatchObject([
    { action: 'subscribed', source: { type: 'import', id: importId } },
  ])
  expect((await app.manage('GET', `${contacts}/${bob}/timeline`)).body.data).toMatchObject([
    { change: 'created', subscribed: true },
  ])

  // As after the retention period of events.
  await app.db.statement`delete from events`
  const without = (await app.manage('GET', `${contacts}/${ada}/consents`)).body.data as Record<string, unknown>[]
  expect(without.map(({ action }) => action)).toEqual(list.map(({ action }: { action: string }) => action))
  const timeline = (await app.manage('GET', `${contacts}/${ada}/timeline`)).body.data as Record<string, unknown>[]
  expect(timeline.filter(({ change }) => change === 'unsubscribed')).toMatchObject([
    { actor: { type: 'import' } },
    { actor: { type: 'user' } },
    { actor: { type: 'recipient', ip: '127.0.0.1' } },
  ])

  await app.manage('PATCH', '/organization', { keep_addresses: false })
  await app.manage('PATCH', `${contacts}/${ada}`, { status: 'subscribed' })
  expect((await app.manage('GET', `${contacts}/${ada}/consents`)).body.data[0]).toMatchObject({
    action: 'subscribed',
    ip: null,
  })
  await app.manage('DELETE', `${contacts}/${ada}`)
  expect((await app.manage('GET', `${contacts}/${ada}/consents`)).status).toBe(404)
})

/** Creates and changes contacts in every way. */
async function changeContacts(app: TestApp) {
  const group = await create(app, '/groups', { name: 'News' })
  await addMembers(app, group.id, [{ email: 'ada@example.com' }, { email: 'bob@example.com', first_name: 'Bob' }])
  await addMembers(app, group.id, [{ email: 'bob@example.com', first_name: 'Robert', attributes: { plan: 'pro' } }])
  await addMembers(app, group.id, [{ email: 'bob@example.com', first_name: 'Robert' }])
  const carol = (await create(app, '/contacts', { email: 'carol@example.com' })).id
  await app.manage('PATCH', `${contacts}/${carol}`, { last_name: 'Shaw', status: 'unsubscribed' })
  await app.manage('PATCH', `${contacts}/${carol}`, { status: 'subscribed' })
  const dave = (await send(app, await createFlow(app), { contact_email: 'dave@example.com' })).body.data.contact_id
  await create(app, `/groups/${group.id}/members`, { contact_ids: [dave] })
  const importId = await importFile(app, 'email,first_name\nada@example.com,Ada\nerin@example.com,Erin\n')
  return { importId }
}

test('webhooks that select changes of contacts receive each with its source and what was changed', async () => {
  await using receiver = await startReceiver((response) => response.writeHead(200).end(), { plain: true })
  const app = await newOrganization()
  const early = await create(app, '/groups', { name: 'Early' })
  await addMembers(app, early.id, [{ email: 'early@example.com' }])
  await create(app, '/webhooks', { name: 'CRM', url: receiver.url(), event_types: changeNames })
  const { importId } = await changeContacts(app)
  const bodies = await until('all deliveries', () =>
    receiver.posts.length >= 14 ? receiver.posts.map(({ body }) => JSON.parse(body.toString())) : undefined,
  )
  const key = { type: 'api_key', id: expect.stringMatching(/^key_/) }
  const user = { type: 'user', id: expect.stringMatching(/^usr_/) }
  const byImport = { type: 'import', id: importId }
  const received = (name: string, email: string) =>
    bodies
      .filter(({ event_name, data }) => event_name === name && data.contact.email === email)
      .map(({ data: { contact, event_id, ...data } }) => data)
  const none = { message_id: null, flow_id: null }
  const subscribed = { ...none, subscription: 'subscribed' }
  for (const [email, source] of [
    ['ada@example.com', key],
    ['bob@example.com', key],
    ['carol@example.com', user],
    ['erin@example.com', byImport],
  ] as const) {
    expect(received('contactCreated', email)).toEqual([{ ...subscribed, source }])
    const again = email === 'carol@example.com' ? [{ ...subscribed, source: user }] : []
    expect(received('contactSubscribed', email)).toEqual([{ ...subscribed, source }, ...again])
  }
  expect(received('contactCreated', 'dave@example.com')).toEqual([
    { ...none, source: null, subscription: 'not_subscribed' },
  ])
  expect(received('contactSubscribed', 'dave@example.com')).toEqual([{ ...subscribed, source: user }])
  expect(received('contactUpdated', 'bob@example.com')).toEqual([
    { ...none, source: key, fields: ['first_name', 'attributes'] },
  ])
  expect(received('contactUpdated', 'carol@example.com')).toEqual([{ ...none, source: user, fields: ['last_name'] }])
  expect(received('contactUpdated', 'ada@example.com')).toEqual([{ ...none, source: byImport, fields: ['first_name'] }])
  expect(bodies).toHaveLength(14)
})

test('changes of contacts are neither sent with all events nor counted or listed among them', async () => {
  await using everything = await startReceiver((response) => response.writeHead(200).end(), { plain: true })
  const app = await newOrganization()
  const organizationId = parseId('org', app.organizationId)!
  await create(app, '/contacts', { email: 'early@example.com' })
  // No webhook selects them.
  expect(await app.db`select from events where organization_id = ${organizationId}`).toEqual([])
  await create(app, '/webhooks', { name: 'Changes', url: 'http://127.0.0.1:9/', event_types: changeNames })
  const all = await create(app, '/webhooks', { name: 'All', url: everything.url(), all_events: true })
  expect(all.event_types).not.toContain('contactCreated')
  await changeContacts(app)
  const names = await until('the other events', () => {
    const heard = everything.posts.map(({ headers }) => headers['x-service-event'])
    return heard.length >= 2 ? heard.toSorted() : undefined
  })
  expect(names).toEqual(['contactUnsubscribe', 'emailSent'])
  const counted = await app.db<{ eventName: string }>`
    select distinct event_name from event_counters where organization_id = ${organizationId} order by 1`
  expect(counted.map(({ eventName }) => eventName)).toEqual(names)
  expect(await rebuildCounters(app.db)).toMatchObject({ countersDifferent: 0, firstsDifferent: 0 })
  const { data: activity } = (await app.manage('GET', '/organization/events')).body
  expect(activity.map(({ event_name }: { event_name: string }) => event_name).toSorted()).toEqual(names)
  const metric = '/analytics/metrics/get-email-event-metric?start_date=2026-01-01&end_date=2026-01-02'
  expect((await app.publicApi('GET', `${metric}&event_name=contactCreated`)).status).toBe(422)
})

test('a webhook with all events can select changes of contacts as well', async () => {
  await using receiver = await startReceiver((response) => response.writeHead(200).end(), { plain: true })
  const app = await newOrganization()
  const all = await create(app, '/webhooks', { name: 'All', url: receiver.url(), all_events: true })
  const both = { all_events: true, event_types: ['contactSubscribed'] }
  const changed = (await app.manage('PATCH', `/organization/webhooks/${all.id}`, both)).body.data
  expect(changed.event_types).toEqual([...all.event_types, 'contactSubscribed'])
  await create(app, '/contacts', { email: 'frank@example.com' })
  await until('the selected change', () => receiver.posts.length === 1)
  expect(receiver.posts[0]!.headers['x-service-event']).toBe('contactSubscribed')
  const test = await app.manage('POST', `/organization/webhooks/${all.id}/test`, { event_name: 'contactCreated' })
  expect(test.status).toBe(200)
  expect(JSON.parse(receiver.posts[1]!.body.toString()).data).toMatchObject({ message_id: null, test: true })
})
