import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { collectStatements } from '../../../test/support/collect-statements.ts'
import { startDatabaseProxy } from '../../../test/support/database-proxy.ts'
import { failureLog } from '../../../test/support/failure-log.ts'
import { lockWaits } from '../../../test/support/lock-waits.ts'
import { announcedSeed } from '../../../test/support/seeded.ts'
import { oneServerTest } from '../../../test/support/server-tests.ts'
import { createTestDb, openAgain } from '../../../test/support/test-db.ts'
import { until } from '../../../test/support/until.ts'
import { withResolvers } from '../../../test/support/with-resolvers.ts'
import { type Db, openDb, type Tx } from '../db/db.ts'
import { newId, type OrganizationId } from '../values/ids.ts'
import { Hints } from './hints.ts'
import { readJobs, releaseLanes, renewLanes } from './lanes.sql.ts'
import { announceChange, type Claim, dropLane, enqueue, type NewJob, resumeLanes, setLanePaused } from './queue.ts'
import { endJobs, settleJobs, settlementsOf, settling } from './settle-jobs.ts'
import { Worker } from './worker.ts'
import type { PeerState, WorkerSpec } from './worker-spec.ts'

const organizationId = newId('org')
const log = pino({ level: 'silent' })
const kind = 'webhook.deliver' as const

type Handle = (claim: Claim) => Promise<PeerState>
type WorkerOptions = Partial<Pick<WorkerSpec<object>, 'inFlightMax' | 'perOrganizationMax' | 'giveUp'>> & {
  beforeLoad?: (claims: Claim[]) => Promise<void>
}

/** Starts a worker that by default ends every job, and records the claims it handled. */
function startWorker(
  db: Db,
  handle?: Handle,
  laneWidthMax = 16,
  { inFlightMax = 100, beforeLoad = async (_claims: Claim[]) => {}, ...spec }: WorkerOptions = {},
) {
  const hints = new Hints(db)
  const seen: Claim[] = []
  const worker = new Worker<object>({
    db,
    log,
    failures: failureLog(log),
    hints,
    spec: {
      ...spec,
      kind,
      inFlightMax,
      laneWidthMax,
      laneWidthFirst: 4,
      load: async (claims) => {
        await beforeLoad(claims)
        return claims.map(() => ({}))
      },
      handle: async (claim) => {
        seen.push(claim)
        if (handle) return { peer: await handle(claim) }
        await endJobs(db, [{ claim, retryInMs: null }])
        return { peer: 'responsive' }
      },
    },
  })
  worker.start()
  return { worker, hints, seen, [Symbol.asyncDispose]: () => worker.stop() }
}

const job = (lane: string, extra: { delayMs?: number; organizationId?: OrganizationId } = {}) => ({
  organizationId,
  kind,
  lane,
  id: newId('dlv'),
  ...extra,
})

const add = (db: Db, jobs: NewJob[]) => db.begin(async (tx) => enqueue(tx, jobs))

const jobsLeft = async (db: Db) => (await db<{ count: number }>`select count(*) from jobs`)[0]!.count

/** Instead of waiting for their time. */
const makeAllDue = (db: Db) =>
  db.begin(async (tx) => {
    const rows = await tx<{ lane: string }>`update jobs set due_at = now() where due_at > now() returning lane`
    await tx`update lanes set next_due_at = now()`
    announceChange(
      tx,
      kind,
      rows.map(({ lane }) => lane),
    )
  })

test('runs every job once, in lane order', async () => {
  await using test = await createTestDb()
  const jobs = Array.from({ length: 200 }, (_, index) => job(`lane ${index % 3}`))
  await add(test.db, jobs)
  await using worker = startWorker(test.db, undefined, 1)
  await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
  for (const lane of ['lane 0', 'lane 1', 'lane 2'])
    expect(worker.seen.filter((claim) => claim.lane === lane).map(({ id }) => id)).toEqual(
      jobs.filter((job) => job.lane === lane).map(({ id }) => id),
    )
})

