import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { create } from '../../../test/support/resources.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { parseId } from '../../platform/values/ids.ts'

test('the export of a contact contains everything that the database stores about the person, and nobody else', async () => {
  await using app = await startTestApp({ EGRESS_ALLOW_PRIVATE: 'true' })
  const webhook = await create(app, '/webhooks', { name: 'CRM', url: 'http://127.0.0.1:9/', all_events: true })
  const group = await create(app, '/groups', { name: 'Customers' })
  const flowId = await createFlow(app)
  const context = { order_id: 7, note: 'leave it with the neighbour' }
  const message = (await send(app, flowId, { contact_email: 'Ada@example.com', context })).body.data
  const eve = (await send(app, flowId, { contact_email: 'eve@example.com' })).body.data.contact_id
  // Later the address is suppressed.
  await until('both emails', async () => (await app.db`select from inbox`).length === 2)
  const id = message.contact_id
  await create(app, `/groups/${group.id}/members`, { contact_ids: [id] })
  const others = await create(app, '/groups', { name: 'Others' })
  await create(app, `/groups/${others.id}/members`, { contact_ids: [eve] })
  const edit = { first_name: 'Ada', last_name: 'Lovelace', attributes: { plan: 'pro' } }
  await app.manage('PATCH', `/organization/contacts/${id}`, edit)
  for (const email of ['ada@example.com', 'eve@example.com']) await create(app, '/suppressions', { email })
  const headers = { authorization: `Bearer ${app.session}`, 'content-type': 'text/csv' }
  const raw = `email,first_name\nada@example.com,${'x'.repeat(1_000)}\neve@example.com,${'x'.repeat(1_000)}\n`
  await app.call('POST', '/api/v1/organization/contacts/import', { headers, raw })
  await until('all rows', async () => {
    const [counts] = await app.db<{ inbox: number; deliveries: number; problems: number }>`
      select (select count(*) from inbox) as inbox, (select count(*) from deliveries where body is not null) as deliveries,
        (select count(*) from import_problems) as problems`
    return counts!.inbox === 2 && counts!.deliveries === 2 && counts!.problems === 2
  })

  const { status, headers: answered, body, text } = await app.manage('GET', `/organization/contacts/${id}/export`)

  expect(status).toBe(200)
  expect(answered.get('content-disposition')).toBe(`attachment; filename="${id}.json"`)
  expect(body.data).toMatchObject({
    contact: { id, email: 'Ada@example.com', ...edit, subscription: 'subscribed' },
    truncated: [],
    groups: [{ id: group.id, name: 'Customers', added_by: { type: 'user' } }],
    messages: [{ id: message.message_id, email: 'Ada@example.com', subject: expect.stringContaining('7'), context }],
    events: [{ event_name: 'emailSent', message_id: message.message_id, contact_email: 'Ada@example.com' }],
    webhook_deliveries: [{ webhook_id: webhook.id, event_name: 'emailSent' }],
    suppressions: [{ email: 'ada@example.com', reason: 'manual' }],
    inbox: [{ message_id: message.message_id, to: 'Ada@example.com', raw: expect.stringContaining('Subject: ') }],
    rejected_import_rows: [{ line: 2, email: 'ada@example.com', problem: expect.any(String) }],
  })
  expect(JSON.parse(body.data.webhook_deliveries[0].body)).toMatchObject({ event_name: 'emailSent' })
  expect(body.data.history.map(({ change }: { change: string }) => change)).toEqual([
    'suppressed',
    'edited',
    'subscribed',
  ])
  expect(text).not.toContain('eve@example.com')

  await app.manage('DELETE', `/organization/contacts/${id}`)
  expect((await app.manage('GET', `/organization/contacts/${id}/export`)).status).toBe(404)
})

test('an export has a bounded size, and names the lists of which it contains the newest entries only', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { id } = await create(app, '/contacts', { email: 'ada@example.com' })
  const organizationId = parseId('org', app.organizationId)
  const contactId = parseId('con', id)
  await app.db.statement`
    insert into events (organization_id, id, event_name, occurred_at, contact_id, data)
    select ${organizationId}, gen_random_uuid(), 'linkClick', now() - n * interval '1 second', ${contactId},
      jsonb_build_object('url', 'https://example.com/' || n)
    from generate_series(1, 12000) n`
  await app.db.statement`
    insert into messages (organization_id, id, flow_id, flow_version_id, contact_id, email, subject, context, status)
    select ${organizationId}, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, gen_random_uuid(),
      gen_random_uuid(), ${contactId}, 'ada@example.com', 'No. ' || n, jsonb_build_object('x', repeat('x', 100000)), 'sent'
    from generate_series(1, 100) n`

  const { body, text } = await app.manage('GET', `/organization/contacts/${id}/export`)

  expect(body.data.truncated).toEqual(['messages', 'events'])
  expect(body.data.events).toHaveLength(10_000)
  expect(body.data.events[0].data.url).toBe('https://example.com/1')
  expect(body.data.messages).toHaveLength(Math.floor((4 * 1024 * 1024) / 100_420))
  expect(body.data.messages[0].subject).toBe('No. 100')
  expect(text.length).toBeLessThan(10 * 1024 * 1024)
})
