import { expect, test } from 'vitest'
import { fill } from '../../../test/support/broadcasts.ts'
import { join } from '../../../test/support/people.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { scopes } from '../../accounts/people/scopes.ts'

const terms = { name: 'New terms', kind: 'transactional', subject: 'Our terms change', html: '<p>Read them.</p>' }

async function unsubscribe(app: TestApp, email: string): Promise<void> {
  const { data } = (await app.manage('GET', `/organization/contacts?query=${email}`)).body
  await app.manage('PATCH', `/organization/contacts/${data[0].id}`, { status: 'unsubscribed' })
}

test('a transactional flow is rejected unless the broadcast is declared as a service announcement', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { make, group, create, flow: newsletter } = await fill(app)
  const groupId = await group('Customers', ['ada@example.com'])
  const flow = (await make('/flows', terms)).id as string
  const post = async (content: object) => {
    const { status, body } = await app.manage('POST', '/organization/broadcasts', { name: 'Terms', ...content })
    return [status, body.error?.fields[0].path]
  }
  expect(await post({ flow_id: flow })).toEqual([422, 'flow_id'])
  expect(await post({ flow_id: newsletter, service_announcement: true })).toEqual([422, 'service_announcement'])
  expect(await post({ flow_id: flow, service_announcement: true })).toEqual([201, undefined])

  // A flow can become transactional after the draft was saved.
  const draft = await create([groupId], { schedule: { at: '2027-05-01T09:00' } })
  await app.manage('PATCH', `/organization/flows/${newsletter}`, { kind: 'transactional' })
  for (const action of ['check', 'start', 'schedule']) {
    const { status, body } = await draft.act(action, action === 'check' ? undefined : { expected_recipients: 1 })
    expect([action, status, body.error.fields[0].path]).toEqual([action, 422, 'flow_id'])
    expect(body.message).toContain('people who unsubscribed')
  }
})

test('a service announcement is started by owners and API keys that confirm how many unsubscribed people it reaches', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { make, group, create } = await fill(app)
  const flow = (await make('/flows', terms)).id
  const groupId = await group('Customers', ['ada@example.com', 'bob@example.com', 'carol@example.com'])
  await unsubscribe(app, 'ada@example.com')
  await make('/suppressions', { email: 'carol@example.com' })
  const announcement = { flow_id: flow, service_announcement: true }
  const broadcast = await create([groupId], announcement)
  const checked = (await broadcast.act('check')).body.data
  expect(checked).toMatchObject({ audience: 3, recipients: 2, unsubscribed: 1, suppressed: 1 })

  const { id: memberId, manage: asMember } = await join(app, 'eve@acme.example', 'member')
  await app.manage('PATCH', `/organization/members/${memberId}`, { can_start_broadcasts: true })
  const path = (id: string) => `/organization/broadcasts/${id}/start`
  const numbers = { expected_recipients: 2, expected_unsubscribed: 1 }
  const byMember = await asMember('POST', path(broadcast.id), numbers)
  expect([byMember.status, byMember.body.message]).toEqual([403, expect.stringContaining('Only owners')])

  const { api_key: key } = await make('/api-keys', { name: 'Sender', scopes })
  const byKey = (id: string, body: object) =>
    app.call('POST', `/api/v1${path(id)}`, { headers: { 'x-api-token': key }, body })
  const second = await create([groupId], announcement)
  for (const [id, start] of [
    [broadcast.id, (body: object) => broadcast.act('start', body)],
    [second.id, (body: object) => byKey(second.id, body)],
  ] as const) {
    const unconfirmed = await start({ expected_recipients: 2 })
    expect([unconfirmed.status, unconfirmed.body.error.fields[0].path]).toEqual([422, 'expected_unsubscribed'])
    const wrong = await start({ ...numbers, expected_unsubscribed: 0 })
    expect([wrong.status, wrong.body.message]).toEqual([409, expect.stringContaining('1 unsubscribed')])
    expect((await app.manage('GET', `/organization/broadcasts/${id}`)).body.data.status).toBe('draft')
    expect((await start(numbers)).body.data).toMatchObject({ status: 'preparing', service_announcement: true })
  }
})

test('a flow that becomes transactional before the planned time is not sent', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const { group, create, flow } = await fill(app)
  const broadcast = await create([await group('Readers', ['ada@example.com', 'bob@example.com'])], {
    schedule: { at: '2027-05-01T09:00' },
  })
  await broadcast.start('schedule')
  await unsubscribe(app, 'ada@example.com')
  await app.manage('PATCH', `/organization/flows/${flow}`, { kind: 'transactional' })
  await app.db.statement`update broadcasts set starts_at = now()`
  await app.db.statement`update jobs set due_at = now()`
  await app.db.statement`update lanes set next_due_at = now()`
  const expired = await broadcast.ended('expired')
  expect(expired).toMatchObject({ reason: 'not_ready', detail: expect.stringContaining('transactional') })
  expect(relay.mails).toEqual([])
})

test('a flow that becomes transactional while it is sent still skips people who unsubscribe, also after a deferral', async () => {
  await using relay = await startRelay()
  // One recipient is deferred, the other waits for the rate.
  let isDeferring = true
  relay.onRecipient = () => (isDeferring ? { code: 451, text: '4.7.1 Try again later' } : undefined)
  await using app = await startTestApp({ SMTP_URL: relay.url, MAIL_RETRY_DELAYS: '1,1,1,1,1,1,1,1,1,1' })
  const { group, create, flow } = await fill(app)
  const broadcast = await create([await group('Readers', ['ada@example.com', 'bob@example.com'])], {
    messages_per_hour: 720,
  })
  await broadcast.start()
  await until('a deferred email', async () => (await broadcast.get()).counts.queued === 1)
  await app.manage('PATCH', `/organization/flows/${flow}`, { kind: 'transactional' })
  await unsubscribe(app, 'ada@example.com')
  await unsubscribe(app, 'bob@example.com')
  isDeferring = false
  expect((await broadcast.ended()).counts).toMatchObject({ recipients: 2, unsubscribed: 2, sent: 0 })
  expect(relay.mails).toEqual([])
})
