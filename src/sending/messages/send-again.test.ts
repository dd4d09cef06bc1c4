import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { getMessage, messageWith } from '../../../test/support/messages.ts'
import { create } from '../../../test/support/resources.ts'
import { startSharedApp, type TestApp } from '../../../test/support/test-app.ts'

const newOrganization = await startSharedApp()

const sendAgain = ({ manage }: TestApp, id: string) => manage('POST', `/organization/messages/${id}/send-again`)

test('a message shows its context, its webhook deliveries and whether it is in the inbox', async () => {
  const app = await newOrganization()
  const webhook = { name: 'CRM', url: 'http://127.0.0.1:9/', all_events: true }
  const { id: webhookId } = await create(app, '/webhooks', webhook)
  const { message_id: id } = (await send(app, await createFlow(app))).body.data
  const message = await messageWith(app, id, 'sent')
  expect(message).toMatchObject({ context: { order_id: expect.anything() }, in_inbox: true })
  expect(message.webhook_deliveries).toMatchObject([
    { id: expect.stringMatching(/^dlv_/), webhook_id: webhookId, webhook_name: 'CRM', event_name: 'emailSent' },
  ])
  await app.manage('DELETE', '/organization/inbox')
  expect((await getMessage(app, id)).in_inbox).toBe(false)
})

test('sending again creates a message with the same context, to the current address', async () => {
  const app = await newOrganization()
  const flowId = await createFlow(app)
  const { message_id: id, contact_id: contactId } = (await send(app, flowId)).body.data
  const first = await messageWith(app, id, 'sent')
  await app.manage('PATCH', `/organization/contacts/${contactId}`, { email: 'new@example.com' })
  const again = await sendAgain(app, id)
  expect(again).toMatchObject({
    status: 200,
    body: { data: { flow_id: flowId, contact_id: contactId, status: 'queued' } },
  })
  const second = await messageWith(app, again.body.data.message_id, 'sent')
  expect(second.id).not.toBe(first.id)
  expect(second).toMatchObject({ contact: { id: contactId, email: 'new@example.com' }, context: first.context })
  expect(second.subject).toBe(first.subject)
})

test('a message is not sent again to a suppressed address, through a paused flow, or after erasure', async () => {
  const app = await newOrganization()
  const flowId = await createFlow(app)
  const { message_id: id, contact_id: contactId, contact_email: email } = (await send(app, flowId)).body.data
  await messageWith(app, id, 'sent')
  await app.manage('POST', '/organization/suppressions', { email })
  expect((await sendAgain(app, id)).body).toMatchObject({ data: { status: 'suppressed' }, message: 'Email not sent' })
  await app.manage('PATCH', `/organization/flows/${flowId}`, { status: 'paused' })
  expect((await sendAgain(app, id)).body.error.type).toBe('flow_not_active')
  await app.manage('DELETE', `/organization/contacts/${contactId}`)
  expect((await sendAgain(app, id)).status).toBe(409)
  const key = { headers: { 'x-api-token': app.apiKey } }
  expect((await app.call('POST', `/api/v1/organization/messages/${id}/send-again`, key)).status).toBe(403)
})
