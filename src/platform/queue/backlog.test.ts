import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { createTestDb } from '../../../test/support/test-db.ts'
import { newId } from '../values/ids.ts'
import { findBacklog } from './backlog.sql.ts'
import { claimLanes, readJobs } from './lanes.sql.ts'
import { enqueue, setLanePaused } from './queue.ts'
import { endJobs } from './settle-jobs.ts'

const kind = 'webhook.deliver' as const
const limits = { countMax: 100, lanesMax: 10 }

test('counts due and postponed jobs of all organizations up to a limit, without paused lanes and scheduled jobs', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  expect(await findBacklog(db, kind, limits)).toEqual({ queued: 0, postponed: 0, lagSeconds: 0 })

  const [first, second] = [newId('org'), newId('org')]
  const job = (organizationId: typeof first, lane: string, delayMs = 0) => ({
    organizationId,
    kind,
    lane,
    id: newId('dlv'),
    delayMs,
  })
  await db.begin(async (tx) =>
    enqueue(tx, [job(first, 'a'), job(first, 'a', 60_000), job(second, 'a'), job(second, 'paused')]),
  )
  await db.begin(async (tx) => void (await tx`update jobs set attempt = 1 where due_at > now() + interval '30 s'`))
  await db.begin(async (tx) => enqueue(tx, [{ ...job(first, 'a'), dueAt: new Date(Date.now() + 90_000) }]))
  await db.begin((tx) => setLanePaused(tx, second, kind, 'paused', true))

  const backlog = await findBacklog(db, kind, limits)
  expect(backlog).toMatchObject({ queued: 3, postponed: 1 })
  expect(backlog.lagSeconds).toBeLessThan(60)
  expect((await findBacklog(db, kind, { ...limits, countMax: 2 })).queued).toBe(2)
  expect(await findBacklog(db, 'message.send', limits)).toEqual({ queued: 0, postponed: 0, lagSeconds: 0 })
})

test('the lag is that of the oldest job, not the time since its lane was claimed', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const organizationId = newId('org')
  const job = () => ({ organizationId, kind, lane: 'busy', id: newId('dlv') })
  await db.begin(async (tx) => enqueue(tx, [job()]))
  // An hour ago a worker claimed the lane, and has been busy with it since.
  await db.statement`update jobs set due_at = now() - interval '1 hour'`
  await db.statement`update lanes set next_due_at = now() - interval '1 hour'`
  expect((await findBacklog(db, kind, limits)).lagSeconds).toBeGreaterThan(3_500)

  const token = randomUUID()
  await claimLanes(db.statement, kind, { token, leaseMs: 10_000, limit: 10, organizationId })
  const read = { organizationId, lane: 'busy', token, afterDue: new Date(0), afterId: organizationId, limit: 10 }
  const [row] = await readJobs(db, kind, [read])
  await endJobs(db, [{ claim: { kind, token, ...row! }, retryInMs: null }])
  await db.begin(async (tx) => enqueue(tx, [job()]))
  expect((await findBacklog(db, kind, limits)).lagSeconds).toBeLessThan(60)
})
