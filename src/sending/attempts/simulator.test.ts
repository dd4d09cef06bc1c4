import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { messageWith } from '../../../test/support/messages.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { startReceiver } from '../../../test/support/webhook-receiver.ts'

test('emails to reserved recipients and people of the demo reach no mail server, and events of the former are marked', async () => {
  await using relay = await startRelay()
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  await using app = await startTestApp({ SMTP_URL: relay.url, MAIL_RETRY_DELAYS: '0.01' })
  await app.manage('POST', '/organization/webhooks', { name: 'All', url: receiver.url(), all_events: true })
  const flowId = await createFlow(app)
  const expected = {
    delivered: ['sent', 'emailSent'],
    'hard-bounce': ['bounced', 'emailHardBounce'],
    'soft-bounce+a': ['bounced', 'emailSoftBounce'],
    deferred: ['sent', 'emailSent'],
    Complaint: ['sent', 'emailSent', 'emailComplaint'],
    open: ['sent', 'emailSent', 'emailOpen'],
    'click+orders': ['sent', 'emailSent', 'emailOpen', 'emailClick'],
    unsubscribe: ['sent', 'emailSent', 'contactUnsubscribe'],
    somebody: ['bounced', 'emailHardBounce'],
  }
  const received = () =>
    receiver.posts.map(({ body }) => JSON.parse(body.toString())).filter(({ data }) => data.message_id !== null)
  for (const [name, [status, ...events]] of Object.entries(expected)) {
    const { body } = await send(app, flowId, { contact_email: `${name}@simulator.waxwing.test` })
    const id: string = body.data.message_id
    const message = await messageWith(app, id, status!)
    expect(message.events.map((event: { event_name: string }) => event.event_name)).toEqual(events)
    expect(message.delivered_to).toBe(status === 'sent' ? 'simulator' : null)
    const payloads = await until('the webhooks', () => {
      const found = received().filter(({ data }) => data.message_id === id)
      return found.length === events.length ? found : undefined
    })
    expect(payloads.map(({ event_name }) => event_name).sort()).toEqual(events.toSorted())
    expect(payloads.map(({ data }) => data.is_test)).toEqual(events.map(() => true))
  }
  const demo = await send(app, flowId, { contact_email: 'ada@waxwing.test' })
  expect(await messageWith(app, demo.body.data.message_id, 'sent')).toMatchObject({ delivered_to: 'inbox' })
  const invitation = { email: 'grace@waxwing.test', role: 'member' }
  expect((await app.manage('POST', '/organization/invitations', invitation)).status).toBe(201)
  await until('the invitation', async () => {
    const { body } = await app.manage('GET', '/organization/inbox')
    return body.data.some(({ to }: { to: string }) => to === 'grace@waxwing.test')
  })
  expect(relay.mails).toHaveLength(0)

  // A bounce or complaint can be tried again; only an unsubscription lasts.
  const { body } = await app.manage('GET', '/organization/suppressions')
  expect(body.data.map(({ email }: { email: string }) => email)).toEqual(['unsubscribe@simulator.waxwing.test'])
})

test('an email to another address is sent, and its events are not marked', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const flowId = await createFlow(app)
  const { body } = await send(app, flowId, { contact_email: 'open@a-simulator.waxwing.test' })
  await messageWith(app, body.data.message_id, 'sent')
  expect(relay.mails).toHaveLength(1)
  const [event] = await app.db<{ data: object }>`select data from events`
  expect(event!.data).toEqual({})
})
