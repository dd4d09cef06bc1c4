import { recordNotice } from '../../src/operations/notices/notices.ts'
import { parseId } from '../../src/platform/values/ids.ts'
import { createFlow, send } from './flows.ts'
import { create } from './resources.ts'
import { smallGif } from './small-gif.ts'
import type { TestApp } from './test-app.ts'
import { until } from './until.ts'

/** Creates one record of every kind, and returns their ids by path parameter. */
export async function fillOrganization(app: TestApp): Promise<Record<string, string>> {
  // Emails about the import and the notice would arrive in the inbox later.
  await app.manage('PATCH', '/me', { alerts: { imports: false, webhooks: false } })
  const webhook = await create(app, '/webhooks', { name: 'CRM', url: 'http://127.0.0.1:9/', all_events: true })
  // Paused, so that its delivery does not change.
  await app.manage('PATCH', `/organization/webhooks/${webhook.id}`, { status: 'paused' })
  const eventExport = await create(app, '/event-exports', {
    name: 'Warehouse',
    endpoint: 'http://127.0.0.1:9',
    region: 'us-east-1',
    bucket: 'events',
    access_key_id: 'id',
    secret_access_key: 'secret',
  })
  await app.manage('PATCH', `/organization/event-exports/${eventExport.id}`, { status: 'paused' })
  const group = await create(app, '/groups', { name: 'Customers' })
  const segment = await create(app, '/segments', {
    name: 'Customers on pro',
    filter: { type: 'text', field: 'attributes.plan', operator: 'equals', value: 'pro' },
  })
  const flowId = await createFlow(app)
  await app.manage('PUT', `/organization/flows/${flowId}/draft`, { subject: 'Draft' })
  const attachments = ['a.txt', 'b.txt'].map((filename) => ({ filename, content: 'YQ==' }))
  const message = (await send(app, flowId, { attachments })).body.data
  const action = await create(app, '/bulk-actions', {
    action: 'add_to_group',
    group_id: group.id,
    contact_ids: [message.contact_id],
  })
  await create(app, `/groups/${group.id}/members`, { contact_ids: [message.contact_id] })
  await create(app, '/suppressions', { email: 'bob@example.com' })
  const broadcast = await create(app, '/broadcasts', { name: 'Newsletter', audience: { group_ids: [group.id] } })
  const image = await app.call('POST', '/api/v1/organization/images', {
    headers: { authorization: `Bearer ${app.session}`, 'content-type': 'image/gif' },
    raw: smallGif,
  })
  const part = await create(app, '/flow-parts', { name: 'footer', html: '<p>Acme</p>' })
  const domain = await create(app, '/domains', { name: 'acme.example.com' })
  const mailServer = await create(app, '/mail-servers', {
    name: 'SES',
    url: 'smtp://ada:secret@127.0.0.1:9',
    kinds: ['marketing'],
  })
  const limits = { messages_per_second: 1, messages_per_day: null }
  await app.manage('PUT', '/organization/receiving-sites/mail.acme.example', limits)
  // A webhook that was paused has a notice, unless it was paused by hand.
  await app.db.begin((tx) =>
    recordNotice(tx, {
      organizationId: parseId('org', app.organizationId)!,
      kind: 'webhook_paused',
      title: 'The webhook “CRM” was paused',
      detail: 'Every delivery has failed.',
      webhookId: parseId('whk', webhook.id)!,
    }),
  )
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
  const invitation = await create(app, '/invitations', { email: 'eve@acme.example', role: 'member' })
  await until('the invitation', async () => (await list('/inbox'))[1])
  return {
    notices: (await list('/notices?state=open'))[0].id,
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
