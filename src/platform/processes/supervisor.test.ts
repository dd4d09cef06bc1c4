import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { newFolder } from '../../../test/support/command.ts'
import { until } from '../../../test/support/until.ts'
import { Supervisor } from './supervisor.ts'

type Message = { kind: string; exit?: number }

/** A supervisor of a program that exits as it is told. */
function supervise(firstMessage: () => Message, count = 1) {
  const folder = newFolder()
  const file = join(folder.path, 'program.mjs')
  writeFileSync(file, `process.on('message', ({ kind, exit }) => kind === 'exit' && process.exit(exit))`)
  const delays: number[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => delays.push(JSON.parse(line).restartInMs) })
  let changes = 0
  const onChange = () => changes++
  const supervisor = new Supervisor<Message>({ file, count, log, firstMessage, onMessage: () => {}, onChange })
  return {
    supervisor,
    delays,
    changes: () => changes,
    [Symbol.asyncDispose]: async () => {
      await supervisor.stop({ kind: 'exit', exit: 0 })
      folder[Symbol.dispose]()
    },
  }
}

test('a process that keeps failing is started again after growing delays, and this is reported', async () => {
  await using it = supervise(() => ({ kind: 'exit', exit: 1 }))
  it.supervisor.start()
  expect(it.supervisor.isFailing).toBe(false)
  await until('three failures', () => it.delays.length === 3)
  expect(it.delays).toEqual([0, 1_000, 2_000])
  expect(it.supervisor.isFailing).toBe(true)
  // It waits for its next start.
  it.supervisor.start()
  expect(it.supervisor.running).toBe(0)
})

test('a process that ends without work is started when there is work again', async () => {
  await using it = supervise(() => ({ kind: 'wait' }), 2)
  it.supervisor.start()
  it.supervisor.start()
  expect(it.supervisor.running).toBe(2)
  it.supervisor.send({ kind: 'exit', exit: 0 })
  await until('the end', () => it.supervisor.running === 0)
  it.supervisor.start()
  expect(it.supervisor.running).toBe(2)
  expect(it.delays).toEqual([])
  expect(it.changes()).toBe(6)
})