test('finds every job when enqueueing races with the release of its lane', async () => {
  await using test = await createTestDb()
  await using worker = startWorker(test.db)
  const random = announcedSeed('enqueueing during a release')
  const total = 600
  for (let i = 0; i < total; i++) {
    await add(test.db, [job(`lane ${i % 2}`)])
    // Without a hint, a lane released without a due time would never be claimed, and the wait below would time out.
    await sleep(random.next() * 4)
  }
  await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
  expect(new Set(worker.seen.map(({ id }) => id)).size).toBe(total)
})

test('finds a job whose transaction commits after later jobs were read', async () => {
  await using test = await createTestDb()
  const late = job('lane')
  let commit = () => {}
  const written = test.db.begin(async (tx) => {
    // Due now, visible only after the commit. Other jobs keep the lane due.
    await tx`insert into jobs (organization_id, kind, lane, due_at, id) values (${organizationId}, ${kind}, 'lane', now(), ${late.id})`
    await new Promise<void>((resolve) => {
      commit = resolve
    })
  })
  const busy = { on: true }
  await using worker = startWorker(test.db, async (claim) => {
    await sleep(5)
    await endJobs(test.db, [{ claim, retryInMs: null }])
    return 'responsive'
  })
  const keepBusy = (async () => {
    while (busy.on) await add(test.db, [job('lane'), job('lane')])
  })()
  await until('jobs to flow', () => worker.seen.length > 20)
  commit()
  await written
  await until('the late job', () => worker.seen.some(({ id }) => id === late.id))
  busy.on = false
  await keepBusy
})

test('reads a lane from its first job again if the lane changes during a read', async () => {
  await using test = await createTestDb()
  // Further apart than the look-back distance.
  const jobs = [-60, -50, -40, -30, -20, -10].map((seconds) => job('lane', { delayMs: seconds * 1_000 }))
  await add(test.db, jobs)
  const { promise: released, resolve: letGo } = withResolvers()
  // Two run at once and four are read: when the first has ended and two others run, the fourth is ready.
  const handle: Handle = async (claim) => {
    if (claim.id !== jobs[0]!.id) await released
    await endJobs(test.db, [{ claim, retryInMs: null }])
    return 'responsive'
  }
  let waiting = true
  const changeBehindFourth = async (claims: Claim[]) => {
    if (!waiting || !claims.some(({ id }) => id === jobs[4]!.id)) return
    waiting = false
    await test.db.begin(async (tx) => announceChange(tx, kind, ['lane']))
    letGo()
  }
  await using worker = startWorker(test.db, handle, 2, { beforeLoad: changeBehindFourth })
  await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
  expect(waiting).toBe(false)
  expect(worker.seen.map(({ id }) => id)).toEqual(jobs.map(({ id }) => id))
})

test('serves lanes in turn even if only two jobs may be in flight', async () => {
  await using test = await createTestDb()
  const many = (lane: string) => Array.from({ length: 100 }, () => job(lane))
  await add(test.db, [...many('a'), ...many('b'), ...many('c')])
  const handle: Handle = async (claim) => {
    await endJobs(test.db, [{ claim, retryInMs: null }])
    return 'responsive'
  }
  await using worker = startWorker(test.db, handle, 16, { inFlightMax: 2 })
  await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
  const early = worker.seen.slice(0, 60).map(({ lane }) => lane)
  for (const lane of ['a', 'b', 'c']) expect(early.filter((each) => each === lane).length).toBeGreaterThan(10)
})

test('runs a postponed job again after its delay and increments its attempt', async () => {
  await using test = await createTestDb()
  await add(test.db, [job('lane')])
  await using worker = startWorker(test.db, async (claim) => {
    await endJobs(test.db, [{ claim, retryInMs: claim.attempt < 2 ? 30 : null }])
    return 'responsive'
  })
  await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
  expect(worker.seen.map(({ attempt }) => attempt)).toEqual([0, 1, 2])
})

