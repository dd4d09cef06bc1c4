import { pbkdf2, pbkdf2Sync } from 'node:crypto'
import { Writable } from 'node:stream'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createServer } from '../src/platform/http/server.ts'
import { Hints } from '../src/platform/queue/hints.ts'
import { enqueue } from '../src/platform/queue/queue.ts'
import { endJobs } from '../src/platform/queue/settle-jobs.ts'
import { Worker } from '../src/platform/queue/worker.ts'
import { Batcher } from '../src/platform/runtime/batcher.ts'
import { type LoopBlock, monitorEventLoop } from '../src/platform/runtime/event-loop.ts'
import { Loop } from '../src/platform/runtime/loop.ts'
import { threadCpuMs } from '../src/platform/runtime/thread-cpu.ts'
import { newId } from '../src/platform/values/ids.ts'
import { failureLog } from './support/failure-log.ts'
import { createTestDb } from './support/test-db.ts'
import { until } from './support/until.ts'

/** Longer than the pauses of a busy machine, which would be attributed to another section. */
const blockMs = 1_000
const block = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs)

/** Monitors the event loop and collects the log. */
function startMonitor() {
  const lines: (LoopBlock & { msg: string })[] = []
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)))
      done()
    },
  })
  const registry = new Registry()
  const log = pino({ base: null }, stream)
  const stop = monitorEventLoop({ log, registry })
  // A busy machine may pause the section for a moment before it blocks, which is reported as well.
  const reported = (section: string) =>
    until(`a report of ${section}`, () => lines.find((line) => line.section === section && line.ms >= blockMs - 60))
  return { log: pino({ level: 'silent' }), registry, reported, [Symbol.dispose]: stop }
}

test('logs and counts a route that blocks the event loop', async () => {
  await using database = await createTestDb()
  using monitor = startMonitor()
  const server = createServer({ log: monitor.log, baseUrl: () => 'http://localhost', trustProxy: false })
  server.get('/quick', async () => {
    await database.db`select 1`
    return 'quick'
  })
  server.get('/slow/:id', async () => {
    block()
    return 'slow'
  })
  server.get('/slow-later', async () => {
    await database.db`select pg_sleep(0.2)`
    block()
    return 'slow'
  })
  server.post('/slow-body', { preValidation: async () => block() }, async () => 'slow')
  const url = await server.listen({ port: 0, host: '127.0.0.1' })
  const get = (path: string) => fetch(`${url}${path}`).then((response) => response.text())
  try {
    await get('/slow/1')
    const line = await monitor.reported('GET /slow/:id')
    expect(line.msg).toBe('The event loop was blocked')
    // Measured by the system clock, which may be adjusted.
    expect(line.sectionMs).toBeGreaterThanOrEqual(blockMs - 10)

    // Another request enters its section while the first one waits for the database.
    await Promise.all([get('/slow-later'), get('/quick'), get('/quick')])
    await monitor.reported('GET /slow-later')
    await fetch(`${url}/slow-body`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"a":1}',
    })
    await monitor.reported('POST /slow-body')
  } finally {
    await server.close()
  }
  const metrics = await monitor.registry.metrics()
  const countOf = (series: string) => Number(metrics.split(`${series} `)[1]?.split('\n')[0])
  expect(countOf('waxwing_event_loop_blocks_total{section="GET /slow/:id"}')).toBeGreaterThanOrEqual(1)
  expect(countOf('waxwing_event_loop_block_seconds_count')).toBeGreaterThanOrEqual(3)
})

test('logs jobs, batches and loops that block the event loop', async () => {
  await using database = await createTestDb()
  const { db } = database
  using monitor = startMonitor()
  const hints = new Hints(db)
  const worker = new Worker<object>({
    db,
    log: monitor.log,
    failures: failureLog(monitor.log),
    hints,
    spec: {
      kind: 'webhook.deliver',
      inFlightMax: 10,
      laneWidthMax: 10,
      load: async (claims) => claims.map(() => ({})),
      handle: async (claim) => {
        block()
        await endJobs(db, [{ claim, retryInMs: null }])
        return { peer: 'responsive' }
      },
    },
  })
  const job = { organizationId: newId('org'), kind: 'webhook.deliver' as const, lane: 'lane', id: newId('dlv') }
  await db.begin(async (tx) => enqueue(tx, [job]))
  worker.start()
  await monitor.reported('job webhook.deliver')
  await worker.stop()

  const batcher = new Batcher<number, number>({
    name: 'count',
    organizationOf: () => 'a',
    itemsMax: 10,
    waitingPerOrganization: 5,
    waitingMax: 10,
    run: async (items) => {
      block()
      return items.map((value) => ({ ok: true, value }))
    },
  })
  await batcher.add(1)
  await monitor.reported('batch count')

  const loop = new Loop({
    name: 'tidy',
    everyMs: 60_000,
    run: async () => void block(),
    failures: failureLog(monitor.log),
  })
  loop.start()
  await monitor.reported('loop tidy')
  await loop.stop()
})

test('CPU time of other threads is not that of the main thread, where the system tells them apart', async () => {
  const [thread, all] = [threadCpuMs(), process.cpuUsage()]
  await promisify(pbkdf2)('password', 'salt', 300_000, 64, 'sha512')
  const ofOthers = process.cpuUsage(all).user / 1_000 - (threadCpuMs() - thread)
  expect(ofOthers > 50).toBe(process.platform === 'linux')

  const before = threadCpuMs()
  for (let hashes = 0; hashes < 3; hashes++) pbkdf2Sync('password', 'salt', 100_000, 64, 'sha512')
  expect(threadCpuMs() - before).toBeGreaterThan(50)
})
