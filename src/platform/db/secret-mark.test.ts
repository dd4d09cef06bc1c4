import { expect, test } from 'vitest'
import { createTestDb } from '../../../test/support/test-db.ts'
import { markSecret } from './secret-mark.ts'

const secretOf = (word: string) => `the ${word} secret of at least thirty-two letters`
const [first, second, third] = [secretOf('first'), secretOf('second'), secretOf('third')]

test('a database belongs to the secret it was first used with, until that is rotated', async () => {
  await using testDb = await createTestDb()
  const isOurs = async (current: string, previous?: string) =>
    (await markSecret(testDb.db, { current, previous })) !== undefined
  expect([await isOurs(first), await isOurs(first)]).toEqual([true, true])
  expect([await isOurs(second), await isOurs(second, third)]).toEqual([false, false])
  expect(await isOurs(second, first)).toBe(true)
  expect([await isOurs(second), await isOurs(first)]).toEqual([true, false])
  const [row] = await testDb.db<{ mark: string }>`select mark from secret_mark`
  expect(row!.mark).not.toContain('secret')
})

test('keeps the time at which a secret was first used', async () => {
  await using testDb = await createTestDb()
  const since = (current: string, previous?: string) => markSecret(testDb.db, { current, previous })
  const begun = await since(first)
  expect(await since(first)).toEqual(begun)
  const rotated = await since(second, first)
  expect(rotated!.getTime()).toBeGreaterThan(begun!.getTime())
  expect([await since(second, first), await since(second), await since(third)]).toEqual([rotated, rotated, undefined])
})
