import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { planFor } from '../scripts/capacity-plan.ts'

const typical = { hours: 8, hitsPerEmail: 0.6, webhooks: 1, days: 365, connections: 10 }

test('the plan grows with the number of emails', () => {
  expect(planFor({ ...typical, emailsPerDay: 100_000 })).toMatchObject({ step: 'one process', serve: 0, work: 0 })
  expect(planFor({ ...typical, emailsPerDay: 40_000_000 })).toMatchObject({ step: 'one database', serve: 2, work: 2 })
  expect(planFor({ ...typical, emailsPerDay: 1_000_000_000 })).toMatchObject({ step: 'pooler' })
  expect(planFor({ ...typical, emailsPerDay: 5_000_000_000 })).toMatchObject({ step: 'beyond one database' })
})

test('a peak, more webhooks and more days need more', () => {
  const plan = planFor({ ...typical, emailsPerDay: 10_000_000 })
  expect(plan.emailsPerSecond).toBeCloseTo(347.2, 1)
  expect(planFor({ ...typical, emailsPerDay: 10_000_000, hours: 1 }).databaseCores).toBeGreaterThan(plan.databaseCores)
  const more = planFor({ ...typical, emailsPerDay: 10_000_000, webhooks: 3, days: 730 })
  expect(more.deliveriesPerSecond).toBeCloseTo(3 * plan.deliveriesPerSecond)
  expect(more.databaseGigabytes).toBeGreaterThan(1.9 * plan.databaseGigabytes)
})

test('prints the plan', () => {
  const printed = execFileSync(process.execPath, ['dist/scripts/capacity.js', '--emails-per-day', '1000000'], {
    encoding: 'utf8',
  })
  expect(printed).toMatch(/^Peak +35\/s emails, 21\/s opens and clicks, 56\/s webhook deliveries\n/)
  expect(printed).toContain('One process with the embedded PostgreSQL is enough.')
})
