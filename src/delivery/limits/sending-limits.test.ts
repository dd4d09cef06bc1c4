import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDb, openAgain, type TestDb } from '../../../test/support/test-db.ts'
import type { Db } from '../../platform/db/db.ts'
import { type StartedStatement, statementChannelName } from '../../platform/db/statement-channel.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { newId } from '../../platform/values/ids.ts'
import { installationId, type Limit, SendingLimits, type Taken } from './sending-limits.ts'

let testDb: TestDb
let others: Db[]
/** As three processes do. */
let processes: SendingLimits[]

beforeAll(async () => {
  testDb = await createTestDb()
  others = openAgain(testDb, 3)
  processes = others.map((db) => new SendingLimits(db, new StageRegistry()))
})
afterAll(async () => {
  await Promise.all(processes.map((limits) => limits.drained()))
  await Promise.all(others.map((db) => db.close()))
  await testDb[Symbol.asyncDispose]()
})

const newLimit = (values: Partial<Limit>): Limit => ({
  organizationId: newId('org'),
  key: 'server',
  name: 'limit',
  perSecond: null,
  perDay: null,
  ...values,
})

/** Asks again as often as it is told to. Returns the planned time. */
async function send(limits: SendingLimits, limit: readonly Limit[]): Promise<number> {
  for (let hasWaited = false; ; hasWaited = true) {
    const taken = await limits.take(limit[0]!.organizationId, limit, { isBulk: true, hasWaited })
    if (taken.kind === 'taken') return taken.at.getTime()
    expect(taken.cause).toBe('limit')
    await sleep(taken.waitMs)
  }
}

const most = (times: readonly number[], windowMs: number) =>
  Math.max(...times.map((from) => times.filter((time) => time >= from && time < from + windowMs).length))

test('three processes keep the rates of ten sites, and a site that is used up delays no other', async () => {
  const organizationId = newId('org')
  const rates = [10, 14, 20, 25, 30, 40, 50, 60, 80, 100]
  const seconds = 1.5
  const server: Limit = { organizationId, key: 'server', name: 'limit', perSecond: 2_000, perDay: null }
  const stalled: Limit = { organizationId, key: 'stalled', name: 'limit', perSecond: 0.001, perDay: null }
  await send(processes[0]!, [stalled])
  const refused = processes.map((limits) => limits.take(organizationId, [server, stalled], { isBulk: true }))
  const sites = await Promise.all(
    rates.map(async (perSecond) => {
      const limits = [{ organizationId, key: `site/${perSecond}`, name: 'limit', perSecond, perDay: null }]
      const emails = Array.from({ length: Math.ceil(perSecond * seconds) }, (_, index) =>
        send(processes[index % processes.length]!, limits),
      )
      return { perSecond, times: (await Promise.all(emails)).toSorted((a, b) => a - b) }
    }),
  )
  for (const { perSecond, times } of sites) {
    expect(most(times, 1_000)).toBeLessThanOrEqual(perSecond)
    const spacings = times.slice(1).map((time, index) => time - times[index]!)
    // No two emails are nearer than the rate allows, and hardly any time is left unused.
    expect(Math.min(...spacings)).toBeGreaterThan((0.95 * 1000) / perSecond - 1)
    const median = spacings.toSorted((a, b) => a - b)[Math.floor(spacings.length / 2)]
    expect(median).toBeLessThan((1.05 * 1000) / perSecond + 1)
  }
  expect(await Promise.all(refused)).toMatchObject([1, 2, 3].map(() => ({ kind: 'wait', limit: stalled })))
})

test('three processes send exactly the number of a day, today and on the next day', async () => {
  const limit = newLimit({ perDay: 500 })
  const takeAll = async () => {
    const taken = await Promise.all(
      Array.from({ length: 700 }, (_, index) =>
        processes[index % 3]!.take(limit.organizationId, [limit], { isBulk: index % 2 === 0 }),
      ),
    )
    return taken.filter(({ kind }) => kind === 'taken')
  }
  const first = await takeAll()
  expect(first).toHaveLength(500)
  expect(await takeAll()).toEqual([])
  // Emails that were not sent do not count.
  for (const taken of first.slice(0, 7)) (taken as Taken & { kind: 'taken' }).giveBack()
  await Promise.all(processes.map((limits) => limits.drained()))
  expect(await takeAll()).toHaveLength(7)

  await testDb.db.statement`
    update sending_limit_uses set day = day - 1, urgent_until = 'epoch', bulk_until = 'epoch', waited_until = 'epoch'
    where organization_id = ${limit.organizationId}`
  expect(await takeAll()).toHaveLength(500)
})

test('emails of a process that was killed count, and no others', async () => {
  const limit = newLimit({ perDay: 50 })
  const [killed] = openAgain(testDb, 1)
  const limits = new SendingLimits(killed!, new StageRegistry())
  await Promise.all(Array.from({ length: 20 }, () => limits.take(limit.organizationId, [limit], { isBulk: true })))
  await killed!.close()
  const taken = await Promise.all(
    Array.from({ length: 50 }, () => processes[0]!.take(limit.organizationId, [limit], { isBulk: true })),
  )
  expect(taken.filter(({ kind }) => kind === 'taken')).toHaveLength(30)
})

test('an email takes all of its limits or none', async () => {
  const limit = newLimit({ perDay: 5 })
  const { organizationId } = limit
  const full: Limit = {
    organizationId: installationId,
    key: `full ${organizationId}`,
    name: 'limit',
    perSecond: null,
    perDay: 0,
  }
  expect(await processes[0]!.take(organizationId, [limit, full], { isBulk: false })).toMatchObject({
    kind: 'wait',
    limit: full,
    cause: 'daily_limit',
  })
  const taken = await Promise.all(
    Array.from({ length: 6 }, () => processes[0]!.take(organizationId, [limit], { isBulk: false })),
  )
  expect(taken.filter(({ kind }) => kind === 'taken')).toHaveLength(5)
})

test('few emails wait in the process, and transactional ones before the others', async () => {
  const limit = newLimit({ perSecond: 50 })
  const limits = processes[0]!
  const take = (isBulk: boolean) => Promise.resolve(limits.take(limit.organizationId, [limit], { isBulk }))
  const bulk = Array.from({ length: 300 }, () => take(true))
  const taken = (await Promise.all([...bulk, take(false)])).map(({ kind }) => kind)
  const waited = taken.filter((kind) => kind === 'taken').length
  expect(waited).toBeLessThan(30)
  expect(waited).toBeGreaterThan(5)
  expect(taken.at(-1)).toBe('taken')
})

test('emails that ask at the same time share their statements, and an email without limits needs none', async () => {
  let statements = 0
  const count = (message: unknown) => {
    if ((message as StartedStatement).text.includes('sending_limit_uses')) statements++
  }
  subscribe(statementChannelName, count)
  try {
    expect(processes[0]!.take(newId('org'), [], { isBulk: false })).toMatchObject({ kind: 'taken' })
    await Promise.all(
      Array.from({ length: 400 }, () => {
        const limit = newLimit({ perSecond: 100, perDay: 1_000 })
        return processes[0]!.take(limit.organizationId, [limit], { isBulk: true })
      }),
    )
    expect(statements).toBeLessThanOrEqual(testDb.db.isDistributed ? 1_600 : 8)
  } finally {
    unsubscribe(statementChannelName, count)
  }
})