test('does not run a delayed job before it is due', async () => {
  await using test = await createTestDb()
  await add(test.db, [job('lane', { delayMs: 400 })])
  const [before] = await test.db<{ dueAt: Date }>`select due_at from jobs`
  let ranAt = new Date(0)
  await using _worker = startWorker(test.db, async (claim) => {
    ranAt = (await test.db<{ now: Date }>`select clock_timestamp() as now`)[0]!.now
    await endJobs(test.db, [{ claim, retryInMs: null }])
    return 'responsive'
  })
  await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
  expect(+ranAt).toBeGreaterThanOrEqual(+before!.dueAt)
})

test('runs a due job although an earlier job of its lane is not due yet', async () => {
  await using test = await createTestDb()
  await add(test.db, [job('lane', { delayMs: 3_600_000 })])
  const due = job('lane')
  await add(test.db, [due])
  await using worker = startWorker(test.db)
  await until('the job', () => worker.seen.some(({ id }) => id === due.id))
})

test('narrows an unresponsive lane to one probe without delaying other lanes', async () => {
  await using test = await createTestDb()
  await add(test.db, [
    ...Array.from({ length: 50 }, () => job('hanging')),
    ...Array.from({ length: 300 }, () => job('healthy')),
  ])
  let hanging = 0
  const widths: number[] = []
  await using worker = startWorker(test.db, async (claim) => {
    if (claim.lane === 'healthy') {
      await endJobs(test.db, [{ claim, retryInMs: null }])
      return 'responsive'
    }
    widths.push(++hanging)
    // The first four have to be in flight together, however long it takes to start them.
    if (widths.length <= 4) await until('four to hang', () => widths.length >= 4)
    else await sleep(100)
    hanging--
    await endJobs(test.db, [{ claim, retryInMs: 60_000 }])
    return 'unresponsive'
  })
  await until('the healthy lane to drain', () => worker.seen.filter(({ lane }) => lane === 'healthy').length === 300)
  await until('probes', () => widths.length > 8)
  // Four at first; after the first failure, one at a time.
  expect(Math.max(...widths.slice(0, 4))).toBe(4)
  expect(widths.slice(7)).toEqual(widths.slice(7).map(() => 1))
})

test('does not run the jobs of a paused lane until it is resumed', async () => {
  await using test = await createTestDb()
  await test.db.begin((tx) => setLanePaused(tx, organizationId, kind, 'lane', true))
  await add(test.db, [job('lane'), job('other')])
  await using worker = startWorker(test.db)
  await until('the other lane', () => worker.seen.length === 1)
  expect(worker.seen[0]!.lane).toBe('other')
  await test.db.begin((tx) => setLanePaused(tx, organizationId, kind, 'lane', false))
  await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
})

test('a job enqueued into a lane that was paused while the worker held it waits', async () => {
  await using test = await createTestDb()
  await using worker = startWorker(test.db)
  await add(test.db, [job('lane')])
  await until('the first job', async () => worker.seen.length === 1 && (await jobsLeft(test.db)) === 0)
  await test.db.begin((tx) => setLanePaused(tx, organizationId, kind, 'lane', true))
  await add(test.db, [job('lane')])
  await add(test.db, [job('other')])
  await until('the other lane', () => worker.seen.some(({ lane }) => lane === 'other'))
  expect(worker.seen.filter(({ lane }) => lane === 'lane')).toHaveLength(1)
  await test.db.begin((tx) => setLanePaused(tx, organizationId, kind, 'lane', false))
  await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
  expect(worker.seen).toHaveLength(3)
})

test('deletes the jobs of a dropped lane', async () => {
  await using test = await createTestDb()
  await add(test.db, [job('lane'), job('other')])
  await test.db.begin((tx) => dropLane(tx, organizationId, kind, 'lane'))
  await using worker = startWorker(test.db)
  await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
  expect(worker.seen.map(({ lane }) => lane)).toEqual(['other'])
})

test('a worker that lost its lease can neither end nor postpone jobs', async () => {
  await using test = await createTestDb()
  await add(test.db, [job('lane')])
  let claimed: Claim | undefined
  let goOn = () => {}
  await using _worker = startWorker(test.db, async (claim) => {
    claimed = claim
    await new Promise<void>((resolve) => {
      goOn = resolve
    })
    return 'responsive'
  })
  await until('the claim', () => claimed)
  await test.db.statement`update lanes set token = ${randomUUID()}`
  await endJobs(test.db, [{ claim: claimed!, retryInMs: null }])
  await endJobs(test.db, [{ claim: claimed!, retryInMs: 60_000 }])
  expect(await test.db`select ctid, attempt from jobs`).toEqual([{ ctid: claimed!.ctid, attempt: 0 }])
  goOn()
})

