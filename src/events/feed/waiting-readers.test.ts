import { pino } from 'pino'
import { expect, test } from 'vitest'
import { happen } from '../../../test/support/events.ts'
import { failureLog } from '../../../test/support/failure-log.ts'
import { createTestDb } from '../../../test/support/test-db.ts'
import { newId, type OrganizationId, toText } from '../../platform/values/ids.ts'
import { startOfFeed } from './cursor.ts'
import { WaitingReaders } from './waiting-readers.ts'

const { signal } = new AbortController()

/** Returns readers of a database, and an organization whose events they find only by looking for all readers. */
function startWaiting(db: Parameters<typeof happen>[0]) {
  const waiting = new WaitingReaders(db, failureLog(pino({ level: 'silent' })))
  const organizationId = newId('org')
  const record = (organization = organizationId) => happen(db, toText('org', organization), 'emailOpen')
  const wait = (organization: OrganizationId, position: bigint) =>
    waiting.wait(organization, { ...startOfFeed, position }, 60_000, signal)
  return { waiting, organizationId, wait, record }
}

test('a reader beyond the end of the feed waits, and others are answered', async () => {
  await using testDb = await createTestDb()
  const { waiting, organizationId, wait, record } = startWaiting(testDb.db)
  const other = newId('org')
  await Promise.all([record(), record(other)])
  const beyond = wait(other, 2n ** 63n - 1n)
  expect(await wait(organizationId, 0n)).toBe(true)
  waiting.close()
  expect(await beyond).toBe(false)
})

test('a reader that the database cannot look for does not stop others', async () => {
  await using testDb = await createTestDb()
  const { waiting, organizationId, wait, record } = startWaiting(testDb.db)
  await record()
  const impossible = wait('no organization' as OrganizationId, 0n)
  expect(await wait(organizationId, 0n)).toBe(true)
  waiting.close()
  expect(await impossible).toBe(false)
})
