import { expect, test } from 'vitest'
import { emails, fill } from '../../../test/support/broadcasts.ts'
import { lockWaits } from '../../../test/support/lock-waits.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import {
  type BroadcastId,
  type ContactId,
  type MessageId,
  newId,
  type OrganizationId,
  parseId,
} from '../../platform/values/ids.ts'
import { addToCounts } from './settle.sql.ts'
import { settleRecipients, settleRetries } from './settle.ts'

test('the first outcome of a recipient is kept, whatever another worker records later', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const { group, create } = await fill(app)
  const broadcast = await create([await group('Readers', emails('reader', 2))])
  await broadcast.start()
  await broadcast.ended()
  type Row = { organizationId: OrganizationId; broadcastId: BroadcastId; contactId: ContactId; messageId: MessageId }
  const read = () => app.db<Row>`
    select organization_id, broadcast_id, contact_id, message_id, status, reason from broadcast_recipients order by contact_id`
  const [ledger, counts] = [await read(), (await broadcast.get()).counts]
  expect(counts).toMatchObject({ recipients: 2, sent: 2 })
  const late = ledger.map(({ organizationId, broadcastId, contactId, messageId }) => ({
    ...{ organizationId, broadcastId, contactId, messageId },
    status: 'failed' as const,
    reason: 'late',
    message: null,
  }))

  await app.db.begin((tx) => settleRecipients(tx, late))
  expect([await read(), (await broadcast.get()).counts]).toEqual([ledger, counts])
  await app.db.begin((tx) => settleRetries(tx, late))
  expect([await read(), (await broadcast.get()).counts]).toEqual([ledger, counts])
})

test('processes that settle several broadcasts write their rows in the same order, so that they cannot deadlock', async () => {
  await using app = await startTestApp({}, ['serve'])
  const organizationId = parseId('org', app.organizationId) as OrganizationId
  const [first, second] = [newId('brc'), newId('brc')].sort() as [BroadcastId, BroadcastId]
  const retries = [second, first].map((broadcastId) => ({
    ...{ organizationId, broadcastId, contactId: newId('con'), messageId: newId('msg') },
    status: 'sent' as const,
    reason: null,
  }))
  for (const { broadcastId, contactId, messageId } of retries) {
    await app.db.statement`
      insert into broadcasts (organization_id, id, name, status) values (${organizationId}, ${broadcastId}, 'News', 'sending')`
    await app.db.statement`
      insert into broadcast_recipients (organization_id, broadcast_id, contact_id, status, message_id)
      values (${organizationId}, ${broadcastId}, ${contactId}, 'queued', ${messageId})`
    await app.db.statement`
      insert into broadcast_counts (organization_id, broadcast_id, status, recipients)
      values (${organizationId}, ${broadcastId}, 'queued', 1), (${organizationId}, ${broadcastId}, 'sent', 0)`
  }
  // While the first of the rows is locked, the other one is not.
  for (const [table, write] of [
    ['broadcast_recipients', () => app.db.begin((tx) => settleRetries(tx, retries))],
    ['broadcast_counts', () => app.db.begin(async (tx) => addToCounts(tx, 'queued', retries))],
  ] as const) {
    const rows = `select from ${table} where organization_id = $1 and broadcast_id = $2 for update nowait`
    const client = await app.db.pool.connect()
    await client.query('begin')
    await client.query(rows, [organizationId, first])
    const written = write()
    await until('the write to wait', async () => (await lockWaits(app.db)).length > 0)
    const other = await app.db.pool.query(rows, [organizationId, second]).catch((error) => error.code)
    await client.query('rollback')
    client.release()
    await written
    expect([table, other.rowCount ?? other]).toEqual([table, table === 'broadcast_counts' ? 2 : 1])
  }
})