test('a worker that lost its lease can neither read, renew nor release the lane', async () => {
  await using test = await createTestDb()
  await add(test.db, [job('lane')])
  const token = randomUUID()
  await test.db.statement`update lanes set token = ${token}, leased_until = now() + interval '1 minute'`
  const attempt = async (hold: { organizationId: OrganizationId; lane: string; token: string }) => {
    const read = { ...hold, afterDue: new Date(0), afterId: '00000000-0000-0000-0000-000000000000', limit: 10 }
    const found = [
      (await readJobs(test.db, kind, [read])).length,
      (await renewLanes(test.db.statement, kind, [hold], 1)).length,
    ]
    await releaseLanes(test.db, kind, [{ ...hold, waitMs: 0 }])
    return [...found, (await test.db`select from lanes where token = ${token}`).length]
  }
  expect(await attempt({ organizationId, lane: 'lane', token: randomUUID() })).toEqual([0, 0, 1])
  expect(await attempt({ organizationId, lane: 'lane', token })).toEqual([1, 1, 0])
})

test('a lane released while a job is being enqueued is due when the job is', async () => {
  await using test = await createTestDb()
  const token = randomUUID()
  await test.db
    .statement`insert into lanes (organization_id, kind, lane, token) values (${organizationId}, ${kind}, 'lane', ${token})`
  let released: Promise<void> | undefined
  await test.db.begin(async (tx) => {
    enqueue(tx, [job('lane')])
    // The job was only sent. It has to be there before the release.
    await tx`select 1`
    released = releaseLanes(test.db, kind, [{ organizationId, lane: 'lane', token, waitMs: 0 }])
    await until('the release to wait for the lock', async () => (await lockWaits(test.db)).length === 1)
  })
  await released
  expect(await test.db`select from lanes where token is null and next_due_at <= now()`).toHaveLength(1)
})

test('settles jobs whose rows were moved while their lane was held, by resuming it or otherwise', async () => {
  await using test = await createTestDb()
  const [ended, postponed] = [job('lane'), job('lane')]
  await add(test.db, [ended, postponed])
  const claims: Claim[] = []
  const { promise: finished, resolve: finish } = withResolvers()
  await using _worker = startWorker(test.db, async (claim) => {
    claims.push(claim)
    await finished
    return 'responsive'
  })
  await until('both jobs to run', () => claims.length === 2)
  await test.db.begin((tx) => resumeLanes(tx, organizationId, kind, ['lane'], { allDue: true }))
  const retryOf = ({ id }: Claim) => (id === ended.id ? null : 3_600_000)
  const settled = await test.db.begin((tx) =>
    settleJobs(
      tx,
      claims.map((claim) => ({ claim, retryInMs: retryOf(claim) })),
    ),
  )
  finish()
  expect(claims.map((claim) => settled.has({ claim }))).toEqual([true, true])
  expect(await test.db`select id, attempt, due_at > now() as is_later from jobs`).toEqual([
    { id: postponed.id, attempt: 1, isLater: true },
  ])
})

test('a job that a process claimed again after its lease had expired is settled once, with the second claim', async () => {
  await using test = await createTestDb()
  const again = job('lane')
  const other = job('lane')
  await add(test.db, [again, other])
  const [before, after] = [randomUUID(), randomUUID()]
  await test.db.statement`update lanes set token = ${after}`
  const rows = await test.db<{ id: string; ctid: string }>`select id, ctid from jobs`
  const claimOf = ({ id, ...rest }: typeof again, token: string): Claim => ({
    ...rest,
    id,
    token,
    attempt: 0,
    faults: 0,
    payload: null,
    ctid: rows.find((row) => row.id === id)!.ctid,
  })
  const items = [claimOf(again, before), claimOf(again, after), claimOf(other, after)].map((claim) => ({
    settlement: { claim, retryInMs: null },
  }))
  const written: string[][] = []
  await settling(items, (ours) =>
    test.db.begin(async (tx) => {
      const settled = await settleJobs(tx, settlementsOf(ours))
      if (!settled.hasAll(ours)) return tx.rollback(settled)
      written.push(ours.map(({ settlement }) => settlement.claim.token))
      return settled
    }),
  )
  expect(written).toEqual([[after, after]])
  expect(await test.db`select from jobs`).toEqual([])
})

