import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { announcedSeed } from '../../../test/support/seeded.ts'
import { takeLock } from '../src/lock.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lock-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

test('the lock has one holder at a time, and every contender eventually gets it', async () => {
  const random = announcedSeed('contenders for the lock')
  let holders = 0
  let most = 0
  const takeTurn = async () => {
    for (;;) {
      const lock = await takeLock(directory)
      if (lock.kind === 'taken') continue
      holders++
      most = Math.max(most, holders)
      await sleep(random.next() * 10)
      holders--
      await lock.release()
      return
    }
  }
  await Promise.all(Array.from({ length: 20 }, takeTurn))

  expect(most).toBe(1)
  expect(readdirSync(directory)).toEqual([])
})

test('a held lock reports its holder, and is free after its release', async () => {
  const first = await takeLock(directory)
  const second = await takeLock(directory)
  if (first.kind === 'held') await first.release()
  const third = await takeLock(directory)

  expect(second).toEqual({ kind: 'taken', byPid: process.pid })
  expect(third.kind).toBe('held')
  if (third.kind === 'held') await third.release()
})

test('the lock of a suspended process is kept, that of a killed one is released', async () => {
  const compiled = new URL('../dist/lock.js', import.meta.url).href
  const program = `import { takeLock } from '${compiled}'
    console.log((await takeLock(process.argv[1])).kind)
    setInterval(() => {}, 1000)`
  const holder = spawn(process.execPath, ['--input-type=module', '-e', program, directory])
  await once(holder.stdout, 'data')

  holder.kill('SIGSTOP')
  const whileStopped = await takeLock(directory)
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  const afterwards = await takeLock(directory)

  expect(whileStopped).toEqual({ kind: 'taken', byPid: holder.pid })
  expect(afterwards.kind).toBe('held')
  if (afterwards.kind === 'held') await afterwards.release()
})
