import { expect, test } from 'vitest'
import { startTestApp } from '../../../test/support/test-app.ts'
import { newId, toText } from '../../platform/values/ids.ts'
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

test('an email with more levels of parts than can be read is shown by its source', async () => {
  await using app = await startTestApp({}, ['serve'])
  const [organization] = await app.db<{ id: string }>`select id from organizations`
  const raw = Array.from({ length: 300 }, (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\n\n--b${n}\n`).join(
    '',
  )
  const id = newId('msg')
  await app.db.statement`
    insert into inbox (organization_id, message_id, sender, recipient, subject, raw, size_bytes)
    values (${organization!.id}, ${id}, 's', 'r', 'Nested', ${raw}, ${raw.length})`
  const { status, body } = await app.manage('GET', `/organization/inbox/${toText('msg', id)}`)
  expect([status, body.data]).toMatchObject([200, { subject: 'Nested', html: null, text: null, raw }])
})
