import { expect, test } from 'vitest'
import { createTestDb } from '../../test/support/test-db.ts'
import { isOurSecret } from './secret-mark.ts'

const secretOf = (word: string) => `the ${word} secret of at least thirty-two letters`
const [first, second, third] = [secretOf('first'), secretOf('second'), secretOf('third')]

test('a database belongs to the secret it was first used with, until another follows it', async () => {
  await using testDb = await createTestDb()
  const isOurs = (current: string, previous?: string) => isOurSecret(testDb.db, { current, previous })
  expect([await isOurs(first), await isOurs(first)]).toEqual([true, true])
  expect([await isOurs(second), await isOurs(second, third)]).toEqual([false, false])
  expect(await isOurs(second, first)).toBe(true)
  expect([await isOurs(second), await isOurs(first)]).toEqual([true, false])
  const [row] = await testDb.db<{ mark: string }>`select mark from secret_mark`
  expect(row!.mark).not.toContain('secret')
})
