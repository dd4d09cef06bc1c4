import { expect, test } from 'vitest'
import { createTestDb } from '../../../test/support/test-db.ts'
import { newId } from '../values/ids.ts'
import { isMigrated, migrate, readMigrations } from './migrate.ts'

const organizationId = newId('org')

/** A database as it was before a migration, with an organization. */
async function databaseBefore(number: number) {
  const database = await createTestDb({ empty: true })
  await migrate(
    database.db,
    readMigrations().filter((migration) => migration.number < number),
  )
  await database.db.statement`insert into organizations (id, name) values (${organizationId}, 'Acme')`
  return database
}

test('0031 marks the deliveries of test events and finds the last delivery of failing webhooks', async () => {
  await using database = await databaseBefore(31)
  const { db } = database
  const [healthy, failing, neverDelivered] = [newId('whk'), newId('whk'), newId('whk')]
  const [attempted, failingSince] = [new Date('2026-03-05T12:00:00Z'), new Date('2026-03-03T12:00:00Z')]
  for (const [id, since] of [
    [healthy, null],
    [failing, failingSince],
    [neverDelivered, failingSince],
  ] as const)
    await db.statement`
      insert into webhooks (organization_id, id, name, url, all_events, event_types, secret, last_delivery_at, failing_since)
      values (${organizationId}, ${id}, 'CRM', 'https://crm.example/', true, '{}', '', ${attempted}, ${since})`
  const deliver = async (webhookId: string, deliveredAt: string | null, isTest = false) => {
    const eventId = newId('evt')
    const [row] = await db.statement<{ id: string }>`
      insert into deliveries (organization_id, id, webhook_id, event_id, event_name, status, delivered_at)
      select ${organizationId}, case when ${isTest} then ${newId('dlv')}::uuid else delivery_id(${eventId}, ${webhookId}) end,
        ${webhookId}, ${eventId}, 'emailOpen', ${deliveredAt ? 'delivered' : 'failed'}, ${deliveredAt}
      returning id`
    return row!.id
  }
  await deliver(failing, '2026-03-01T10:00:00Z')
  await deliver(failing, '2026-03-02T10:00:00Z')
  await deliver(failing, null)
  // An acknowledged test is no delivery.
  const tests = [await deliver(failing, '2026-03-04T10:00:00Z', true), await deliver(neverDelivered, null, true)]
  await deliver(neverDelivered, null)

  await migrate(db)

  const marked = await db<{ id: string }>`select id from deliveries where is_test`
  expect(marked.map(({ id }) => id).sort()).toEqual(tests.sort())
  const webhooks = await db<{ id: string }>`
    select id, retry_schedule, last_attempt_at, last_delivery_at, failing_notified_at from webhooks order by id`
  const common = { retrySchedule: 'standard', lastAttemptAt: attempted, failingNotifiedAt: null }
  expect(webhooks).toEqual([
    { id: healthy, ...common, lastDeliveryAt: attempted },
    { id: failing, ...common, lastDeliveryAt: new Date('2026-03-02T10:00:00Z') },
    { id: neverDelivered, ...common, lastDeliveryAt: null },
  ])
})

test('0043 computes the search keys of names that were stored before, and none for names in ASCII', async () => {
  await using database = await databaseBefore(43)
  const { db } = database
  const insert = (email: string, firstName: string | null, lastName: string | null) => db.statement`
    insert into contacts (organization_id, id, email, email_key, first_name, last_name, subscription)
    values (${organizationId}, ${newId('con')}, ${email}, ${email}, ${firstName}, ${lastName}, 'subscribed')`
  await insert('a@example.com', 'José', 'Łódź')
  await insert('b@example.com', 'Ann', null)
  await insert('c@example.com', null, 'Strauß')

  await migrate(db)

  expect(
    await db`select first_name, first_name_key, last_name, last_name_key from contacts order by email_key`,
  ).toEqual([
    { firstName: 'José', firstNameKey: 'Jose', lastName: 'Łódź', lastNameKey: 'Lodz' },
    { firstName: 'Ann', firstNameKey: null, lastName: null, lastNameKey: null },
    { firstName: null, firstNameKey: null, lastName: 'Strauß', lastNameKey: 'Strauss' },
  ])
})

test('two migrations with the same number are rejected before any of them runs', async () => {
  await using database = await createTestDb({ empty: true })
  const { db } = database
  const migrations = [
    { number: 1, name: '0001_first', text: 'create table first ()' },
    { number: 2, name: '0002_ours', text: 'create table ours ()' },
    { number: 2, name: '0002_theirs', text: 'create table theirs ()' },
  ]
  await expect(migrate(db, migrations)).rejects.toThrow(
    'The migrations 0002_ours and 0002_theirs have the same number. Renumber one of them.',
  )
  expect(await db`select to_regclass('first') as first`).toEqual([{ first: null }])
})

test('a database with another migration instead of one of ours is not migrated', async () => {
  await using database = await createTestDb()
  const { db } = database
  expect(await isMigrated(db)).toBe(true)
  await db.statement`update schema_migrations set number = 999999 where number = 1`
  expect(await isMigrated(db)).toBe(false)
})
