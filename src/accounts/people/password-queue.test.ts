import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { PasswordQueue, type PasswordUse } from './password-queue.ts'

function startQueue() {
  const queue = new PasswordQueue()
  const started: PasswordUse[] = []
  const release: (() => void)[] = []
  let running = 0
  let most = 0
  const call = (use: PasswordUse) =>
    queue.run(use, async () => {
      started.push(use)
      most = Math.max(most, ++running)
      await new Promise<void>((resolve) => release.push(resolve))
      running--
    })
  const finishAll = async () => {
    for (let idle = 0; idle < 3; idle++) {
      while (release.length > 0) {
        release.shift()!()
        idle = 0
        await turn()
      }
      await turn()
    }
  }
  return { started, call, finishAll, most: () => most }
}

test('registrations never take the last slot, and sign-ins have priority', async () => {
  const { started, call, finishAll, most } = startQueue()
  const calls = Array.from({ length: 51 }, () => call('new'))
  await expect(call('new')).rejects.toMatchObject({ type: 'unavailable', retryAfterSeconds: 5 })
  calls.push(call('check'), call('check'))
  await turn()
  expect(started).toEqual(['new', 'check'])
  await finishAll()
  await Promise.all(calls)
  expect(started.slice(0, 3)).toEqual(['new', 'check', 'check'])
  expect(started).toHaveLength(53)
  expect(most()).toBe(2)
})

test('calls that arrive while a slot is passed on do not exceed the limit', async () => {
  const { call, finishAll, most } = startQueue()
  const calls = Array.from({ length: 10 }, () => call('check'))
  const late = (async () => {
    for (let n = 0; n < 20; n++) {
      await null
      calls.push(call('check'))
    }
  })()
  await finishAll()
  await late
  await finishAll()
  await Promise.all(calls)
  expect(most()).toBe(2)
})
