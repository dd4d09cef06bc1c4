import { expect, test } from 'vitest'
import { createWorld, createWorldIn, eventIn, record } from '../../../test/support/event-world.ts'
import { createKey } from '../../../test/support/resources.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { eventNames } from '../../platform/values/event-types.ts'
import { type FlowId, toText } from '../../platform/values/ids.ts'

const newOrganization = await startSharedApp()

const path = '/analytics/metrics/get-email-event-metric'
const ask = (app: TestApp, query: Record<string, string>) =>
  app.publicApi('GET', `${path}?${new URLSearchParams(query)}`)
const january = { event_name: 'emailOpen', start_date: '2026-01-30', end_date: '2026-02-02' }
test('the response has every day, including zeros and both ends', async () => {
  await using app = await startTestApp()
  const world = await createWorldIn(app, { messages: 2 })
  await record(app.db, [
    eventIn(world, 0, 'emailOpen', { at: '2026-01-29T23:59:59.999Z' }),
    eventIn(world, 0, 'emailOpen', { at: '2026-01-30T00:00:00.000Z', machine: true }),
    eventIn(world, 0, 'emailOpen', { at: '2026-01-30T09:00:00.000Z' }),
    eventIn(world, 1, 'emailOpen', { at: '2026-02-02T23:59:59.999Z' }),
    eventIn(world, 1, 'emailOpen', { at: '2026-02-03T00:00:00.000Z' }),
    eventIn(world, 1, 'emailSent', { at: '2026-01-31T00:00:00.000Z' }),
  ])
  const answer = await ask(app, january)
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    code: 200,
    status: 'success',
    message: 'OK',
    data: {
      ...january,
      timezone: 'UTC',
      total: 3,
      unique: 1,
      machine: 1,
      series: [
        { date: '2026-01-30', total: 2, unique: 0, machine: 1 },
        { date: '2026-01-31', total: 0, unique: 0, machine: 0 },
        { date: '2026-02-01', total: 0, unique: 0, machine: 0 },
        { date: '2026-02-02', total: 1, unique: 1, machine: 0 },
      ],
    },
  })
})

test('days are those of the requested zone', async () => {
  await using app = await startTestApp()
  const world = await createWorldIn(app)
  await record(app.db, [eventIn(world, 0, 'emailOpen', { at: '2026-01-30T18:20:00Z' })])
  const daysIn = async (timezone: string) => {
    const { body } = await ask(app, { ...january, timezone })
    expect(body.data.timezone).toBe(timezone)
    return body.data.series.filter((day: { total: number }) => day.total > 0).map((day: { date: string }) => day.date)
  }
  expect(await daysIn('UTC')).toEqual(['2026-01-30'])
  expect(await daysIn('Asia/Kolkata')).toEqual(['2026-01-30'])
  expect(await daysIn('Asia/Kathmandu')).toEqual(['2026-01-31'])
  expect(await daysIn('Pacific/Auckland')).toEqual(['2026-01-31'])
})

test('a flow is counted separately; unknown, malformed and foreign flows are not found', async () => {
  await using app = await startTestApp()
  const world = await createWorldIn(app, { messages: 3, flows: 2 })
  const other = await createWorld(app.db)
  await record(
    app.db,
    [0, 1, 2].map((index) => eventIn(world, index, 'emailOpen', { at: '2026-01-31T12:00:00Z' })),
  )
  await record(app.db, [eventIn(other, 0, 'emailOpen', { at: '2026-01-31T12:00:00Z' })])
  const totalOf = async (flowId: FlowId) =>
    (await ask(app, { ...january, flow_id: toText('flw', flowId) })).body.data.total
  expect(await totalOf(world.flowIds[0]!)).toBe(2)
  expect(await totalOf(world.flowIds[1]!)).toBe(1)
  expect((await ask(app, january)).body.data.total).toBe(3)

  for (const flowId of [toText('flw', other.flowIds[0]!), toText('org', world.organizationId), 'flw_', 'nonsense']) {
    const answer = await ask(app, { ...january, flow_id: flowId })
    expect([answer.status, answer.body.error.type]).toEqual([404, 'not_found'])
  }
})

test('all problems are reported at once, with the allowed values', async () => {
  const app = await newOrganization()
  const fieldsOf = async (query: Record<string, string>) => {
    const answer = await ask(app, query)
    expect([answer.status, answer.body.error.type]).toEqual([422, 'validation_failed'])
    return answer.body.error.fields as { path: string; problem: string }[]
  }
  expect((await fieldsOf({})).map(({ path }) => path)).toEqual(['event_name', 'start_date', 'end_date'])

  const wrong = { event_name: 'emailOpened', start_date: '2026-02-30', end_date: 'tomorrow', timezone: 'Mars/Base' }
  const fields = await fieldsOf(wrong)
  expect(fields.map(({ path }) => path)).toEqual(['event_name', 'start_date', 'end_date', 'timezone'])
  for (const name of eventNames) expect(fields[0]!.problem).toContain(name)
  expect(fields[1]!.problem).toContain('YYYY-MM-DD')
  expect(fields[3]!.problem).toContain('Europe/Berlin')

  expect(await fieldsOf({ ...january, end_date: '2026-01-29' })).toEqual([
    { path: 'end_date', problem: 'must not be before start_date (2026-01-30)' },
  ])
  expect(await fieldsOf({ ...january, start_date: '2024-01-01', end_date: '2026-01-01' })).toEqual([
    { path: 'end_date', problem: expect.stringContaining('2025-12-31 or earlier') },
  ])
  for (const date of [
    '2026-1-1',
    '20260101',
    '2026-13-01',
    '0000-01-01',
    '9999-01-01',
    '2026-01-01T00:00:00Z',
    ' 2026-01-01',
  ])
    expect((await fieldsOf({ ...january, start_date: date }))[0]!.path).toBe('start_date')
})

test('periods of 731 days and of one day are accepted', async () => {
  const app = await newOrganization()
  const long = await ask(app, {
    ...january,
    start_date: '2024-01-01',
    end_date: '2025-12-31',
    timezone: 'Asia/Kolkata',
  })
  expect(long.body.data.series).toHaveLength(731)
  const short = await ask(app, { ...january, end_date: '2026-01-30' })
  expect(short.body.data.series).toHaveLength(1)
})

test('a repeated parameter is rejected', async () => {
  const app = await newOrganization()
  for (const twice of ['event_name=emailOpen', 'start_date=2026-01-01', 'timezone=UTC']) {
    const answer = await app.publicApi(
      'GET',
      `${path}?${new URLSearchParams({ ...january, timezone: 'UTC' })}&${twice}`,
    )
    expect(answer.status).toBe(422)
  }
  const flow = await app.publicApi('GET', `${path}?${new URLSearchParams(january)}&flow_id=a&flow_id=b`)
  expect(flow.status).toBe(422)
})

test('a key without the scope is rejected, and no key sees counts of another organization', async () => {
  await using app = await startTestApp()
  const other = await createWorld(app.db)
  await record(app.db, [eventIn(other, 0, 'emailOpen', { at: '2026-01-31T12:00:00Z' })])
  expect((await ask(app, january)).body.data.total).toBe(0)

  const key = await createKey(app, ['flows:send'])
  const answer = await app.call('GET', `/public/api/v1${path}?${new URLSearchParams(january)}`, {
    headers: { 'x-api-token': key },
  })
  expect([answer.status, answer.body.error.type]).toEqual([403, 'insufficient_scope'])
  expect((await app.call('GET', `/public/api/v1${path}`)).status).toBe(401)
})
