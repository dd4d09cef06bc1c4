import { expect, test } from 'vitest'
import { happen } from '../../test/support/events.ts'
import { startSharedApp } from '../../test/support/test-app.ts'
import { Waxwing } from './client.ts'
import type { FeedEvent } from './event-feed.ts'

const newApp = await startSharedApp({}, ['serve'])

test('follow yields every event once, also those recorded later, and ends when its signal is aborted', async () => {
  const app = await newApp()
  const waxwing = new Waxwing({ apiKey: app.apiKey, baseUrl: app.url })
  await happen(app.db, app.organizationId, 'emailSent', 3)
  const ending = new AbortController()
  const events: FeedEvent[] = []
  const cursors: string[] = []
  const follow = async () => {
    for await (const event of waxwing.events.follow({
      signal: ending.signal,
      onPage: (cursor) => cursors.push(cursor),
    })) {
      events.push(event)
      if (events.length === 3) await happen(app.db, app.organizationId, 'emailClick')
      if (events.length === 4) ending.abort(new Error('enough'))
    }
  }
  await expect(follow()).rejects.toThrow('enough')
  expect(events.map(({ event_name }) => event_name)).toEqual(['emailSent', 'emailSent', 'emailSent', 'emailClick'])
  expect(new Set(events.map(({ id }) => id)).size).toBe(4)
  expect((await waxwing.events.list({ after: events[1]!.cursor, limit: 1 })).events).toEqual([events[2]])
  expect((await waxwing.events.list({ after: cursors[0], wait: 0 })).events).toEqual([events[3]])
})

test('follow throws if the cursor is rejected', async () => {
  const app = await newApp()
  const waxwing = new Waxwing({ apiKey: app.apiKey, baseUrl: app.url })
  await expect(waxwing.events.follow({ after: 'abc' }).next()).rejects.toMatchObject({ type: 'validation_failed' })
})
