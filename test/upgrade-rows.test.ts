import { expect, test } from 'vitest'
import { ensurePartitions } from '../src/events/recording/partitions.ts'
import type { Db } from '../src/platform/db/db.ts'
import { isMigrated, type Migration, migrate, readMigrations } from '../src/platform/db/migrate.ts'
import { newId } from '../src/platform/values/ids.ts'
import { readReleases } from './releases/releases.ts'
import { createTestDb, type TestDb } from './support/test-db.ts'
import { longTestMsMax } from './support/time-limits.ts'

/** `npm run test:upgrade` uses a million. */
const rows = Number(process.env.TEST_ROWS ?? 5_000)
const timeout = longTestMsMax.processes + rows
const organizationId = newId('org')

/** Inserts messages, events and deliveries for contacts, with the columns that every schema has. */
async function fill(db: Db): Promise<void> {
  await ensurePartitions(db)
  await db.begin(
    async (tx) => {
      await tx.script(`
        insert into organizations (id, name) values ('${organizationId}', 'Large');
        create temporary table ids on commit drop as
          select n, overlay(gen_random_uuid()::text placing
            lpad(to_hex((extract(epoch from now()) * 1000)::bigint - n), 12, '0') from 1 for 0)::text as whole
          from generate_series(1, ${rows}) n;
        alter table ids add column id uuid;
        update ids set id = (substr(whole, 1, 8) || '-' || substr(whole, 9, 4) || '-7' || substr(whole, 14, 3) || '-8'
          || substr(whole, 18, 3) || '-' || lpad(to_hex(n), 12, '0'))::uuid;
        insert into contacts (organization_id, id, email, email_key, first_name, last_name, subscription)
          select '${organizationId}', id, 'c' || n || '@example.com', 'c' || n || '@example.com', 'José', 'Łódź', 'subscribed'
          from ids where n <= ${rows / 5};
        insert into messages (organization_id, id, flow_id, flow_version_id, contact_id, email, subject, context, status)
          select '${organizationId}', ids.id, '${organizationId}', '${organizationId}', contact.id,
            'c' || contact.n || '@example.com', 'Hello', '{"order": 1}', 'sent'
          from ids join ids contact on contact.n = ids.n % ${rows / 5} + 1;
        insert into events (organization_id, id, event_name, occurred_at, message_id, flow_id, contact_id)
          select '${organizationId}', ids.id, 'emailSent', now(), ids.id, '${organizationId}', contact.id
          from ids join ids contact on contact.n = ids.n % ${rows / 5} + 1;
        insert into deliveries (organization_id, id, webhook_id, event_id, event_name, status)
          select '${organizationId}', id, '${organizationId}', id, 'emailSent', 'pending'
          from ids where n <= ${rows / 5}`)
    },
    { unlimited: true },
  )
  await db.begin((tx) => tx.script('analyze'), { unlimited: true })
}

const countAll = async (db: Db) =>
  (
    await db<Record<string, number>>`
      select (select count(*) from contacts) as contacts, (select count(*) from messages) as messages,
        (select count(*) from events) as events, (select count(*) from deliveries) as deliveries`
  )[0]!

/** Writes like a process of the older version, until `stop`. Returns the number of writes and the longest one. */
function startWriting(db: Db) {
  let isRunning = true
  const seen = { writes: 0, longestMs: 0 }
  const writing = (async () => {
    while (isRunning) {
      const started = performance.now()
      const id = newId('msg')
      await db.statement`
        insert into messages (organization_id, id, flow_id, flow_version_id, contact_id, email, subject, context, status)
        values (${organizationId}, ${id}, ${id}, ${id}, ${id}, 'old@example.com', 'Hello', '{}', 'queued')`
      seen.writes++
      seen.longestMs = Math.max(seen.longestMs, performance.now() - started)
    }
  })()
  const stop = async () => {
    isRunning = false
    await writing
    return seen
  }
  return { seen, stop }
}

const report = (what: string, started: number, { writes, longestMs }: { writes: number; longestMs: number }) =>
  console.info(
    `${what}, ${rows} rows: ${Math.round(performance.now() - started)} ms, ${writes} concurrent writes, the longest ${Math.round(longestMs)} ms`,
  )

async function databaseAt(isApplied: (migration: Migration) => boolean): Promise<TestDb> {
  const database = await createTestDb({ empty: true })
  await migrate(database.db, readMigrations().filter(isApplied))
  await fill(database.db)
  return database
}

test.for(readReleases())(
  'a full database of $version is upgraded while its processes write',
  { timeout },
  async (release) => {
    const numbers = new Set(release.migrations.map(({ number }) => number))
    await using database = await databaseAt(({ number }) => numbers.has(number))
    const { db } = database
    const before = await countAll(db)
    // A later version adds an index to the largest table.
    const index = `-- no transaction
    create index concurrently messages_by_status on messages (organization_id, status, id);`
    const migrations = [...readMigrations(), { number: 9_000, name: '9000_index', text: index }]
    const started = performance.now()
    const { seen, stop } = startWriting(db)
    const done = await migrate(db, migrations)
    const writesMeanwhile = seen.writes
    report(`From ${release.version}`, started, await stop())

    expect(done).toContain('9000_index')
    expect(await isMigrated(db)).toBe(true)
    expect(await db`select from pg_index where not indisvalid`).toEqual([])
    expect(writesMeanwhile).toBeGreaterThan(0)
    expect(await countAll(db)).toEqual({ ...before, messages: before.messages! + seen.writes })
  },
)

test('a full database from before the first release is upgraded', { timeout }, async () => {
  await using database = await databaseAt(({ number }) => number < 40)
  const { db } = database
  const before = await countAll(db)
  const started = performance.now()
  await migrate(db)
  report('From before 0.1.0', started, { writes: 0, longestMs: 0 })
  expect(await countAll(db)).toEqual(before)
  const [row] = await db<{ missing: number; keys: number }>`
    select (select count(*) from messages where recipient is null) as missing,
      (select count(*) from contacts where last_name_key = 'Lodz') as keys`
  expect(row).toEqual({ missing: 0, keys: rows / 5 })
  const [event] = await db<{ count: number }>`select count(*) from events where contact_email is not null`
  expect(event!.count).toBe(rows / 5)
})
