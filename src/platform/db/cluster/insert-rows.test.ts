import { expect, test } from 'vitest'
import { createTestDb } from '../../../../test/support/test-db.ts'
import { insertRows } from './insert-rows.ts'

test.each([1, 49, 50, 600])('%i rows with values in common are written as they are', async (count) => {
  await using database = await createTestDb()
  const { db } = database
  await db.statement`create table written (at int, name text, note text, kind text)`
  const given = Array.from({ length: count }, (_, at) => ({
    at,
    name: at === 7 ? 'Bob' : 'Ada',
    note: null,
    kind: 'x',
  }))
  const columns = (rows: typeof given) => ({
    note: ['text', rows.map(({ note }) => note)] as const,
    at: ['int4', rows.map(({ at }) => at)] as const,
    name: ['text', rows.map(({ name }) => name)] as const,
    kind: ['text', rows.map(({ kind }) => kind)] as const,
  })
  await db.begin(async (tx) => {
    await tx`insert into written (note, at, name, kind) ${insertRows(tx, columns(given), 'note, at, upper(name), kind')}`
  })
  const expected = given.map((row) => ({ ...row, name: row.name.toUpperCase() }))
  expect(await db`select at, name, note, kind from written order by at`).toEqual(expected)

  const same = given.map(() => ({ at: 5, name: 'Ada', note: null, kind: 'x' }))
  await db.begin(async (tx) => {
    await tx`insert into written (note, at, name, kind) ${insertRows(tx, columns(same))}`
  })
  expect(await db`select at, name, note, kind from written offset ${count}`).toEqual(same)
})
