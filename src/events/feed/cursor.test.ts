import { expect, test } from 'vitest'
import { startSharedApp } from '../../../test/support/test-app.ts'

const newApp = await startSharedApp({}, ['serve'])

const positionAt = 4

/** Changes the bytes of a cursor. */
function changed(cursor: string, change: (bytes: Buffer) => void): string {
  const bytes = Buffer.from(cursor, 'base64url')
  change(bytes)
  return bytes.toString('base64url')
}

test.each([
  ['of another installation', (bytes: Buffer) => bytes.writeInt32BE(bytes.readInt32BE() ^ 1)],
  ['with the greatest position', (bytes: Buffer) => bytes.writeBigInt64BE(2n ** 63n - 1n, positionAt)],
  [
    'that is ahead of the feed',
    (bytes: Buffer) => bytes.writeBigInt64BE(bytes.readBigInt64BE(positionAt) + 1_000_000n, positionAt),
  ],
])('rejects a cursor %s', async (_, change) => {
  const app = await newApp()
  const { cursor } = (await app.publicApi('GET', '/events?after=latest')).body.data
  expect((await app.publicApi('GET', `/events?after=${cursor}`)).status).toBe(200)
  const { status, body } = await app.publicApi('GET', `/events?after=${changed(cursor, change)}&wait=1`)
  expect([status, body.message]).toEqual([422, expect.stringContaining('after: must be the cursor')])
})