test('a job is postponed and counted once although its commit was not confirmed and is repeated', async () => {
  await using test = await createTestDb()
  const deferred = job('lane')
  await add(test.db, [deferred])
  const token = randomUUID()
  await test.db.statement`update lanes set token = ${token}`
  const [row] = await test.db<{ ctid: string }>`select ctid from jobs`
  const claim: Claim = { ...deferred, attempt: 0, faults: 0, payload: null, token, ctid: row!.ctid }
  const postpone = (faults?: number) =>
    test.db.begin((tx) => settleJobs(tx, [{ claim, retryInMs: 60_000, ...(faults && { faults }) }]))
  expect([(await postpone()).size, (await postpone()).size, (await postpone(1)).size]).toEqual([1, 0, 0])
  expect(await test.db`select attempt, faults from jobs`).toEqual([{ attempt: 1, faults: 0 }])
})

test('faults are counted apart from attempts, and start again after an attempt', async () => {
  await using test = await createTestDb()
  await add(test.db, [job('lane')])
  const fault = new Error('A bug')
  const outcomes = [fault, fault, 'postponed', fault]
  const seen: number[][] = []
  const handle: Handle = async (claim) => {
    const outcome = outcomes.shift()
    seen.push([claim.attempt, claim.faults])
    if (outcome instanceof Error) throw outcome
    await endJobs(test.db, [{ claim, retryInMs: outcome ? 3_600_000 : null }])
    return 'responsive'
  }
  await using _worker = startWorker(test.db, handle)
  await until('the end of the job', async () => {
    await makeAllDue(test.db)
    return (await jobsLeft(test.db)) === 0
  })
  expect(seen).toEqual([
    [0, 0],
    [0, 1],
    [0, 2],
    [1, 0],
    [1, 1],
  ])
})

oneServerTest('a job whose failure cannot be written is not run again by this process', async () => {
  await using test = await createTestDb()
  await add(test.db, [job('lane')])
  await test.db.pool.query(`
    create sequence refused;
    create function refuse() returns trigger language plpgsql as $$
    begin
      perform nextval('refused');
      raise exception 'no job may be changed';
    end $$;
    create trigger refuse before update or delete on jobs for each row execute function refuse()`)
  await using started = startWorker(test.db, async () => Promise.reject(new Error('A bug')))
  await until('several tries to postpone it', async () => {
    const { rows } = await test.db.pool.query('select last_value from refused')
    return rows[0].last_value >= 4
  })
  expect(started.seen).toHaveLength(1)
  await test.db.pool.query('drop trigger refuse on jobs')
  await until('it to be postponed', async () => (await test.db`select from jobs where faults = 1`).length === 1)
  expect(started.seen).toHaveLength(1)
})

test('a job that must be given up is not run again, also by another worker and if giving it up fails at first', async () => {
  await using test = await createTestDb()
  await add(test.db, [job('lane')])
  await test.db.statement`update jobs set attempt = 3, faults = 3`
  let isBroken = true
  const giveUp = async (claim: Claim) => {
    if (isBroken) throw new Error('It cannot be given up')
    await endJobs(test.db, [{ claim, retryInMs: null }])
  }
  await using started = startWorker(test.db, undefined, 1, { giveUp })
  await until('the failure', async () => (await test.db`select from jobs where faults = 4`).length === 1)
  isBroken = false
  await makeAllDue(test.db)
  await until('the end of the job', async () => (await jobsLeft(test.db)) === 0)
  expect(started.seen).toEqual([])
})

