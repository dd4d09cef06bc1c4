import { expect, test } from 'vitest'
import { createWorld, eventIn } from '../../../test/support/event-world.ts'
import { lockWaits } from '../../../test/support/lock-waits.ts'
import { createTestDb } from '../../../test/support/test-db.ts'
import { until } from '../../../test/support/until.ts'
import { recordEvents } from '../../events/recording/record.ts'
import { newId } from '../../platform/values/ids.ts'
import { repairCounts } from './ledger.sql.ts'

test('a bounce that is recorded while the ledger is counted stays counted; wrong counts are repaired', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = await createWorld(db, { messages: 3 })
  const { organizationId } = world
  const id = newId('brc')
  await db.statement`update messages set broadcast_id = ${id}, status = 'sent'`
  await db.statement`
    insert into broadcast_recipients (organization_id, broadcast_id, contact_id, message_id, status)
    select organization_id, broadcast_id, contact_id, id, 'sent' from messages`
  await db.statement`
    insert into broadcast_counts (organization_id, broadcast_id, status, recipients)
    values (${organizationId}, ${id}, 'sent', 3)`
  const bounce = { type: 'soft' as const, status: null, reply_code: 452, reason: 'mailbox_full', diagnostic: null }
  const kept = () => db`select status, recipients from broadcast_counts order by status`
  let repairing: Promise<void> | undefined
  await db.begin(async (tx) => {
    await recordEvents(tx, [eventIn(world, 0, 'emailSoftBounce', { data: { bounce } })])
    // The counts are changed by now.
    await tx`select 1`
    // The rows were counted before the bounce.
    const counts = { before: { sent: 3 }, counted: { sent: 3 } }
    repairing = db.begin((other) => repairCounts(other, { organizationId, id }, counts))
    await until('the bounce to be waited for', async () => (await lockWaits(db)).length > 0)
  })
  await repairing
  const right = [
    { status: 'bounced', recipients: 1 },
    { status: 'sent', recipients: 2 },
  ]
  expect(await kept()).toEqual(right)

  await db.statement`update broadcast_counts set recipients = 7 where status = 'sent'`
  const counted = { sent: 2, bounced: 1 }
  await db.begin((tx) => repairCounts(tx, { organizationId, id }, { before: { sent: 7, bounced: 1 }, counted }))
  expect(await kept()).toEqual(right)
})
