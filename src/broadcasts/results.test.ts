import { expect, test } from 'vitest'
import type { Reader } from '../db/db.ts'
import { newId } from '../values/ids.ts'
import type { Broadcast } from './broadcasts.sql.ts'
import { type AllResults, ResultsCounter } from './results.ts'

const none = { opened: 0, clicked: 0, unsubscribed: 0, complained: 0, hardBounced: 0, softBounced: 0, notOpened: 0 }
const read = (run: (db: Reader) => Promise<AllResults>) => run({} as Reader)
const broadcastOf = (recipients: number | null) => ({ id: newId('brc'), recipients }) as Broadcast

/** Each count finds one more open than the one before. */
function growingCounter() {
  const clock = { at: 1, now: () => clock.at }
  const state = { opened: 0, fails: false }
  const counter = new ResultsCounter(async (): Promise<AllResults> => {
    if (state.fails) throw new Error('The statement was cancelled.')
    return { results: { ...none, opened: ++state.opened }, variants: [] }
  }, clock)
  const opened = async (broadcast: Broadcast) => (await counter.count(read, broadcast)).results.opened
  return { clock, state, opened }
}

test('the results of a large broadcast are counted once in five seconds', async () => {
  const { clock, opened } = growingCounter()
  const large = broadcastOf(10_001)
  expect(await Promise.all([opened(large), opened(large)])).toEqual([1, 1])
  clock.at += 4_999
  expect(await opened(large)).toBe(1)
  expect(await opened(broadcastOf(10_001))).toBe(2)
  // The next ones are being counted. Nobody waits for them.
  clock.at += 2
  expect([await opened(large), await opened(large)]).toEqual([1, 3])
  clock.at += 60_001
  expect(await opened(large)).toBe(4)
})

test('the results of a small broadcast are always current', async () => {
  const { opened } = growingCounter()
  const small = broadcastOf(10_000)
  expect([await opened(small), await opened(small)]).toEqual([1, 2])
  expect(await opened(broadcastOf(null))).toBe(3)
})

test('a failed count is not remembered', async () => {
  const { state, opened } = growingCounter()
  const large = broadcastOf(1_000_000)
  state.fails = true
  await expect(opened(large)).rejects.toThrow('cancelled')
  state.fails = false
  expect(await opened(large)).toBe(1)
})