test('an internal error does not narrow the lane of the job', async () => {
  await using test = await createTestDb()
  const jobs = Array.from({ length: 5 }, () => job('lane'))
  const { promise: ended, resolve: end } = withResolvers()
  await using started = startWorker(test.db, async (claim) => {
    if (claim.id === jobs[0]!.id) throw new Error('A bug')
    await ended
    await endJobs(test.db, [{ claim, retryInMs: null }])
    return 'responsive'
  })
  await add(test.db, jobs.slice(0, 1))
  await until('the failure', async () => (await test.db`select from jobs where faults = 1`).length === 1)
  await add(test.db, jobs.slice(1))
  await until('four others at once', () => started.worker.running === 4)
  end()
})

test('a lane without jobs is deleted when it is released, unless it is paused', async () => {
  await using test = await createTestDb()
  await add(test.db, [job('empty'), job('postponed'), job('paused')])
  const handle: Handle = async (claim) => {
    await endJobs(test.db, [{ claim, retryInMs: claim.lane === 'postponed' ? 3_600_000 : null }])
    if (claim.lane === 'paused') await test.db.begin((tx) => setLanePaused(tx, organizationId, kind, 'paused', true))
    return 'responsive'
  }
  const started = startWorker(test.db, handle)
  await until('the jobs to run', () => started.seen.length === 3)
  await started[Symbol.asyncDispose]()
  expect(await test.db`select lane, held, token from lanes order by lane`).toEqual([
    { lane: 'paused', held: true, token: null },
    { lane: 'postponed', held: false, token: null },
  ])
})

test('does not settle another job that reuses the ctid of a dropped one', async () => {
  await using test = await createTestDb()
  const other = job('lane')
  await add(test.db, [other])
  const token = randomUUID()
  await test.db.statement`update lanes set token = ${token}`
  const [row] = await test.db<{ ctid: string }>`select ctid from jobs`
  const dropped = { ...job('lane'), attempt: 0, faults: 0, payload: null, token, ctid: row!.ctid }
  await endJobs(test.db, [{ claim: dropped, retryInMs: null }])
  await endJobs(test.db, [{ claim: dropped, retryInMs: 60_000 }])
  expect(await test.db`select attempt from jobs`).toEqual([{ attempt: 0 }])
  await endJobs(test.db, [{ claim: { ...dropped, id: other.id }, retryInMs: null }])
  expect(await jobsLeft(test.db)).toBe(0)
})

test('two workers share the lanes and run every job once', async () => {
  await using test = await createTestDb()
  await add(
    test.db,
    Array.from({ length: 1000 }, (_, index) => job(`lane ${index % 20}`)),
  )
  await using one = startWorker(test.db)
  await using two = startWorker(test.db)
  await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
  const ids = [...one.seen, ...two.seen].map(({ id }) => id)
  expect(ids).toHaveLength(1000)
  expect(new Set(ids).size).toBe(1000)
})

test('a worker whose database does not answer starts no job after its lease', async () => {
  await using test = await createTestDb()
  await using proxy = await startDatabaseProxy(test.connection as { host: string; port: number })
  const slowDb = openDb({ connection: proxy.connection })
  slowDb.isDistributed = test.db.isDistributed
  const { promise: drained, resolve: drain } = withResolvers()
  await add(
    test.db,
    Array.from({ length: 8 }, () => job('lane')),
  )
  try {
    let loads = 0
    const beforeLoad = async () => {
      if (loads++ > 0) return
      proxy.hang()
      await drained
      await proxy.heal()
    }
    await using slow = startWorker(slowDb, undefined, 16, { beforeLoad })
    await until('the jobs to be read', () => loads > 0)
    const other = startWorker(test.db)
    await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
    await other.worker.stop()
    drain()
    // When the slow worker runs a later job, it would have run those that it had read.
    await add(test.db, [job('next')])
    await until('the next job', async () => (await jobsLeft(test.db)) === 0)
    const ids = [...slow.seen, ...other.seen].map(({ id }) => id)
    expect([ids.length, new Set(ids).size]).toEqual([9, 9])
  } finally {
    await slowDb.close()
  }
})

