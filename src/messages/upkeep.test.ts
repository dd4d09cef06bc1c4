import { expect, test } from 'vitest'
import { createFlow, send } from '../../test/support/flows.ts'
import { startTestApp } from '../../test/support/test-app.ts'
import { trimInbox } from './send.sql.ts'
import { forgetOldKeys } from './upkeep.ts'

test('idempotency keys are forgotten after a day, and not before', async () => {
  await using app = await startTestApp({}, ['serve'])
  const flowId = await createFlow(app)
  await send(app, flowId, {}, { 'idempotency-key': 'old' })
  await app.db.alone`update idempotency_keys set created_at = now() - interval '26 hours'`
  await send(app, flowId, {}, { 'idempotency-key': 'new' })
  await forgetOldKeys(app.db)
  expect(await app.db`select key from idempotency_keys`).toEqual([{ key: 'new' }])
})

test('the inbox keeps the newest mails of each organization', async () => {
  await using app = await startTestApp({}, ['serve'])
  const [organization] = await app.db<{ id: string }>`select id from organizations`
  await app.db.alone`
    insert into inbox (organization_id, message_id, sender, recipient, subject, raw)
    select ${organization!.id}, ('00000000-0000-7000-8000-00000000000' || n)::uuid, 's', 'r', n::text, '' from generate_series(1, 5) n`
  await trimInbox(app.db, 2)
  expect(await app.db`select subject from inbox order by message_id`).toEqual([{ subject: '4' }, { subject: '5' }])
})
