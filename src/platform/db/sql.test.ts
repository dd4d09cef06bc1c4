import { expect, test } from 'vitest'
import { and, sql } from './sql.ts'

test('values become numbered parameters and never text', () => {
  const query = sql`select * from t where a = ${'1; drop table t'} and b = ${2}`
  expect(query.text).toBe('select * from t where a = $1 and b = $2')
  expect(query.values).toEqual(['1; drop table t', 2])
})

test('splices nested fragments and renumbers their parameters', () => {
  const inner = sql`b = ${'b'} and c = ${'c'}`
  const query = sql`select ${'a'} where ${inner} and ${inner} limit ${9}`
  expect(query.text).toBe('select $1 where b = $2 and c = $3 and b = $4 and c = $5 limit $6')
  expect(query.values).toEqual(['a', 'b', 'c', 'b', 'c', 9])
})

test('an empty list of conditions is true', () => {
  expect(and([]).text).toBe('true')
  expect(and([sql`a = ${1}`, sql`b = ${2}`]).text).toBe('true and a = $1 and b = $2')
})
