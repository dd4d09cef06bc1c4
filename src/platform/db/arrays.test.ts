import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTestDb } from '../../../test/support/test-db.ts'
import { newId } from '../values/ids.ts'
import { binaryArray } from './arrays.ts'

const orNull = <T>(values: fc.Arbitrary<T>) => fc.array(fc.option(values), { maxLength: 20 })
// PostgreSQL text cannot contain NUL.
const texts = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', ''))
const times = fc.date({ noInvalidDate: true, min: new Date('0001-01-01Z'), max: new Date('9999-12-31Z') })
const columns = {
  uuids: orNull(fc.uuid()),
  words: orNull(texts),
  dates: orNull(times),
  flags: orNull(fc.boolean()),
  numbers: orNull(fc.maxSafeInteger()),
  integers: orNull(fc.integer()),
}

test('PostgreSQL reads every binary array correctly', async () => {
  await using db = await createTestDb()
  await fc.assert(
    fc.asyncProperty(fc.record(columns), async (given) => {
      const { uuids, words, dates, flags, numbers, integers } = given
      const rows = await db.db<Record<string, unknown>>`
        select ${uuids}::uuid[]::text[] as uuids, ${words}::text[] as words, ${dates}::timestamptz[] as dates,
          ${flags}::bool[] as flags, to_json(${numbers}::int8[]) as numbers,
          ${integers}::int[] as integers`
      expect(rows).toEqual([given])
    }),
    { numRuns: 200 },
  )
})

test('sends values of another type as text, so that PostgreSQL rejects invalid ones', async () => {
  expect(binaryArray('uuid', [newId('evt')])).toHaveLength(40)
  for (const [type, values] of [
    ['uuid', [newId('evt').toUpperCase()]],
    ['uuid', ['no uuid']],
    ['uuid', [newId('evt').replaceAll('-', '_')]],
    ['text', [1]],
    ['int8', [0.5]],
    ['int8', ['1']],
    ['bool', ['t']],
    ['timestamptz', ['2026-01-01']],
    ['timestamptz', [new Date(Number.NaN)]],
    ['int', [0.5]],
    ['int', [2 ** 31]],
    ['int', ['1']],
    ['json', ['{}']],
  ] as const)
    expect(binaryArray(type, values), `${type} ${values}`).toBeUndefined()
  await using db = await createTestDb()
  expect(await db.db`select ${[1, undefined]}::text[] as words`).toEqual([{ words: ['1', null] }])
  expect(await db.db`select ${['1', undefined]}::text[] as words`).toEqual([{ words: ['1', null] }])
  await expect(db.db`select ${['no uuid']}::uuid[]`).rejects.toMatchObject({ code: '22P02' })
  await expect(db.db`select ${['a\0b']}::text[]`).rejects.toMatchObject({ code: '22021' })
})