test('a worker renews its leases while it waits for the database', async () => {
  await using test = await createTestDb()
  await add(test.db, [job('lane')])
  const leaseOf = async () => +(await test.db<{ leasedUntil: Date }>`select leased_until from lanes`)[0]!.leasedUntil
  const { promise: loaded, resolve: load } = withResolvers()
  await using slow = startWorker(test.db, undefined, 16, { beforeLoad: () => loaded })
  await until('the lane to be claimed', async () => (await leaseOf()) > 0)
  const first = await leaseOf()
  await using other = startWorker(test.db)
  await until('two renewals', async () => other.seen.length > 0 || (await leaseOf()) > first + 5_000)
  load()
  await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
  expect([slow.seen.length, other.seen.length]).toEqual([1, 0])
})

test('takes over the lane of a dead worker when its lease expires', async () => {
  await using test = await createTestDb()
  await add(test.db, [job('lane')])
  await test.db.statement`update lanes set token = ${randomUUID()}, leased_until = now() + interval '300 ms'`
  await using worker = startWorker(test.db)
  await until('the job', () => worker.seen.length === 1)
})

test('a worker that stops releases no lane whose job is still in flight', async () => {
  await using test = await createTestDb()
  await add(test.db, [job('busy'), job('idle')])
  const { promise: finished, resolve: finish } = withResolvers()
  const worker = startWorker(test.db, async (claim) => {
    if (claim.lane === 'busy') await finished
    await endJobs(test.db, [{ claim, retryInMs: null }])
    return 'responsive'
  })
  await until('the other job to end', async () => worker.seen.length === 2 && (await jobsLeft(test.db)) === 1)
  await worker[Symbol.asyncDispose]()
  const isClaimed = await test.db`select lane, token is not null as is_claimed from lanes order by lane`
  finish()
  expect(isClaimed).toEqual([{ lane: 'busy', isClaimed: true }])
})

test('postpones a job whose handler throws', async () => {
  await using test = await createTestDb()
  await add(test.db, [job('lane')])
  await using _worker = startWorker(test.db, async () => {
    throw new Error('our own fault')
  })
  const left = await until(
    'the postponed job',
    async () => (await test.db<{ attempt: number }>`select attempt from jobs where attempt = 1`)[0],
  )
  expect(left.attempt).toBe(1)
})

test('wakes workers of other processes after the commit', async () => {
  await using test = await createTestDb()
  const [other] = openAgain(test, 1)
  const [here, there] = [new Hints(test.db), new Hints(other!)]
  await Promise.all([here.start(), there.start()])
  try {
    const heard: string[] = []
    there.on(kind, { enqueued: () => heard.push('enqueued'), changed: (lane) => heard.push(lane) })
    await test.db
      .begin(async (tx) => {
        enqueue(tx, [job('rolled back')])
        throw new Error('undo')
      })
      .catch(() => {})
    await test.db.begin(async (tx) => {
      enqueue(tx, [job('new')])
      announceChange(tx, kind, ['changed'])
    })
    await until('both notifications', () => heard.length === 2)
    expect(heard).toEqual(['enqueued', 'changed'])
  } finally {
    await Promise.all([here.stop(), there.stop()])
    await other!.close()
  }
})

oneServerTest(
  'jobs enqueued by the process that holds their lane are started without claiming or reading',
  async () => {
    await using test = await createTestDb()
    await using worker = startWorker(test.db)
    await add(test.db, [job('lane')])
    await until('the first job', async () => worker.seen.length === 1 && (await jobsLeft(test.db)) === 0)
    using statements = collectStatements()
    for (let count = 2; count <= 40; count++) {
      await add(test.db, [job('lane')])
      await until('the next job', () => worker.seen.length === count)
    }
    // The lane is still read and renewed now and then.
    expect(statements.texts.filter((text) => /update lanes|select job\.\*/.test(text)).length).toBeLessThan(20)
    await until('the last job', async () => (await jobsLeft(test.db)) === 0)
  },
)

