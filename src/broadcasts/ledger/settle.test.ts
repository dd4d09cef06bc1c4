import { expect, test } from 'vitest'
import { emails, fill } from '../../../test/support/broadcasts.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import type { BroadcastId, ContactId, MessageId, OrganizationId } from '../../platform/values/ids.ts'
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
