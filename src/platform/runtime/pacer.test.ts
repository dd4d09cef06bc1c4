import { expect, test } from 'vitest'
import { nextTurn, Pacer } from './pacer.ts'

test('one caller continues in each turn of the event loop, and keys get turns one after the other', async () => {
  let turn = 0
  const count = () => {
    turn++
    if (turn < 20) setImmediate(count)
  }
  setImmediate(count)
  const order: [string, number][] = []
  const run = async (key: string) => {
    await nextTurn(key)
    order.push([key, turn])
  }
  await Promise.all([run('busy'), run('busy'), run('busy'), run('other'), run('third')])
  expect(order.map(([key]) => key)).toEqual(['busy', 'other', 'third', 'busy', 'busy'])
  expect(new Set(order.map(([, at]) => at)).size).toBe(order.length)
})

test('a pacer is due after it has blocked for a while, and not right after its turn', async () => {
  const pacer = new Pacer('busy')
  expect(pacer.isDue).toBe(false)
  const until = performance.now() + 30
  while (performance.now() < until);
  expect(pacer.isDue).toBe(true)
  await pacer.turn()
  expect(pacer.isDue).toBe(false)
})
