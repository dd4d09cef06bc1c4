import { expect, test } from 'vitest'
import { create } from '../../../test/support/resources.ts'
import { startSharedApp } from '../../../test/support/test-app.ts'
import { parseId } from '../../platform/values/ids.ts'

const newOrganization = await startSharedApp()

const suppressions = '/organization/suppressions'

test('a manual suppression is idempotent, listed, and removed under any spelling', async () => {
  const app = await newOrganization()
  const made = await app.manage('POST', suppressions, { email: ' Ada/L@Example.com', detail: ' asked us to ' })
  expect(made.status).toBe(201)
  expect(made.body.data).toEqual({
    email: 'Ada/L@example.com',
    reason: 'manual',
    detail: 'asked us to',
    created_at: expect.any(String),
    message_id: null,
  })
  const again = await app.manage('POST', suppressions, { email: 'ada/l@example.com' })
  expect([again.status, again.body.data]).toEqual([201, made.body.data])
  expect((await app.manage('GET', suppressions)).body.data).toEqual([made.body.data])

  const path = `${suppressions}/${encodeURIComponent('ADA/L@example.com')}`
  expect((await app.manage('DELETE', path)).status).toBe(200)
  expect((await app.manage('DELETE', path)).status).toBe(404)
  expect((await app.manage('DELETE', `${suppressions}/nonsense`)).status).toBe(404)
  expect((await app.manage('GET', suppressions)).body.data).toEqual([])
  for (const body of [{}, { email: 'x' }, { email: 'a@example.com', detail: '\0' }, { email: 7 }])
    expect((await app.manage('POST', suppressions, body)).status).toBe(422)
})

test('removing suppressions covers all reasons, and resubscribes only unsubscribed contacts', async () => {
  const app = await newOrganization()
  const { id: ada } = await create(app, '/contacts', { email: 'ada@example.com' })
  const { id: bob } = await create(app, '/contacts', { email: 'bob@example.com' })
  await app.manage('PATCH', `/organization/contacts/${ada}`, { status: 'unsubscribed' })
  await app.db.statement`update contacts set subscription = 'not_subscribed' where id = ${parseId('con', bob)!}`
  for (const email of ['ada@example.com', 'bob@example.com']) await app.manage('POST', suppressions, { email })
  expect((await app.manage('GET', suppressions)).body.data).toHaveLength(3)
  for (const email of ['ada@example.com', 'bob@example.com']) await app.manage('DELETE', `${suppressions}/${email}`)
  const statusOf = async (id: string) => (await app.manage('GET', `/organization/contacts/${id}`)).body.data.status
  expect([await statusOf(ada), await statusOf(bob)]).toEqual(['subscribed', 'not_subscribed'])
})

test('suppressions are filtered by address and reason, and paged newest first per organization', async () => {
  const app = await newOrganization()
  for (let i = 0; i < 9; i++) await app.manage('POST', suppressions, { email: `m${i}@example.com` })
  const contact = await create(app, '/contacts', { email: 'm1@example.com' })
  await app.manage('PATCH', `/organization/contacts/${contact.id}`, { status: 'unsubscribed' })
  // All with the same timestamp, like those of one batch.
  await app.db.statement`
    update suppressions set created_at = '2026-01-01T00:00:00.123Z'
    where organization_id = ${parseId('org', app.organizationId)!} and email < 'm5'`

  const seen: string[] = []
  let cursor = ''
  do {
    const answer = await app.manage('GET', `${suppressions}?limit=1&query=&reason=&cursor=${cursor}`)
    seen.push(...answer.body.data.map((each: { email: string; reason: string }) => `${each.email} ${each.reason}`))
    cursor = answer.body.next_cursor ?? ''
  } while (cursor)
  expect(seen).toHaveLength(10)
  expect(new Set(seen).size).toBe(10)
  expect(seen[0]).toBe('m8@example.com manual')

  const emails = async (filter: string) =>
    (await app.manage('GET', `${suppressions}?${filter}`)).body.data.map((each: { email: string }) => each.email)
  expect(await emails('query=M3')).toEqual(['m3@example.com'])
  expect(await emails('reason=unsubscribe')).toEqual(['m1@example.com'])
  expect(await emails('reason=complaint')).toEqual([])
  expect((await app.manage('GET', `${suppressions}?reason=nonsense`)).status).toBe(422)

  const other = await app.call('POST', '/api/v1/auth/register', {
    body: { organization_name: 'Other', email: 'other@acme.example', password: 'correct horse battery' },
  })
  const headers = { authorization: `Bearer ${other.body.data.token}` }
  expect((await app.call('GET', `/api/v1${suppressions}`, { headers })).body.data).toEqual([])
  expect((await app.call('DELETE', `/api/v1${suppressions}/m3@example.com`, { headers })).status).toBe(404)
})

test('a list of addresses is suppressed once, with a result per entry, and is found by parts and ids', async () => {
  const app = await newOrganization()
  const { id } = await create(app, '/contacts', { email: 'zoe@exämple.org' })
  const list = 'zoe@exämple.org\r\n"bob@example.com";BOB@example.com\n\n Carol <carol@example.com> \nnonsense\n'
  const first = (await app.manage('POST', `${suppressions}/list`, { list, detail: 'Closed accounts' })).body.data
  expect(first).toMatchObject({ added: 3, already_suppressed: 1, rejected: 1 })
  expect(first.results).toEqual([
    { line: 1, text: 'zoe@exämple.org', email: 'zoe@xn--exmple-cua.org', status: 'added', problem: null },
    { line: 2, text: 'bob@example.com', email: 'bob@example.com', status: 'added', problem: null },
    { line: 2, text: 'BOB@example.com', email: 'BOB@example.com', status: 'already_suppressed', problem: null },
    { line: 4, text: 'Carol <carol@example.com>', email: 'carol@example.com', status: 'added', problem: null },
    { line: 5, text: 'nonsense', email: null, status: 'rejected', problem: expect.any(String) },
  ])
  const again = (await app.manage('POST', `${suppressions}/list`, { list })).body.data
  expect(again).toMatchObject({ added: 0, already_suppressed: 4, rejected: 1 })
  expect((await app.manage('GET', `/organization/contacts/${id}`)).body.data.status).toBe('suppressed')
  expect((await app.manage('GET', `/organization/contacts/${id}/timeline`)).body.data[0]).toMatchObject({
    change: 'suppressed',
    reasons: ['manual'],
    actor: { type: 'user' },
  })
  const found = async (query: string) =>
    (await app.manage('GET', `${suppressions}?query=${encodeURIComponent(query)}`)).body.data.map(
      (row: { email: string }) => row.email,
    )
  for (const query of ['exämple', 'zoe@exämple.org', 'xn--exmple', id])
    expect([query, await found(query)]).toEqual([query, ['zoe@xn--exmple-cua.org']])

  // A long list is read in a task process.
  const many = Array.from({ length: 5_000 }, (_, index) => `reader${index}@example.com`)
  expect((await app.manage('POST', `${suppressions}/list`, { list: many.join('\n') })).body.data.added).toBe(5_000)
  for (const wrong of [' \n ', [...many, 'one@example.com'].join('\n'), 'x'.repeat(300_000)])
    expect((await app.manage('POST', `${suppressions}/list`, { list: wrong })).status).toBe(422)
})