oneServerTest('without work, one query for all kinds of jobs looks for due lanes', async () => {
  await using test = await createTestDb()
  const hints = new Hints(test.db)
  const due: string[] = []
  const stopListening = (['webhook.deliver', 'message.send', 'contacts.import'] as const).map((each) =>
    hints.on(each, { due: () => due.push(each) }),
  )
  using statements = collectStatements()
  await until('several polls', () => statements.texts.length >= 4)
  expect(new Set(statements.texts).size).toBe(1)
  expect(due).toEqual([])
  await test.db.statement`
    insert into lanes (organization_id, kind, lane, next_due_at) values (${organizationId}, 'contacts.import', 'a', now())`
  await until('the lane to be found', () => due.length > 0)
  expect(new Set(due)).toEqual(new Set(['contacts.import']))
  for (const stop of stopListening) stop()
})

oneServerTest('settling does not scan a queue that was empty when its connection was opened', async () => {
  await using test = await createTestDb()
  await add(test.db, [job('a lane')])
  await test.db.statement`delete from jobs`
  await test.db.statement.script('vacuum (analyze, truncate off) jobs')
  const token = randomUUID()
  await test.db.statement`update lanes set token = ${token}`
  const claim = { ...job('a lane'), ctid: '(0,1)', attempt: 0, faults: 0, payload: null, token }
  const settle = (tx: Tx) => settleJobs(tx, [{ claim, retryInMs: null }])
  // PostgreSQL considers keeping a plan from the sixth execution on.
  for (let i = 0; i < 10; i++) await test.db.begin(settle)
  const many = Array.from({ length: 20_000 }, () => job('a lane'))
  await add(test.db, many)
  const [read] = await test.db.begin(async (tx) => {
    await settle(tx)
    return tx<{ rows: number }>`select seq_tup_read as rows from pg_stat_xact_user_tables where relname = 'jobs'`
  })
  expect(read!.rows).toBeLessThan(many.length)
})

test('an organization with many long jobs leaves places to others', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const other = newId('org')
  const { promise: ended, resolve: end } = withResolvers()
  await db.begin(async (tx) =>
    enqueue(
      tx,
      ['a', 'b', 'c', 'd', 'e', 'f'].map((lane) => job(lane)),
    ),
  )
  const handle = async (claim: Claim): Promise<PeerState> => {
    if (claim.organizationId === organizationId) await ended
    await endJobs(db, [{ claim, retryInMs: null }])
    return 'responsive'
  }
  await using started = startWorker(db, handle, 1, { inFlightMax: 4, perOrganizationMax: () => 2 })
  await until('its share to be in use', () => started.worker.running === 2)
  await db.begin(async (tx) => enqueue(tx, [job('other', { organizationId: other })]))
  await until('the job of the other organization', () => started.seen.some((claim) => claim.organizationId === other))
  expect(started.seen.filter((claim) => claim.organizationId === organizationId)).toHaveLength(2)
  end()
  await until('all jobs', () => started.seen.length === 7)
})

test('a job that fails three times in a row is given up; an outage of the database does not count', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  await db.begin(async (tx) => enqueue(tx, [job('broken')]))
  const outage = Object.assign(new Error('Connection terminated'), { code: '57P01' })
  const bug = new Error('A bug')
  const outcomes = [bug, outage, bug, 'ends and is due again', bug, bug, bug]
  const handle = async (claim: Claim): Promise<PeerState> => {
    const outcome = outcomes.shift()
    if (outcome instanceof Error) throw outcome
    await endJobs(db, [{ claim, retryInMs: 0 }])
    return 'responsive'
  }
  const givenUp: string[] = []
  const giveUp = async (claim: Claim, _work: object, error: unknown) => {
    givenUp.push((error as Error).message)
    await endJobs(db, [{ claim, retryInMs: null }])
  }
  await using _worker = startWorker(db, handle, 1, { giveUp })
  await until('the job to be given up', async () => {
    await makeAllDue(db)
    return givenUp.length > 0
  })
  expect(givenUp).toEqual(['A bug'])
  expect(outcomes).toEqual([])
  await until('the end of the job', async () => (await jobsLeft(db)) === 0)
})
