import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createTestDb } from '../../test/support/test-db.ts'
import { until } from '../../test/support/until.ts'
import type { Db } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import { newId, type OrganizationId } from '../values/ids.ts'
import { Hints } from './hints.ts'
import { readJobs, releaseLanes, renewLanes } from './lanes.sql.ts'
import { type Claim, dropLane, endJobs, enqueue, setLanePaused, settleJobs } from './queue.ts'
import { type Health, Worker } from './worker.ts'

const organizationId = newId('org')
const log = pino({ level: 'silent' })
const kind = 'webhook.deliver' as const

type Handle = (claim: Claim) => Promise<Health>

/** A worker that ends every job unless told otherwise, and what it saw. */
function startWorker(
  db: Db,
  handle?: Handle,
  laneWidthMax = 16,
  { inHandMax = 100, beforeLoad = async (_claims: Claim[]) => {} } = {},
) {
  const hints = new Hints(db)
  const seen: Claim[] = []
  const worker = new Worker<object>({
    db,
    log,
    hints,
    spec: {
      kind,
      inHandMax,
      laneWidthMax,
      laneWidthFirst: 4,
      load: async (claims) => {
        await beforeLoad(claims)
        return claims.map(() => ({}))
      },
      handle: async (claim) => {
        seen.push(claim)
        if (handle) return { health: await handle(claim) }
        await endJobs(db.statement, [{ claim, retryInMs: null }])
        return { health: 'well' }
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

const jobsLeft = async (db: Db) => (await db<{ count: number }>`select count(*) from jobs`)[0]!.count

test('every job runs once, in the order of its lane', async () => {
  await using test = await createTestDb()
  const jobs = Array.from({ length: 200 }, (_, index) => job(`lane ${index % 3}`))
  await enqueue(test.db.statement, jobs)
  await using worker = startWorker(test.db, undefined, 1)
  await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
  for (const lane of ['lane 0', 'lane 1', 'lane 2'])
    expect(worker.seen.filter((claim) => claim.lane === lane).map(({ id }) => id)).toEqual(
      jobs.filter((job) => job.lane === lane).map(({ id }) => id),
    )
})

test('a lane never falls asleep on a job, however the writing meets the giving back', async () => {
  await using test = await createTestDb()
  await using worker = startWorker(test.db)
  const total = 600
  for (let i = 0; i < total; i++) {
    await enqueue(test.db.statement, [job(`lane ${i % 2}`)])
    // No hint: what is asleep stays asleep, and the wait below would end in vain.
    await sleep(Math.random() * 4)
  }
  await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
  expect(new Set(worker.seen.map(({ id }) => id)).size).toBe(total)
})

test('a job whose transaction commits late is found behind the cursor', async () => {
  await using test = await createTestDb()
  const late = job('lane')
  let commit = () => {}
  const written = test.db.begin(async (tx) => {
    // Due now, visible only after the commit. Its lane is written by someone else meanwhile, so it takes no part here.
    await tx`insert into jobs (organization_id, kind, lane, due_at, id) values (${organizationId}, ${kind}, 'lane', now(), ${late.id})`
    await new Promise<void>((resolve) => {
      commit = resolve
    })
  })
  const busy = { on: true }
  await using worker = startWorker(test.db, async (claim) => {
    await sleep(5)
    await endJobs(test.db.statement, [{ claim, retryInMs: null }])
    return 'well'
  })
  const keepBusy = (async () => {
    while (busy.on) await enqueue(test.db.statement, [job('lane'), job('lane')])
  })()
  await until('jobs to flow', () => worker.seen.length > 20)
  commit()
  await written
  await until('the late job', () => worker.seen.some(({ id }) => id === late.id))
  busy.on = false
  await keepBusy
})

test('a lane that changes while it is read begins anew with the first of its jobs', async () => {
  await using test = await createTestDb()
  // Further apart than a look back goes.
  const jobs = [-60, -50, -40, -30, -20, -10].map((seconds) => job('lane', { delayMs: seconds * 1_000 }))
  await enqueue(test.db.statement, jobs)
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  // Two run at once and four are read: when the first has ended and two others run, the fourth waits in our hands.
  const handle: Handle = async (claim) => {
    if (claim.id !== jobs[0]!.id) await held
    await endJobs(test.db.statement, [{ claim, retryInMs: null }])
    return 'well'
  }
  let waiting = true
  const changeBehindFourth = async (claims: Claim[]) => {
    if (!waiting || !claims.some(({ id }) => id === jobs[4]!.id)) return
    waiting = false
    worker.hints.notify(kind, 'lane')
    letGo()
  }
  await using worker = startWorker(test.db, handle, 2, { beforeLoad: changeBehindFourth })
  await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
  expect(waiting).toBe(false)
  expect(worker.seen.map(({ id }) => id)).toEqual(jobs.map(({ id }) => id))
})

test('each lane has its turn, also when there is room for a few jobs only', async () => {
  await using test = await createTestDb()
  const many = (lane: string) => Array.from({ length: 100 }, () => job(lane))
  await enqueue(test.db.statement, [...many('a'), ...many('b'), ...many('c')])
  const handle: Handle = async (claim) => {
    await endJobs(test.db.statement, [{ claim, retryInMs: null }])
    return 'well'
  }
  await using worker = startWorker(test.db, handle, 16, { inHandMax: 2 })
  await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
  const early = worker.seen.slice(0, 60).map(({ lane }) => lane)
  for (const lane of ['a', 'b', 'c']) expect(early.filter((each) => each === lane).length).toBeGreaterThan(10)
})

test('a postponed job comes again after its delay, with its attempt counted', async () => {
  await using test = await createTestDb()
  await enqueue(test.db.statement, [job('lane')])
  await using worker = startWorker(test.db, async (claim) => {
    await endJobs(test.db.statement, [{ claim, retryInMs: claim.attempt < 2 ? 30 : null }])
    return 'well'
  })
  await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
  expect(worker.seen.map(({ attempt }) => attempt)).toEqual([0, 1, 2])
})

test('a job written for later is not run before its time', async () => {
  await using test = await createTestDb()
  await enqueue(test.db.statement, [job('lane', { delayMs: 400 })])
  const [before] = await test.db<{ dueAt: Date }>`select due_at from jobs`
  let ranAt = new Date(0)
  await using _worker = startWorker(test.db, async (claim) => {
    ranAt = (await test.db<{ now: Date }>`select clock_timestamp() as now`)[0]!.now
    await endJobs(test.db.statement, [{ claim, retryInMs: null }])
    return 'well'
  })
  await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
  expect(+ranAt).toBeGreaterThanOrEqual(+before!.dueAt)
})

test('a job that is due runs, although the one before it in its lane is not due for long', async () => {
  await using test = await createTestDb()
  await enqueue(test.db.statement, [job('lane', { delayMs: 3_600_000 })])
  const due = job('lane')
  await enqueue(test.db.statement, [due])
  await using worker = startWorker(test.db)
  await until('the job', () => worker.seen.some(({ id }) => id === due.id))
})

test('a lane that hangs is narrowed to one probe and does not hold up the others', async () => {
  await using test = await createTestDb()
  await enqueue(test.db.statement, [
    ...Array.from({ length: 50 }, () => job('hanging')),
    ...Array.from({ length: 300 }, () => job('healthy')),
  ])
  let hanging = 0
  const widths: number[] = []
  await using worker = startWorker(test.db, async (claim) => {
    if (claim.lane === 'healthy') {
      await endJobs(test.db.statement, [{ claim, retryInMs: null }])
      return 'well'
    }
    widths.push(++hanging)
    await sleep(100)
    hanging--
    await endJobs(test.db.statement, [{ claim, retryInMs: 60_000 }])
    return 'ill'
  })
  await until('the healthy lane to drain', () => worker.seen.filter(({ lane }) => lane === 'healthy').length === 300)
  await until('probes', () => widths.length > 8)
  // Four at first, then the first failure leaves room for one at a time.
  expect(Math.max(...widths.slice(0, 4))).toBe(4)
  expect(widths.slice(7)).toEqual(widths.slice(7).map(() => 1))
})

test('a held lane keeps its jobs until it is offered again', async () => {
  await using test = await createTestDb()
  await setLanePaused(test.db.statement, organizationId, kind, 'lane', true)
  await enqueue(test.db.statement, [job('lane'), job('other')])
  await using worker = startWorker(test.db)
  await until('the other lane', () => worker.seen.length === 1)
  expect(worker.seen[0]!.lane).toBe('other')
  await setLanePaused(test.db.statement, organizationId, kind, 'lane', false)
  await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
})

test('a dropped lane takes its jobs along', async () => {
  await using test = await createTestDb()
  await enqueue(test.db.statement, [job('lane'), job('other')])
  await test.db.begin((tx) => dropLane(tx, organizationId, kind, 'lane'))
  await using worker = startWorker(test.db)
  await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
  expect(worker.seen.map(({ lane }) => lane)).toEqual(['other'])
})

test('a worker that lost its lane can neither end nor postpone its jobs', async () => {
  await using test = await createTestDb()
  await enqueue(test.db.statement, [job('lane')])
  let claimed: Claim | undefined
  let goOn = () => {}
  await using _worker = startWorker(test.db, async (claim) => {
    claimed = claim
    await new Promise<void>((resolve) => {
      goOn = resolve
    })
    return 'well'
  })
  await until('the claim', () => claimed)
  await test.db.statement`update lanes set token = ${randomUUID()}`
  await endJobs(test.db.statement, [{ claim: claimed!, retryInMs: null }])
  await endJobs(test.db.statement, [{ claim: claimed!, retryInMs: 60_000 }])
  expect(await test.db`select ctid, attempt from jobs`).toEqual([{ ctid: claimed!.ctid, attempt: 0 }])
  goOn()
})

test('a worker that lost its lane can neither read, keep nor give back what another holds', async () => {
  await using test = await createTestDb()
  await enqueue(test.db.statement, [job('lane')])
  const token = randomUUID()
  await test.db.statement`update lanes set token = ${token}, leased_until = now() + interval '1 minute'`
  const attempt = async (hold: { organizationId: OrganizationId; lane: string; token: string }) => {
    const read = { ...hold, afterDue: new Date(0), afterId: '00000000-0000-0000-0000-000000000000', limit: 10 }
    const found = [
      (await readJobs(test.db, kind, [read])).length,
      (await renewLanes(test.db.statement, kind, [hold], 1)).length,
    ]
    await releaseLanes(test.db, kind, [hold])
    return [...found, (await test.db`select from lanes where token = ${token}`).length]
  }
  expect(await attempt({ organizationId, lane: 'lane', token: randomUUID() })).toEqual([0, 0, 1])
  expect(await attempt({ organizationId, lane: 'lane', token })).toEqual([1, 1, 0])
})

test('a lane given back while a job is being written to it is due when the job is', async () => {
  await using test = await createTestDb()
  const token = randomUUID()
  await test.db
    .statement`insert into lanes (organization_id, kind, lane, token) values (${organizationId}, ${kind}, 'lane', ${token})`
  let released: Promise<void> | undefined
  await test.db.begin(async (tx) => {
    await enqueue(tx, [job('lane')])
    released = releaseLanes(test.db, kind, [{ organizationId, lane: 'lane', token }])
    await until('the one who gives it back to wait', async () => {
      const waiting = await test.db`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      return waiting.length === 1
    })
  })
  await released
  expect(await test.db`select from lanes where token is null and next_due_at <= now()`).toHaveLength(1)
})

test('a job that stands where a dropped one stood is left alone', async () => {
  await using test = await createTestDb()
  const other = job('lane')
  await enqueue(test.db.statement, [other])
  const token = randomUUID()
  await test.db.statement`update lanes set token = ${token}`
  const [row] = await test.db<{ ctid: string }>`select ctid from jobs`
  const dropped = { ...job('lane'), attempt: 0, payload: null, token, ctid: row!.ctid }
  await endJobs(test.db.statement, [{ claim: dropped, retryInMs: null }])
  await endJobs(test.db.statement, [{ claim: dropped, retryInMs: 60_000 }])
  expect(await test.db`select attempt from jobs`).toEqual([{ attempt: 0 }])
  await endJobs(test.db.statement, [{ claim: { ...dropped, id: other.id }, retryInMs: null }])
  expect(await jobsLeft(test.db)).toBe(0)
})

test('two workers share the lanes and run every job once', async () => {
  await using test = await createTestDb()
  await enqueue(
    test.db.statement,
    Array.from({ length: 1000 }, (_, index) => job(`lane ${index % 20}`)),
  )
  await using one = startWorker(test.db)
  await using two = startWorker(test.db)
  await until('the queue to drain', async () => (await jobsLeft(test.db)) === 0)
  const ids = [...one.seen, ...two.seen].map(({ id }) => id)
  expect(ids).toHaveLength(1000)
  expect(new Set(ids).size).toBe(1000)
})

test('a lane whose worker died is taken over when its lease has run out', async () => {
  await using test = await createTestDb()
  await enqueue(test.db.statement, [job('lane')])
  await test.db.statement`update lanes set token = ${randomUUID()}, leased_until = now() + interval '300 ms'`
  await using worker = startWorker(test.db)
  await until('the job', () => worker.seen.length === 1)
})

test('a handler that throws leaves the job to be tried again', async () => {
  await using test = await createTestDb()
  await enqueue(test.db.statement, [job('lane')])
  await using _worker = startWorker(test.db, async () => {
    throw new Error('our own fault')
  })
  const left = await until(
    'the postponed job',
    async () => (await test.db<{ attempt: number }>`select attempt from jobs where attempt = 1`)[0],
  )
  expect(left.attempt).toBe(1)
})

test('a hint reaches the workers of other processes', async () => {
  await using test = await createTestDb()
  const [here, there] = [new Hints(test.db), new Hints(test.db)]
  await Promise.all([here.start(), there.start()])
  try {
    const heard: (string | undefined)[] = []
    there.on(kind, (lane) => heard.push(lane))
    here.notify(kind)
    here.notify(kind, 'lane')
    await until('both hints', () => heard.length === 2)
    expect(heard).toEqual([undefined, 'lane'])
  } finally {
    await Promise.all([here.stop(), there.stop()])
  }
})

test('jobs are found by their ctid, also when the queue was empty the last time PostgreSQL counted', async () => {
  await using test = await createTestDb()
  await enqueue(test.db.statement, [job('a lane')])
  await test.db.statement.script('delete from jobs')
  await test.db.statement.script('vacuum (analyze, truncate off) jobs')
  const claim = { ...job('a lane'), ctid: '(0,1)', attempt: 0, payload: null, token: randomUUID() }
  const rows = await test.db.run<object>(sql`
    explain with ${settleJobs([{ claim, retryInMs: null }])} select`)
  const plan = rows.map((row) => Object.values(row)[0]).join('\n')
  expect(plan).not.toMatch(/Join Filter|Seq Scan/)
  expect(plan.match(/Tid Scan on jobs/g)).toHaveLength(2)
})
