import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { createTestDb } from '../../../test/support/test-db.ts'
import { gatherWrites } from './gather-writes.ts'

test('pg writes all statements of a turn to the stream that is gathered', async () => {
  await using testDb = await createTestDb({ empty: true })
  const client = await testDb.db.pool.connect()
  try {
    const { stream } = (client as unknown as { connection: { stream: Writable } }).connection
    expect(
      stream,
      'pg has no client.connection.stream any more: adapt src/platform/db/gather-writes.ts',
    ).toBeInstanceOf(Writable)
    gatherWrites(client)
    const answers = [client.query('select 1 as number'), client.query('select 2 as number')]
    gatherWrites(client)
    expect(stream.writableCorked, 'corked once for the turn').toBe(1)
    expect(stream.writableLength, 'the statements wait in this stream').toBeGreaterThan('select 1 as number'.length * 2)
    const rows = (await Promise.all(answers)).map((answer) => answer.rows[0].number)
    expect(rows).toEqual([1, 2])
    expect([stream.writableCorked, stream.writableLength]).toEqual([0, 0])
  } finally {
    client.release()
  }
})
