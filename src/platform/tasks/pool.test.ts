import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { packageRoot } from '../config/package-root.ts'
import { Refusal } from '../values/errors.ts'
import { TaskLimitExceeded, TaskPool, TaskProcessDied, type TaskReport } from './pool.ts'
import { defineTask } from './task.ts'
import type { TaskChild } from './task-child.ts'

function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'waxwing-tasks-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

const file = join(packageRoot, 'test', 'support', 'task-program.js')
const pools: TaskPool[] = []
afterEach(() => {
  for (const pool of pools.splice(0)) pool.stop()
})

function open(processes = 2) {
  const reports: TaskReport[] = []
  const pool = new TaskPool({ processes, file, onOutcome: (report) => reports.push(report) })
  pools.push(pool)
  return { pool, reports }
}

const run = (): never => {
  throw new Error('Runs in test/support/task-program.js')
}
const task = <Input, Output>(name: string, msMax = 60_000, isLong = false) =>
  defineTask<Input, Output>({ name, title: 'This work', msMax, isLong, run })
const double = task<number, number>('double')
const forever = task<undefined, never>('forever')
const a = { organizationId: 'a', input: undefined }

test('a task runs in another process and returns its output', async () => {
  const { pool, reports } = open()
  expect(await pool.run(double, { organizationId: 'a', input: 21 })).toBe(42)
  expect(reports).toEqual([{ task: 'double', organizationId: 'a', outcome: 'done', reason: undefined }])
  expect([pool.used, pool.waiting]).toEqual([0, 0])
})

test('passes a refusal of the task on as a refusal and any other error as an error', async () => {
  const { pool } = open()
  const refusal = await pool.run(task('refuse'), a).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(Refusal)
  expect(refusal).toMatchObject({ type: 'validation_failed', fields: [{ path: 'html', problem: 'is wrong' }] })
  const error = await pool.run(task('fail'), a).catch((error: unknown) => error)
  expect(error).not.toBeInstanceOf(Refusal)
  expect(error).toMatchObject({ message: 'A bug' })
})

test('kills a task that exceeds its time limit and runs the next one', async () => {
  const { pool, reports } = open()
  const error = await pool.run(task('forever', 300), a).catch((error) => error)
  expect(error).toBeInstanceOf(TaskLimitExceeded)
  expect(error).toMatchObject({ message: 'This work takes longer than 0.3 seconds.' })
  expect(await pool.run(double, { organizationId: 'a', input: 1 })).toBe(2)
  expect(reports.map(({ outcome }) => outcome)).toEqual(['timedOut', 'done'])
})

test.each(['array', 'split'])('a task that needs too much memory fails without affecting others (%s)', async (name) => {
  const { pool } = open()
  const error = await pool.run(task(name), a).catch((error) => error)
  expect(error).toBeInstanceOf(TaskLimitExceeded)
  expect(error).toMatchObject({ message: 'This work needs more than 256 MB of memory.' })
  expect(await pool.run(double, { organizationId: 'a', input: 1 })).toBe(2)
})

test('answers unavailable if a process exits unexpectedly, and replaces it', async () => {
  const { pool, reports } = open()
  const error = await pool.run(task('exit'), a).catch((error) => error)
  expect(error).toBeInstanceOf(TaskProcessDied)
  expect(error).toMatchObject({ type: 'unavailable', retryAfterSeconds: 2 })
  expect(reports[0]).toMatchObject({ outcome: 'died', reason: expect.stringContaining('exit 3') })
  expect(await pool.run(double, { organizationId: 'a', input: 1 })).toBe(2)
})

test('a task process gets no settings of the service', async () => {
  const { pool } = open()
  expect(await pool.run(task<undefined, object>('environment'), a)).not.toHaveProperty('PATH')
})

test('a task process reads the files of its packages only, writes none and starts no processes', async () => {
  const { pool } = open()
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, 'secret'), 'x')
  const input = { outside: join(folder.path, 'secret'), inside: join(packageRoot, 'dist', 'written') }
  const forbidden = task<typeof input, string[]>('forbidden')
  const denied = Array.from({ length: 4 }, () => 'ERR_ACCESS_DENIED')
  expect(await pool.run(forbidden, { organizationId: 'a', input })).toEqual([...denied, 'allowed'])
})

test('where packages are stored elsewhere, task processes run without these limits', async () => {
  using folder = temporaryFolder()
  const program = join(folder.path, 'program.mjs')
  writeFileSync(program, `import ${JSON.stringify(pathToFileURL(file).href)}`)
  const pool = new TaskPool({ processes: 2, file: program })
  pools.push(pool)
  expect(await pool.run(double, { organizationId: 'a', input: 21 })).toBe(42)
})

test('a pool continues with the idle processes of a stopped one if they share their spare processes', async () => {
  const spare: TaskChild[] = []
  const openSharing = () => {
    const pool = new TaskPool({ processes: 2, file, spare })
    pools.push(pool)
    return pool
  }
  const pidIn = (pool: TaskPool) => pool.run(task<undefined, number>('pid'), a)
  const first = openSharing()
  const pid = await pidIn(first)
  first.stop()
  const second = openSharing()
  expect(await pidIn(second)).toBe(pid)
  // A process that was killed is not used again.
  await second.run(task('exit'), a).catch(() => {})
  second.stop()
  const third = openSharing()
  expect(await pidIn(third)).not.toBe(pid)
  third.stop()
  for (const child of spare) child.kill()
})

