import { expect, test } from 'vitest'
import { startTestApp } from '../../../test/support/test-app.ts'
import { trimInboxes } from './inbox.sql.ts'

test('the inbox keeps the newest emails of each organization', async () => {
  await using app = await startTestApp({}, ['serve'])
  const [organization] = await app.db<{ id: string }>`select id from organizations`
  await app.db.statement`
    insert into inbox (organization_id, message_id, sender, recipient, subject, raw)
    select ${organization!.id}, ('00000000-0000-7000-8000-00000000000' || n)::uuid, 's', 'r', n::text, '' from generate_series(1, 5) n`
  await trimInboxes(app.db, 2)
  expect(await app.db`select subject from inbox order by message_id`).toEqual([{ subject: '4' }, { subject: '5' }])
})
