import { pino } from 'pino'
import { expect, test } from 'vitest'
import { eraseDeletedOrganizations } from '../src/privacy/erase-organization.ts'
import { createFlow, orderFlow, send } from './support/flows.ts'
import { sampleQuery } from './support/openapi-check.ts'
import { type Person, password, registerOther } from './support/people.ts'
import { smallGif } from './support/small-gif.ts'
import { startTestApp, type TestApp } from './support/test-app.ts'
import { until } from './support/until.ts'

/** Creates one record of every kind, and returns their ids by path parameter. */
async function fill(app: TestApp): Promise<Record<string, string>> {
  const make = async (path: string, body: object) => (await app.manage('POST', `/organization${path}`, body)).body.data
  // An email about the import would arrive in the inbox later.
  await app.manage('PATCH', '/me', { alerts: { imports: false } })
  const webhook = await make('/webhooks', { name: 'CRM', url: 'http://127.0.0.1:9/', all_events: true })
  // Paused, so that its delivery does not change.
  await app.manage('PATCH', `/organization/webhooks/${webhook.id}`, { status: 'paused' })
  const eventExport = await make('/event-exports', {
    name: 'Warehouse',
    endpoint: 'http://127.0.0.1:9',
    region: 'us-east-1',
    bucket: 'events',
    access_key_id: 'id',
    secret_access_key: 'secret',
  })
  await app.manage('PATCH', `/organization/event-exports/${eventExport.id}`, { status: 'paused' })
  const group = await make('/groups', { name: 'Customers' })
  const segment = await make('/segments', {
    name: 'Customers on pro',
    filter: { type: 'text', field: 'attributes.plan', operator: 'equals', value: 'pro' },
  })
  const flowId = await createFlow(app)
  await app.manage('PUT', `/organization/flows/${flowId}/draft`, { subject: 'Draft' })
  const attachments = ['a.txt', 'b.txt'].map((filename) => ({ filename, content: 'YQ==' }))
  const message = (await send(app, flowId, { attachments })).body.data
  const action = await make('/bulk-actions', {
    action: 'add_to_group',
    group_id: group.id,
    contact_ids: [message.contact_id],
  })
  await make(`/groups/${group.id}/members`, { contact_ids: [message.contact_id] })
  await make('/suppressions', { email: 'bob@example.com' })
  const broadcast = await make('/broadcasts', { name: 'Newsletter', audience: { group_ids: [group.id] } })
  const image = await app.call('POST', '/api/v1/organization/images', {
    headers: { authorization: `Bearer ${app.session}`, 'content-type': 'image/gif' },
    raw: smallGif,
  })
  const part = await make('/flow-parts', { name: 'footer', html: '<p>Acme</p>' })
  const domain = await make('/domains', { name: 'acme.example.com' })
  const mailServer = await make('/mail-servers', {
    name: 'SES',
    url: 'smtp://ada:secret@127.0.0.1:9',
    kinds: ['marketing'],
  })
  const limits = { messages_per_second: 1, messages_per_day: null }
  await app.manage('PUT', '/organization/receiving-sites/mail.acme.example', limits)
  const csv = 'email\ncarol@example.com\n'
  const headers = { authorization: `Bearer ${app.session}`, 'content-type': 'text/csv' }
  const imported = await app.call('POST', '/api/v1/organization/contacts/import', { headers, raw: csv })
  const carol = await until('the import', async () => {
    const { body } = await app.manage('GET', '/organization/contacts?query=carol')
    return body.data[0]?.id as string | undefined
  })
  await app.manage('PATCH', `/organization/contacts/${carol}`, { status: 'unsubscribed' })
  const list = async (path: string) => (await app.manage('GET', `/organization${path}`)).body.data
  const delivery = await until('the delivery', async () => (await list(`/webhooks/${webhook.id}/deliveries`))[0])
  await until('the mail', async () => (await list('/inbox'))[0])
  await until('the end of the action', async () => (await list('/bulk-actions'))[0].finished_at)
  await until('the end of the import', async () => (await list('/imports'))[0].status === 'done')
  const invitation = await make('/invitations', { email: 'eve@acme.example', role: 'member' })
  await until('the invitation', async () => (await list('/inbox'))[1])
  return {
    members: (await list('/members'))[0].id,
    invitations: invitation.id,
    'api-keys': (await list('/api-keys'))[0].id,
    'api-requests': (await until('the request to be stored', async () => (await list('/api-requests'))[0])).request_id,
    contacts: message.contact_id,
    groups: group.id,
    segments: segment.id,
    'bulk-actions': action.id,
    imports: imported.body.data.id,
    suppressions: 'bob@example.com',
    flows: flowId,
    messages: message.message_id,
    inbox: message.message_id,
    webhooks: webhook.id,
    'event-exports': eventExport.id,
    deliveries: delivery.id,
    events: (await list('/events'))[0].id,
    contact_id: message.contact_id,
    version: '1',
    position: '1',
    broadcasts: broadcast.id,
    domains: domain.id,
    'mail-servers': mailServer.id,
    images: image.body.data.id,
    'flow-parts': part.id,
    site: 'mail.acme.example',
  }
}

