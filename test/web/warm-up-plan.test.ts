import { expect, test } from 'vitest'
import { daysFor, endOf } from '../../web/src/delivery/domains/warm-up-plan.ts'

const plan = [50, 100, 200, 400, 800, 1_500, 3_000, 6_000, 12_000]

test.each([
  ['the first day takes what it can', 50, { plan, day: 1, sent_today: 0 }, 1],
  ['the rest waits until the next day', 51, { plan, day: 1, sent_today: 0 }, 2],
  ['a large list needs most of the plan', 12_051, { plan, day: 1, sent_today: 0 }, 9],
  ['what left today counts', 50, { plan, day: 1, sent_today: 50 }, 2],
  ['a plan continues at its day', 3_000, { plan, day: 7, sent_today: 0 }, 1],
  ['after the plan nothing is limited', 1_000_000, { plan, day: 9, sent_today: 0 }, 2],
  ['a plan that has ended limits nothing', 1_000_000, { plan, day: 10, sent_today: 500 }, 1],
] as const)('%s', (_, emails, state, days) => {
  expect(daysFor(emails, state)).toBe(days)
})

test('a plan ends when its last day has passed', () => {
  const today = new Date('2026-11-19T23:00:00Z')
  expect(endOf({ plan, day: 1, sent_today: 0 }, today)).toBe('2026-11-27')
  expect(endOf({ plan, day: 9, sent_today: 0 }, today)).toBe('2026-11-19')
})
