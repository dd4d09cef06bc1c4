import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTestDb } from '../../test/support/test-db.ts'
import { newId } from '../ids.ts'
import { binaryArray } from './arrays.ts'

const orNull = <T>(values: fc.Arbitrary<T>) => fc.array(fc.option(values), { maxLength: 20 })
// PostgreSQL stores no NUL.
const texts = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', ''))
const times = fc.date({ noInvalidDate: true, min: new Date('0001-01-01Z'), max: new Date('9999-12-31Z') })

test('PostgreSQL reads every array as it was given', async () => {
  await using db = await createTestDb()
  await fc.assert(
    fc.asyncProperty(orNull(fc.uuid()), orNull(texts), orNull(times), orNull(fc.boolean()), async (...given) => {
      const [uuids, words, dates, flags] = given
      const rows = await db.db<Record<string, unknown>>`
        select ${uuids}::uuid[]::text[] as uuids, ${words}::text[] as words, ${dates}::timestamptz[] as dates,
          ${flags}::bool[] as flags`
      expect(rows).toEqual([{ uuids, words, dates, flags }])
    }),
    { numRuns: 200 },
  )
})

test('values that are not of the type are left to PostgreSQL, which refuses what it cannot read', async () => {
  expect(binaryArray('uuid', [newId('evt')])).toHaveLength(40)
  for (const [type, values] of [
    ['uuid', [newId('evt').toUpperCase()]],
    ['uuid', ['no uuid']],
    ['uuid', [newId('evt').replaceAll('-', '_')]],
    ['text', [1]],
    ['text', [undefined]],
    ['bool', ['t']],
    ['timestamptz', ['2026-01-01']],
    ['timestamptz', [new Date(Number.NaN)]],
    ['int', [1]],
  ] as const)
    expect(binaryArray(type, values), `${type} ${values}`).toBeUndefined()
  await using db = await createTestDb()
  expect(await db.db`select ${[1]}::text[] as words`).toEqual([{ words: ['1'] }])
  await expect(db.db`select ${['no uuid']}::uuid[]`).rejects.toMatchObject({ code: '22P02' })
  await expect(db.db`select ${['a\0b']}::text[]`).rejects.toMatchObject({ code: '22021' })
})