const bodyOf: Record<string, object> = {
  'PATCH members': { role: 'member' },
  'PATCH groups': { name: 'Mine' },
  'PATCH images': { name: 'Mine' },
  'PATCH flow-parts': { html: '<p>Mine</p>' },
  'PATCH segments': { name: 'Mine' },
  'PATCH contacts': { first_name: 'Eve' },
  'PATCH flows': { name: 'Mine' },
  'PUT draft': { subject: 'Mine' },
  'PATCH webhooks': { name: 'Mine' },
  'PATCH event-exports': { name: 'Mine' },
  'PATCH mail-servers': { name: 'Mine' },
  'PUT warm-up': { plan: [5] },
  'PUT receiving-sites': { messages_per_second: 2, messages_per_day: 5 },
  'POST preview': { context: { order_id: 1 } },
  'POST send': { contact_email: 'eve@other.example', context: { order_id: 1 } },
  'POST test': { to: 'eve@other.example', event_name: 'emailOpen', context: { order_id: 1 } },
  'POST replay': { since: '2026-01-01T00:00:00Z' },
  'POST rotate-secret': {},
  'POST start': { expected_recipients: 1 },
  'POST schedule': { expected_recipients: 1 },
  'POST send-now': { expected_recipients: 1 },
  'PATCH broadcasts': { name: 'Mine' },
  'POST choose-variant': { variant: 'A' },
  'POST send-again': { subject: 'Mine' },
}

/** Their names are the same for all organizations: everyone can set what applies to their email. */
const sharedNames = new Set(['receiving-sites'])

/** Everything the organization can read, except the last use of its key and the time of an export. */
async function everything({ manage }: Pick<Person, 'manage'>, paths: string[]): Promise<string> {
  const answers = await Promise.all(paths.map((path) => manage('GET', path.slice('/api/v1'.length))))
  return answers.map(({ text }) => text.replace(/"(last_used_at|exported_at)":("[^"]*"|null)/, '')).join('\n')
}

test('no operation reads or changes data of another organization', async () => {
  await using app = await startTestApp()
  const ids = await fill(app)
  const other = await registerOther(app)
  const operations = app.openapi.operations().filter(({ path }) => path.startsWith('/api/v1/organization/'))
  const fillIn = (path: string) =>
    path
      .replace(/\/([\w-]+)\/\{(id|email)\}/, (_, kind: string) => `/${kind}/${ids[kind]}`)
      .replace(/\{(\w+)\}/g, (_, name: string) => ids[name]!)
  const reads = operations
    .filter(({ method }) => method === 'GET')
    .map(({ path, query }) => `${fillIn(path)}?${sampleQuery(query, ['start_date', 'end_date', 'link', 'figure'])}`)
  const before = await everything(app, reads)
  for (const id of Object.values(ids)) expect(before).toContain(id)
  expect(before).not.toContain('"status":"error"')

  for (const { method, path } of operations) {
    if (!path.includes('{')) continue
    const [kind, action] = [path.split('/')[4], path.split('/').at(-1)]
    const body = bodyOf[`${method} ${action}`] ?? bodyOf[`${method} ${kind}`] ?? { contact_ids: [ids.contacts] }
    const answer = await other.manage(
      method,
      fillIn(path).slice('/api/v1'.length),
      method === 'GET' || method === 'DELETE' ? undefined : body,
    )
    const expected = sharedNames.has(kind!) ? 200 : 404
    expect([method, path, answer.status]).toEqual([method, path, expected])
  }
  const audience = { group_ids: [ids.groups] }
  expect((await other.manage('POST', '/organization/broadcasts/count-audience', { audience })).status).toBe(422)
  await other.manage('DELETE', `/organization/receiving-sites/${ids.site}`)
  const lists = reads.filter((path) => !Object.values(ids).some((id) => path.includes(`/${id}`)))
  const seen = await everything(other, lists)
  for (const id of Object.values(ids).filter((id) => id !== '1')) expect(seen).not.toContain(id)
  await other.manage('DELETE', '/organization/inbox')
  expect(await everything(app, reads)).toBe(before)
  const deleted = await other.manage('DELETE', '/organization', { name: 'Other', password })
  expect(deleted.status).toBe(200)
  const deletions = { db: app.db, log: pino({ level: 'silent' }), bucket: undefined, keepMs: 0 }
  for (const _run of [1, 2]) await eraseDeletedOrganizations(deletions)
  expect(await everything(app, reads)).toBe(before)
})

test('data of another organization about an address has no effect', async () => {
  await using app = await startTestApp()
  await app.manage('POST', '/organization/contacts', { email: 'ada@example.com' })
  await app.manage('POST', '/organization/suppressions', { email: 'bob@example.com' })
  const carol = await app.manage('POST', '/organization/contacts', { email: 'carol@example.com' })
  await app.manage('PATCH', `/organization/contacts/${carol.body.data.id}`, { status: 'unsubscribed' })

  const other = await registerOther(app)
  const make = async (path: string, body: object) =>
    (await other.manage('POST', `/organization${path}`, body)).body.data
  const { api_key: key } = await make('/api-keys', { name: 'k' })
  const headers = { 'x-api-token': key }
  const { id: flowId } = await make('/flows', orderFlow)
  const { id: groupId } = await make('/groups', { name: 'Customers' })
  for (const email of ['ada@example.com', 'bob@example.com']) {
    const { data } = (await send(app, flowId, { contact_email: email }, headers)).body
    expect(data).toMatchObject({ status: 'queued', contact_created: true })
    const message = await until('the mail to be settled', async () => {
      const { body } = await other.manage('GET', `/organization/messages/${data.message_id}`)
      return body.data.status !== 'queued' && body.data
    })
    expect(message.status).toBe('sent')
  }
  const body = { group_id: groupId, members: [{ email: 'carol@example.com' }] }
  await app.call('POST', '/public/api/v1/contacts/add-group-members', { headers, body })
  const { data } = (await other.manage('GET', '/organization/contacts?query=carol')).body
  expect(data).toMatchObject([{ email: 'carol@example.com', status: 'subscribed' }])
})
