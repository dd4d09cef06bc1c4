import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect, test } from 'vitest'
import { copiedTables, globalTables } from '../../../../test/support/statement-rules.ts'
import { createTestDb } from '../../../../test/support/test-db.ts'
import { until } from '../../../../test/support/until.ts'
import { migrate } from '../migrate.ts'
import { withMigrationLock } from '../migration-lock.ts'
import { type StartedStatement, statementChannelName } from '../statement-channel.ts'
import { checkCoordinator, detectDistribution, distribute, findDistributedTables } from './distribute.ts'
import { distributionSteps, readDistributionPlan, stepStatements } from './distribution-plan.ts'

const none: ReadonlySet<string> = new Set()

test('tenant tables are distributed, and tables without an organization stay on the coordinator', async () => {
  await using test = await createTestDb()
  const { tables } = await readDistributionPlan(test.db)
  const placed = (placement: string) => tables.filter((table) => table.placement === placement).map(({ name }) => name)
  expect(placed('reference')).toEqual(copiedTables.toSorted())
  expect([...placed('reference'), ...placed('local')].toSorted()).toEqual(globalTables.toSorted())
  expect(placed('distributed')).toEqual(expect.arrayContaining(['contacts', 'events', 'jobs', 'lanes', 'messages']))
  expect(placed('distributed').filter((name) => name.startsWith('events_'))).toEqual([])
})

test('tables with a foreign key to each other are distributed in one step, all on the same nodes', async () => {
  await using test = await createTestDb()
  const steps = distributionSteps(await readDistributionPlan(test.db), none)
  expect(steps.map(({ tables }) => tables[0]).slice(0, 3)).toEqual(['organizations', 'api_keys', 'tracking_hosts'])
  const notices = steps.find(({ tables }) => tables.includes('notices'))!
  const key = 'notice_mails_organization_id_notice_id_fkey'
  expect(stepStatements(notices, { done: none, colocatedWith: 'contacts' })).toEqual([
    `alter table notice_mails drop constraint ${key}`,
    "select create_distributed_table('notices', 'organization_id', colocate_with => 'contacts')",
    "select create_distributed_table('notice_mails', 'organization_id', colocate_with => 'contacts')",
    `alter table notice_mails add constraint ${key} FOREIGN KEY (organization_id, notice_id) REFERENCES notices(organization_id, id) ON DELETE CASCADE`,
  ])
})

test('only tables that are not distributed yet are left', async () => {
  await using test = await createTestDb()
  const plan = await readDistributionPlan(test.db)
  const names = plan.tables.filter(({ placement }) => placement !== 'local').map(({ name }) => name)
  expect(distributionSteps(plan, new Set(names))).toEqual([])
  const done = new Set(names.filter((name) => name !== 'notice_mails'))
  const [step, ...more] = distributionSteps(plan, done)
  expect(more).toEqual([])
  expect(stepStatements(step!, { done, colocatedWith: 'contacts' }).filter((text) => /create_/.test(text))).toEqual([
    "select create_distributed_table('notice_mails', 'organization_id', colocate_with => 'contacts')",
  ])
})

test('a database without the extension is not distributed, and says what to install', async () => {
  await using test = await createTestDb({ empty: true })
  await detectDistribution(test.db)
  expect(test.db.isDistributed).toBe(false)
  expect(await findDistributedTables(test.db)).toEqual(new Set())
  await expect(checkCoordinator(test.db)).rejects.toThrow('does not have the extension citus')
})

test('distributing waits while another process changes the schema', async () => {
  await using test = await createTestDb({ empty: true })
  await migrate(test.db)
  const order: string[] = []
  let attempts = 0
  const count = (message: unknown) => {
    if ((message as StartedStatement).text.includes('pg_try_advisory_xact_lock')) attempts += 1
  }
  let distributing: Promise<unknown> | undefined
  await withMigrationLock(test.db, async () => {
    subscribe(statementChannelName, count)
    // Fails at the first table, because the database does not have the extension.
    distributing = distribute(test.db, () => order.push('distributing')).catch(() => {})
    await until('a second attempt to get the lock', () => attempts > 1)
    order.push('migrated')
  })
  await distributing
  unsubscribe(statementChannelName, count)
  expect(order).toEqual(['migrated', 'distributing'])
})
