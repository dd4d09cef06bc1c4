import { expect, test } from 'vitest'
import { emails, fill } from '../../../test/support/broadcasts.ts'
import { lockWaits } from '../../../test/support/lock-waits.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'

test('all subscribed contacts are counted, frozen and sent, minus those that are excluded', async () => {
  await using relay = await startRelay({ parse: false })
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const { make, group, create } = await fill(app)
  const staff = await group('Staff', emails('staff', 2))
  await group('Readers', emails('reader', 4))
  await make('/suppressions', { email: emails('reader', 1)[0] })
  const [gone] = (await app.manage('GET', `/organization/contacts?query=${emails('reader', 2)[1]}`)).body.data
  await app.manage('PATCH', `/organization/contacts/${gone.id}`, { status: 'unsubscribed' })
  const audience = { all_subscribed: true, exclude_group_ids: [staff] }

  const counts = { recipients: 2, audience: 3, suppressed: 1, unsubscribed: 0, not_subscribed: 0 }
  const counted = await app.manage('POST', '/organization/broadcasts/count-audience', { audience })
  expect(counted.body.data).toEqual({ ...counts, complete: true })
  const broadcast = await create([], { audience })
  expect(await broadcast.get()).toMatchObject({ audience: { ...audience, not_opened_broadcast_id: null } })
  expect((await broadcast.act('check')).body.data).toMatchObject(counts)
  await broadcast.start()
  expect(await broadcast.ended()).toMatchObject({ recipients: 2, excluded: 1, counts: { sent: 2 } })
  const copy = (await broadcast.act('duplicate')).body.data
  expect(copy.audience).toMatchObject(audience)
  const again = (await broadcast.act('send-again', { subject: 'Once more' })).body.data
  expect(again.audience).toMatchObject({ all_subscribed: false, exclude_group_ids: [staff] })

  const refused = await app.manage('PATCH', `/organization/broadcasts/${copy.id}`, {
    audience: { all_subscribed: true, group_ids: [staff] },
  })
  expect([refused.status, refused.body.error.fields[0].path]).toEqual([422, 'audience.all_subscribed'])
  // A service announcement to subscribed contacts reaches nobody else.
  const announced = { audience, service_announcement: true }
  const forAll = await app.manage('POST', '/organization/broadcasts/count-audience', announced)
  expect(forAll.body.data).toMatchObject(counts)
})

test('an audience is counted for a moment: then the count is incomplete, and few of them run at the same time', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { group, make } = await fill(app)
  const groupId = await group('Readers', emails('a', 3))
  const audience = { group_ids: [groupId] }
  const count = () => app.manage('POST', '/organization/broadcasts/count-audience', { audience })
  expect((await count()).body.data).toMatchObject({ recipients: 3, complete: true })
  for (const [wrong, path] of [
    [{}, 'audience'],
    [{ group_ids: ['grp_00000000000000000000000000'] }, 'audience.group_ids.0'],
  ] as const) {
    const { body } = await app.manage('POST', '/organization/broadcasts/count-audience', { audience: wrong })
    expect(body.error.fields[0].path).toBe(path)
  }

  const aborted = new AbortController()
  let answers: Awaited<ReturnType<typeof count>>[] = []
  await app.db.begin(async (tx) => {
    // As if counting took long.
    await tx`lock table contacts in access exclusive mode`
    const headers = { authorization: `Bearer ${app.session}`, 'content-type': 'application/json' }
    const url = `${app.url}/api/v1/organization/broadcasts/count-audience`
    const body = JSON.stringify({ audience })
    const outdated = fetch(url, { method: 'POST', headers, body, signal: aborted.signal }).catch(() => 'aborted')
    await until('the count to wait', async () => (await lockWaits(app.db)).length > 0)
    aborted.abort()
    expect(await outdated).toBe('aborted')
    const counting = Promise.all(Array.from({ length: 8 }, count))
    // Other work of the organization has its own share.
    expect((await make('/broadcasts', { name: 'News' })).status).toBe('draft')
    answers = await counting
  })
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0)
  for (const { status, body } of answers) {
    expect([200, 429, 503]).toContain(status)
    if (status === 200) expect(body.data).toMatchObject({ recipients: 0, complete: false })
  }
  expect((await count()).body.data).toMatchObject({ recipients: 3, complete: true })
})
