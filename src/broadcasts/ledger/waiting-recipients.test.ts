import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { withResolvers } from '../../../test/support/with-resolvers.ts'
import { newId } from '../../platform/values/ids.ts'
import { type ReadRecipients, WaitingRecipients } from './waiting-recipients.ts'

const chunkReadAt = (readAt: number): ReadRecipients => ({
  recipients: [
    {
      ...{ contactId: newId('con'), variant: null, email: 'ada@example.com', firstName: null, lastName: null },
      ...{ attributes: null, subscription: 'subscribed', suppressedBy: null },
    },
  ],
  readAt,
})

test('a chunk that is opened while others are read again is as old as its own rows', async () => {
  const { promise: read, resolve: endRead } = withResolvers()
  const longAgo = performance.now() - 60_000
  const [open, late] = [chunkReadAt(longAgo), chunkReadAt(longAgo)]
  const chunks = [open]
  const waiting = new WaitingRecipients(
    async () => {
      await read
      return []
    },
    () => chunks,
  )
  const refreshed = waiting.refresh()
  await sleep(0)
  chunks.push(late)
  endRead()
  await refreshed
  expect([waiting.areRecent(open), waiting.areRecent(late)]).toEqual([true, false])
})
