import { expect, test } from 'vitest'
import { emails, fill } from '../../../test/support/broadcasts.ts'
import { lockWaits } from '../../../test/support/lock-waits.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { sameTimeKey } from '../schedule.ts'

const conditions = (count: number) => ({
  type: 'any',
  conditions: Array.from({ length: count }, (_, index) => ({
    type: 'text',
    field: 'attributes.city',
    operator: 'equals',
    value: `City ${index}`,
  })),
})

const isNothingLeft = async ({ db }: TestApp) => {
  const rows = await db`select from broadcast_recipients`
  const jobs = await db`select from jobs where kind like 'broadcast.%'`
  return rows.length + jobs.length === 0
}

test('a broadcast can be cancelled and deleted while its recipients are being frozen', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const { group, create } = await fill(app)
  const broadcast = await create([await group('Readers', emails('a', 20))])
  let removed: number | undefined
  await app.db.begin(async (tx) => {
    // The slice waits for the ledger, as if selecting its contacts took long.
    await tx`lock table broadcast_recipients in share mode`
    await broadcast.start()
    await until('the slice to wait', async () => (await lockWaits(app.db)).length > 0)
    expect((await broadcast.act('cancel')).status).toBe(200)
    expect((await broadcast.get()).status).toBe('cancelled')
    removed = (await app.manage('DELETE', `/organization/broadcasts/${broadcast.id}`)).status
  })
  expect(removed).toBe(200)
  await until('nothing to be left', () => isNothingLeft(app))
  expect(relay.mails).toHaveLength(0)
})

test('the segments of an audience have at most 200 conditions together, also if they are changed later', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const { make, group, create, flow } = await fill(app)
  const segments: string[] = []
  for (let at = 0; at < 5; at++)
    segments.push((await make('/segments', { name: `Segment ${at}`, filter: conditions(at === 4 ? 1 : 50) })).id)
  const refused = await app.manage('POST', '/organization/broadcasts', {
    name: 'Expensive',
    flow_id: flow,
    audience: { segment_ids: segments.slice(0, 3), exclude_segment_ids: segments.slice(3) },
  })
  expect([refused.status, refused.body.error.fields[0].path]).toEqual([422, 'audience'])

  const readers = await group('Readers', emails('a', 3))
  const audience = { group_ids: [readers], exclude_segment_ids: segments.slice(1) }
  const at = new Date(Date.now() + 3_600_000).toISOString()
  const broadcast = await create([], { audience, schedule: { at } })
  await app.manage('PATCH', `/organization/segments/${segments[4]}`, { filter: conditions(50) })
  expect((await broadcast.start()).status).toBe(202)
  const more = await make('/segments', { name: 'More', filter: conditions(50) })
  await app.db.statement`
    update broadcasts
    set audience = jsonb_set(audience, '{exclude_segment_ids,4}', to_jsonb(${more.id}::text)), starts_at = now()`
  await app.db.statement`update jobs set due_at = now() where kind = 'broadcast.step'`
  await app.db.statement`update lanes set next_due_at = now() where kind = 'broadcast.step'`
  expect(await broadcast.ended('expired')).toMatchObject({ reason: 'not_ready' })
})

test('zones with the same clock at the planned time and afterwards are one part', () => {
  const at = '2026-12-01T09:00'
  expect(sameTimeKey(at, 'Europe/Vienna')).toBe(sameTimeKey(at, 'Europe/Berlin'))
  expect(sameTimeKey(at, 'Europe/Vienna')).not.toBe(sameTimeKey(at, 'Europe/London'))
  // Summer time begins two weeks earlier in New York than in Vienna, and never in Bogota.
  expect(sameTimeKey('2026-03-01T09:00', 'America/New_York')).not.toBe(
    sameTimeKey('2026-03-01T09:00', 'America/Bogota'),
  )
  const zones = Intl.supportedValuesOf('timeZone')
  expect(new Set(zones.map((zone) => sameTimeKey(at, zone))).size).toBeLessThan(60)
})
