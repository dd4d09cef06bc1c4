import { expect, test } from 'vitest'
import { insertPastMessages } from '../../../bench/support/past-messages.ts'
import { createFlow, send } from '../../../test/support/flows.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { type ContactId, derivedId, type FlowVersionId, parseId, toText } from '../../platform/values/ids.ts'

test('messages are listed and exported by days in the time zone of the organization', async () => {
  await using app = await startTestApp({}, ['serve'])
  await app.manage('PATCH', '/organization', { timezone: 'Asia/Tokyo' })
  const organizationId = parseId('org', app.organizationId)!
  const flowId = parseId('flw', await createFlow(app))!
  const { contact_id, message_id: today } = (await send(app, toText('flw', flowId))).body.data
  const [version] = await app.db<{ id: FlowVersionId }>`
    select id from flow_versions where organization_id = ${organizationId} and flow_id = ${flowId}`
  // Midnight in Tokyo is 15:00 UTC.
  const times = ['2026-02-28T15:00:00Z', '2026-03-01T14:59:59Z', '2026-03-01T15:00:00Z', '2026-03-03T12:00:00Z']
  const past = times.map((text) => ({
    id: derivedId('msg', Date.parse(text), text),
    flowId,
    flowVersionId: version!.id,
    contactId: parseId('con', contact_id) as ContactId,
    email: 'ada@example.com',
    subject: `=1+1 ${text}`,
    context: {},
    status: 'sent' as const,
    sentAt: new Date(text),
  }))
  await app.db.begin((tx) => insertPastMessages(tx, organizationId, past))
  const [first, second, third, fourth] = past.map(({ id }) => toText('msg', id))

  for (const [query, ids] of [
    ['start_date=2026-03-01&end_date=2026-03-01', [second, first]],
    ['start_date=2026-03-02&end_date=2026-03-03&status=sent', [fourth, third]],
    ['end_date=2026-03-02', [third, second, first]],
    ['start_date=2026-03-03', [today, fourth]],
    ['start_date=2026-03-02&engagement=delivered', [fourth, third]],
    ['start_date=2026-03-02&engagement=opened', []],
    ['flow_id=flw_none', []],
  ] as const) {
    const { body } = await app.manage('GET', `/organization/messages?${query}`)
    expect(
      body.data.map(({ id }: { id: string }) => id),
      query,
    ).toEqual(ids)
    const { text } = await app.manage('GET', `/organization/messages/export?${query}`)
    const [header, ...lines] = text.trim().split('\r\n')
    expect(header).toMatch(/^id,email,contact_id,subject,flow,broadcast,status,engagement,/)
    expect(
      lines.map((line: string) => line.split(',')[0]),
      query,
    ).toEqual(ids)
  }
  const { text } = await app.manage('GET', '/organization/messages/export?end_date=2026-03-01')
  expect(text).toContain(`,'=1+1 ${times[0]},Order shipped,,sent,delivered,`)

  for (const [query, field] of [
    ['start_date=2026-02-30', 'start_date'],
    ['start_date=2026-03-02&end_date=2026-03-01', 'end_date'],
  ] as const)
    for (const path of ['messages', 'messages/export']) {
      const { status, body } = await app.manage('GET', `/organization/${path}?${query}`)
      expect([status, body.error.fields[0].path]).toEqual([422, field])
    }
})
