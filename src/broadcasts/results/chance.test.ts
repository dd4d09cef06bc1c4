import { expect, test } from 'vitest'
import { chanceOf, upperTail } from './chance.ts'

const chance = (...pairs: [reacted: number, sent: number][]) =>
  chanceOf(pairs.map(([reacted, sent]) => ({ reacted, sent })))

test('the share of chance equals that of a two-sided test of two proportions', () => {
  // prop.test(c(15, 5), c(25, 25), correct = FALSE) of R: X-squared = 8.3333, p-value = 0.003892.
  expect(chance([15, 25], [5, 25])).toBeCloseTo(0.003892, 6)
  expect(chance([200, 1_000], [240, 1_000])).toBeCloseTo(0.030837, 6)
  expect(chance([100, 1_000], [100, 1_000])).toBeCloseTo(1, 6)
  expect(chance([100, 1_000], [100, 1_000])).toBeLessThanOrEqual(1)
})

test('the distribution has the quantiles of the tables', () => {
  const quantiles = [
    { degrees: 1, five: 3.841459, one: 6.634897 },
    { degrees: 2, five: 5.991465, one: 9.21034 },
    { degrees: 3, five: 7.814728, one: 11.344867 },
  ]
  for (const { degrees, five, one } of quantiles)
    expect([upperTail(five, degrees), upperTail(one, degrees)].map((p) => p.toFixed(6))).toEqual([
      '0.050000',
      '0.010000',
    ])
})

test('more than two variants are tested together, so that more variants do not find more by chance', () => {
  // chisq.test(rbind(c(30, 45, 45), c(70, 55, 55))) of R: X-squared = 6.25, p-value = 0.04394.
  expect(chance([30, 100], [45, 100], [45, 100])).toBeCloseTo(0.04394, 5)
  expect(chance([30, 100], [45, 100], [45, 100], [40, 100])).toBeCloseTo(0.10006, 5)
  expect(chance([30, 100], [45, 100])).toBeLessThan(0.03)
})

test('small numbers are too few to tell', () => {
  expect(chance([4, 100], [5, 100])).toBeNull()
  expect(chance([5, 100], [5, 100])).toBeCloseTo(1, 6)
  expect(chance([0, 0], [0, 0])).toBeNull()
  expect(chance([100, 100], [98, 100])).toBeNull()
  expect(chance([50, 100])).toBeNull()
})
