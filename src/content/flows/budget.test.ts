import { expect, test } from 'vitest'
import { Budget, OverBudget } from './budget.ts'

test('rendering is stopped by CPU time even if its steps cost too few units', () => {
  const limits = { units: Number.POSITIVE_INFINITY, cpuMs: 20 }
  const budget = new Budget(limits)
  const before = process.cpuUsage()
  const spentMs = () => process.cpuUsage(before).user / 1000
  const run = () => {
    while (spentMs() < 2_000) budget.check(performance.now())
  }
  expect(run).toThrow(OverBudget)
  expect([budget.excess?.spent, spentMs() < 1_000]).toEqual(['time', true])
})