test('limits one organization to half of the processes and 20 queue slots', async () => {
  const { pool } = open()
  const hostile = Array.from({ length: 21 }, () => pool.run(forever, a).catch((error) => error))
  expect([pool.used, pool.waiting]).toEqual([1, 20])
  await expect(pool.run(forever, a)).rejects.toMatchObject({ type: 'unavailable', retryAfterSeconds: 2 })
  expect(await pool.run(double, { organizationId: 'b', input: 1 })).toBe(2)
  expect(await pool.run(double, { organizationId: 'c', input: 1 })).toBe(2)
  pool.stop()
  for (const error of await Promise.all(hostile)) expect(error).toMatchObject({ type: 'unavailable' })
})

const later = task<{ ms: number }, void>('later')

/** Adds tasks that take some milliseconds, and records the organizations in the order in which they get a process. */
function recordOrder(pool: TaskPool) {
  const order: string[] = []
  const add = (organizationId: string, ms: number) => {
    // Read when the task is sent to a process. The order in which tasks end also depends on the processes.
    const input = {
      get ms() {
        order.push(organizationId)
        return ms
      },
    }
    return pool.run(later, { organizationId, input })
  }
  return { order, add }
}

test('serves organizations in turn, however many tasks one of them has queued', async () => {
  const { pool } = open()
  const { order, add } = recordOrder(pool)
  const done = ['a', 'b', 'a', 'a', 'a', 'a', 'a', 'a', 'b', 'b', 'c'].map((organizationId) => add(organizationId, 20))
  await Promise.all(done)
  expect(order).toHaveLength(done.length)
  expect(order.indexOf('c')).toBeLessThan(5)
})

test('serves organizations by the time they used, not by the number of their tasks', async () => {
  const { pool } = open(1)
  const { order, add } = recordOrder(pool)
  const first = add('a', 1_500)
  const others = ['a', 'a', 'b', 'b', 'b'].map((organizationId) => add(organizationId, 1))
  await Promise.all([first, ...others])
  expect(order).toEqual(['a', 'b', 'b', 'b', 'a', 'a'])
})

test('long tasks of all organizations together use half of the processes', async () => {
  const { pool } = open()
  const long = task<undefined, never>('forever', 60_000, true)
  const waiting = ['a', 'b', 'c'].map((organizationId) =>
    pool.run(long, { organizationId, input: undefined }).catch((error) => error),
  )
  expect([pool.long.used, pool.long.waiting]).toEqual([1, 2])
  expect(await pool.run(double, { organizationId: 'b', input: 1 })).toBe(2)
  expect(await pool.run(double, { organizationId: 'd', input: 2 })).toBe(4)
  pool.stop()
  for (const error of await Promise.all(waiting)) expect(error).toMatchObject({ type: 'unavailable' })
})

test('a task that takes too long for a short one starts again as a long one', async () => {
  const { pool, reports } = open()
  const running = pool.run(later, { organizationId: 'a', input: { ms: 3_000 } })
  expect(pool.long.used).toBe(0)
  await running
  expect(reports.map(({ outcome }) => outcome)).toEqual(['moved', 'done'])
})

test('two organizations with the slowest tasks do not stop the short ones of a third', async () => {
  const { pool, reports } = open()
  const keepBusy = async (organizationId: string, slow: typeof forever) => {
    for (;;) {
      const call = { organizationId, input: undefined, whenFull: 'wait' } as const
      const error = await pool.run(slow, call).catch((error) => error)
      if (!(error instanceof TaskLimitExceeded)) return
    }
  }
  const slowest = [task<undefined, never>('forever', 5_000, true), task<undefined, never>('forever', 10_000)]
  const hostile = ['a', 'b'].flatMap((organizationId) =>
    [...slowest, ...slowest].map((slow) => keepBusy(organizationId, slow)),
  )
  const numbers = Array.from({ length: 20 }, (_, number) => number)
  for (let round = 0; round < 3; round++) {
    const results = await Promise.all(
      numbers.map((input) => pool.run(double, { organizationId: 'c', input }).catch((error) => error)),
    )
    expect(results).toEqual(numbers.map((number) => 2 * number))
  }
  pool.stop()
  await Promise.all(hostile)
  expect(reports.filter(({ organizationId, outcome }) => organizationId === 'c' && outcome !== 'done')).toEqual([])
})

test('queues work that must be done when other work is rejected', async () => {
  const { pool } = open()
  const waiting = Array.from({ length: 300 }, (_, input) =>
    pool.run(double, { organizationId: 'a', input, whenFull: 'wait' }),
  )
  await expect(pool.run(double, { organizationId: 'a', input: 1 })).rejects.toMatchObject({ type: 'unavailable' })
  expect((await Promise.all(waiting)).at(-1)).toBe(598)
})
