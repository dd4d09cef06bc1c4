import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { happen } from '../../../test/support/events.ts'
import { createTestDb } from '../../../test/support/test-db.ts'
import { until } from '../../../test/support/until.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { newId, toText } from '../../platform/values/ids.ts'
import { startOfFeed, toCursor } from '../feed/cursor.ts'
import { getFeedState } from '../recording/feed-positions.ts'
import { createFile } from './export-file.ts'

test('a file is not created if the feed ends before the planned end', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const organizationId = newId('org')
  const read: BoundedRead = (id, work) => db.begin((tx) => work(tx, id))
  await happen(db, toText('org', organizationId), 'emailOpen', 2)
  const range = { organizationId, after: null, until: null }
  const planned = await until('the events', async () => {
    const file = await createFile(read, range)
    return file.events === 2 ? file : undefined
  })
  const again = await createFile(read, { ...range, until: planned.until })
  expect(gunzipSync(again.body)).toEqual(gunzipSync(planned.body))

  const { feedId, next } = await getFeedState(db)
  const later = toCursor(feedId, { ...startOfFeed, position: BigInt(next) + 1_000n })
  await expect(createFile(read, { ...range, until: later })).rejects.toThrow('before the end of the planned file')
})
