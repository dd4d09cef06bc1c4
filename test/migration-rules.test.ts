import { expect, test } from 'vitest'
import { oldestSchema, tenantColumns } from '../src/operations/backup/import-organization.ts'
import { readMigrations } from '../src/platform/db/migrate.ts'
import { readReleases } from './releases/releases.ts'
import { changedTables, migrationProblems } from './support/migration-rules.ts'
import { createTestDb } from './support/test-db.ts'

const problemsOf = (text: string) => migrationProblems({ number: 1, name: '0001_test', text })

test('migrations after a release keep its processes working', () => {
  const released = new Set(readReleases().flatMap(({ migrations }) => migrations.map(({ name }) => name)))
  const problems = readMigrations()
    .filter(({ name }) => !released.has(name))
    .flatMap((migration) => migrationProblems(migration).map((problem) => `${migration.name} ${problem}`))
  expect(problems).toEqual([])
})

test.for([
  ['drop table old', 'drops a table'],
  ['alter table contacts drop column first_name', 'drops a column'],
  ['alter table contacts drop first_name', 'drops a column'],
  ['drop function delivery_id(uuid, uuid)', 'drops a function'],
  ['alter table contacts rename column email to address', 'renames something'],
  ['alter table contacts rename to people', 'renames something'],
  ['alter table contacts alter column email type citext', 'changes the type of a column'],
  ['alter table contacts alter email set data type citext', 'changes the type of a column'],
  ['alter table contacts alter column first_name set not null', 'forbids null in a column'],
  [
    'alter table contacts add column a text, add column b int not null',
    'adds the column b, which is required and has no default',
  ],
  [
    'create index contacts_by_x on contacts (x)',
    'blocks the writers of contacts while it builds contacts_by_x; use “-- no transaction”',
  ],
] as const)('%s: %s', ([text, problem]) => {
  expect(problemsOf(`-- Why.\n${text};\n`)).toEqual([problem])
})

test('what old processes do not notice is allowed', () => {
  expect(
    problemsOf('create table t (id int not null); create index t_by_id on t (id); alter table t alter id type bigint;'),
  ).toEqual([])
  expect(problemsOf('alter table contacts add column b int not null default 0, add column c text;')).toEqual([])
  expect(
    problemsOf(
      'alter table notices drop constraint notices_kind_check; alter table notices add constraint c check (true);',
    ),
  ).toEqual([])
  expect(problemsOf('alter table contacts alter column b drop not null, alter column c drop default;')).toEqual([])
  expect(problemsOf('-- no transaction\ncreate index concurrently contacts_by_x on contacts (x);')).toEqual([])
  expect(problemsOf('create index users_by_name on users (name);')).toEqual([])
  expect(problemsOf('-- drop table in a comment\nselect;')).toEqual([])
  expect(problemsOf('-- contract\n-- Unused since 0.2.0.\nalter table contacts drop column b;')).toEqual([])
})

test('migrations do not change rows of organizations, because they do not run for those of an older export', async () => {
  await using database = await createTestDb()
  await using session = await database.db.openSession()
  const exported = await tenantColumns(session.client)
  const changes = readMigrations().flatMap(({ number, name, text }) =>
    changedTables({ text })
      .filter((table) => exported.has(table))
      .map((table) => ({ number, name, table })),
  )
  expect(changes).toContainEqual({ number: 240, name: '0240_rejected_counters', table: 'event_counters' })
  expect(changes.filter(({ number }) => number > oldestSchema)).toEqual([])
})

test('the tables whose rows a migration changes are found in any statement', () => {
  const text = `-- update comments
    Update contacts set a = 1; insert into only groups select; delete\nfrom images; delete from flows;
    with gone as (delete from users returning id) insert into contacts select from gone on conflict do update set a = 1`
  expect(changedTables({ text })).toEqual(['contacts', 'groups', 'images', 'flows', 'users'])
})
