import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { happen } from '../../../test/support/events.ts'
import { registerOther } from '../../../test/support/people.ts'
import { createKey } from '../../../test/support/resources.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { startReceiver } from '../../../test/support/webhook-receiver.ts'
import { withResolvers } from '../../../test/support/with-resolvers.ts'
import { type Connection, openDb } from '../../platform/db/db.ts'
import { dayMs } from '../../platform/values/durations.ts'
import { parseId } from '../../platform/values/ids.ts'
import { checkFeedEpoch } from '../recording/feed-positions.ts'
import { dropOldEvents } from '../recording/partitions.ts'

const newApp = await startSharedApp({}, ['serve', 'work'])

type FeedEvent = { id: string; event_name: string; data: { event_id: string }; cursor: string }
type Page = { events: FeedEvent[]; cursor: string }

type Query = { after?: string; limit?: number; wait?: number }

async function read(app: TestApp, query: Query = {}): Promise<Page> {
  const search = new URLSearchParams(query as Record<string, string>)
  const answer = await app.publicApi('GET', `/events?${search}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.body.data
}

const idsOf = ({ events }: Page) => events.map(({ id }) => id)

/** Reads until events have arrived: an earlier transaction of another test may still be running. */
async function readAll(app: TestApp, count: number, query: Query = {}): Promise<Page> {
  return until(`${count} events`, async () => {
    const page = await read(app, query)
    return page.events.length >= count ? page : undefined
  })
}

test('the feed has the events that webhooks receive, and a cursor after each', async () => {
  const app = await newApp()
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  await app.manage('POST', '/organization/webhooks', { name: 'CRM', url: receiver.url(), all_events: true })
  await happen(app.db, app.organizationId, 'emailClick')
  await happen(app.db, app.organizationId, 'emailOpen')
  const { events } = await readAll(app, 2)
  await until('the deliveries', () => receiver.posts.length === 2)

  expect(events.map(({ event_name }) => event_name)).toEqual(['emailClick', 'emailOpen'])
  const bodies = receiver.posts.map(({ body }) => JSON.parse(String(body)))
  for (const { id, cursor, ...event } of events) {
    expect(bodies).toContainEqual(event)
    expect(id).toBe(event.data.event_id)
    expect(cursor).toMatch(/^[\w-]{48}$/)
  }
  expect(idsOf(await read(app, { after: events[0]!.cursor }))).toEqual([events[1]!.id])
})

test('pages with a cursor have each event once, also within one transaction', async () => {
  const app = await newApp()
  await happen(app.db, app.organizationId, 'emailOpen', 7)
  await happen(app.db, app.organizationId, 'emailClick', 4)
  const all = idsOf(await readAll(app, 11))

  const seen: string[] = []
  let page = await read(app, { limit: 3 })
  for (; page.events.length > 0; page = await read(app, { limit: 3, after: page.cursor })) seen.push(...idsOf(page))
  expect(seen).toEqual(all)
  expect(new Set(seen).size).toBe(11)
  await happen(app.db, app.organizationId, 'emailSent')
  expect((await readAll(app, 1, { after: page.cursor })).events[0]!.event_name).toBe('emailSent')
})

test('an event appears only when no earlier transaction can add another before it', async () => {
  await using app = await startTestApp({}, ['serve'])
  const start = (await read(app, { after: 'latest' })).cursor
  const { promise: committed, resolve: commit } = withResolvers()
  const { promise: written, resolve: hasWritten } = withResolvers()
  const slow = app.db.begin(async (tx) => {
    await tx`select pg_current_xact_id()`
    hasWritten()
    await committed
    await tx`
      insert into events (organization_id, id, event_name, occurred_at, contact_id)
      values (${parseId('org', app.organizationId)}, gen_random_uuid(), 'emailComplaint', now(), gen_random_uuid())`
  })
  await written
  await happen(app.db, app.organizationId, 'emailOpen')
  const during = await read(app, { after: start })
  expect(during.events).toEqual([])
  commit()
  await slow
  const after = await readAll(app, 2, { after: during.cursor })
  expect(after.events.map(({ event_name }) => event_name)).toEqual(['emailComplaint', 'emailOpen'])
})

test('a request waits until an event is recorded, by this process or another, without a database connection', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { cursor } = await read(app, { after: 'latest' })
  const waiting = read(app, { after: cursor, wait: 30 })
  await until('no connection to be in use', () => app.db.pool.totalCount === app.db.pool.idleCount)
  await happen(app.db, app.organizationId, 'emailOpen')
  const first = await waiting
  expect(first.events).toHaveLength(1)

  const other = openDb({ connection: app.db.pool.options as Exclude<Connection, { connectionString: string }> })
  other.isDistributed = app.db.isDistributed
  const again = read(app, { after: first.cursor, wait: 30 })
  await happen(other, app.organizationId, 'emailClick')
  expect((await again).events).toHaveLength(1)
  await other.close()
})

test('a request that waits ends empty after its time, and more than 20 of an organization are answered at once', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { cursor } = await read(app, { after: 'latest' })
  expect((await read(app, { after: cursor, wait: 1 })).events).toEqual([])

  let answered = 0
  const waits = Array.from({ length: 23 }, () => read(app, { after: cursor, wait: 30 }).then(() => answered++))
  await until('the surplus requests to be answered', () => answered === 3)
  const other = await registerOther(app)
  const key = await createKey(other)
  const theirs = app.call('GET', '/public/api/v1/events?wait=30', { headers: { 'x-api-token': key } })
  await happen(app.db, app.organizationId, 'emailOpen')
  await Promise.all(waits)
  // Ends the wait of the other organization.
  await app.app.stop()
  expect((await theirs).body.data.events).toEqual([])
})

test('a stream has one event per line, ends at its limit, and continues with the cursor of a line', async () => {
  const app = await newApp()
  await happen(app.db, app.organizationId, 'emailOpen', 1_200)
  const all = [...idsOf(await readAll(app, 1_000, { limit: 1_000 }))]
  const stream = async (query: string) => {
    const response = await fetch(`${app.url}/public/api/v1/events?${query}`, {
      headers: { 'x-api-token': app.apiKey, accept: 'application/x-ndjson' },
    })
    expect(response.headers.get('content-type')).toContain('application/x-ndjson')
    return (await response.text())
      .split('\n')
      .filter(Boolean)
      .map((line): FeedEvent => JSON.parse(line))
  }
  const everything = await stream('')
  expect(everything).toHaveLength(1_200)
  expect(everything.slice(0, 1_000).map(({ id }) => id)).toEqual(all)
  const part = await stream('limit=700')
  expect(part).toEqual(everything.slice(0, 700))
  expect(await stream(`after=${part.at(-1)!.cursor}`)).toEqual(everything.slice(700))
})

test('a stream waits for further events until its time has passed', async () => {
  await using app = await startTestApp({}, ['serve'])
  const response = await fetch(`${app.url}/public/api/v1/events?after=latest&wait=30&limit=2`, {
    headers: { 'x-api-token': app.apiKey, accept: 'application/x-ndjson' },
  })
  await happen(app.db, app.organizationId, 'emailOpen')
  const lines: string[] = []
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    lines.push(...chunk.split('\n').filter(Boolean))
    if (lines.length === 1) await happen(app.db, app.organizationId, 'emailClick')
  }
  expect(lines.map((line) => JSON.parse(line).event_name)).toEqual(['emailOpen', 'emailClick'])
})

/** Opens a stream and does not read it. */
async function openStream(url: string, key: string, query = ''): Promise<IncomingMessage> {
  const headers = { 'x-api-token': key, accept: 'application/x-ndjson' }
  const path = `/public/api/v1/events?wait=30${query}`
  const [response] = await once(get(url + path, { headers, agent: false }), 'response')
  return response
}

test('an organization has at most five streams, of which none holds a connection while the client does not read', async () => {
  await using app = await startTestApp({}, ['serve'])
  await happen(app.db, app.organizationId, 'emailOpen', 500)
  const open = () => openStream(app.url, app.apiKey)
  const streams = await Promise.all(Array.from({ length: 5 }, open))
  expect(streams.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200])
  await until('no connection to be in use', () => app.db.pool.totalCount === app.db.pool.idleCount)
  const rejected = await open()
  expect(rejected.statusCode).toBe(429)
  const other = await registerOther(app)
  const key = await createKey(other)
  const theirs = await openStream(app.url, key)
  expect(theirs.statusCode).toBe(200)

  streams[0]!.destroy()
  const next = await until('the place to be free', async () => {
    const stream = await open()
    if (stream.statusCode === 200) return stream
    stream.destroy()
    return undefined
  })
  for (const stream of [...streams, rejected, theirs, next]) stream.destroy()
})

test('streams of other organizations end one of the organization that has the most, which continues with its cursor', async () => {
  const tuning = { eventStreams: { perOrganization: 3, overall: 4 } }
  await using app = await startTestApp({}, ['serve'], { tuning })
  const [first] = await happen(app.db, app.organizationId, 'emailOpen')
    .then(() => readAll(app, 1))
    .then(idsOf)
  const keyOf = async (email: string) => {
    const { manage } = await registerOther(app, email)
    return await createKey({ manage })
  }
  const [other, third] = [await keyOf('a@other.example'), await keyOf('a@third.example')]
  const oldest = await openStream(app.url, app.apiKey)
  const lines = text(oldest)
  const streams = [oldest]
  for (const key of [app.apiKey, app.apiKey, other]) streams.push(await openStream(app.url, key))
  streams.push(await openStream(app.url, third))
  expect(streams.map(({ statusCode }) => statusCode)).toEqual(streams.map(() => 200))
  const events = (await lines)
    .split('\n')
    .filter(Boolean)
    .map((line): FeedEvent => JSON.parse(line))
  expect(events.map(({ id }) => id)).toEqual([first])
  expect(streams.slice(1).map(({ destroyed }) => destroyed)).toEqual([false, false, false, false])
  // The organization would have three of four again.
  const again = await openStream(app.url, app.apiKey, `&after=${events[0]!.cursor}`)
  expect([again.statusCode, again.headers['retry-after']]).toEqual([503, '1'])
  streams[1]!.destroy()
  const next = await until('a place', async () => {
    const stream = await openStream(app.url, app.apiKey, `&after=${events[0]!.cursor}`)
    if (stream.statusCode === 200) return stream
    stream.destroy()
    return undefined
  })
  for (const stream of [...streams, again, next]) stream.destroy()
})

test('a client that disconnects while the first page is read leaves no stream behind', async () => {
  await using app = await startTestApp({}, ['serve'])
  await happen(app.db, app.organizationId, 'emailOpen')
  const used = () => app.app.stages.list().find(({ name }) => name === 'event streams')!.used
  const { server } = app.app.server
  const connections = promisify(server.getConnections.bind(server))
  await app.db.begin(async (tx) => {
    await tx`lock table events in access exclusive mode`
    const headers = { 'x-api-token': app.apiKey, accept: 'application/x-ndjson' }
    const request = get(`${app.url}/public/api/v1/events`, { headers, agent: false }).on('error', () => {})
    await until('the stream to be opened', () => used() === 1)
    request.destroy()
    await until('the connection to be closed', async () => (await connections()) === 0)
  })
  await until('the place to be free', () => used() === 0)
})

test('the feed has only events of the organization of the key, and the key needs the scope', async () => {
  const app = await newApp()
  const other = await newApp()
  await happen(app.db, app.organizationId, 'emailOpen')
  const { cursor } = await readAll(app, 1)
  expect((await read(other)).events).toEqual([])
  expect((await read(other, { after: cursor })).events).toEqual([])

  const keyWith = (scope: string) => createKey(app, [scope])
  const status = async (key: string) =>
    (await app.call('GET', '/public/api/v1/events', { headers: { 'x-api-token': key } })).status
  expect(await status(await keyWith('metrics:read'))).toBe(200)
  expect(await status(await keyWith('analytics:read'))).toBe(200)
  expect(await status(await keyWith('contacts:write'))).toBe(403)
})

test.each([
  ['after=abc', 'after: must be the cursor of an earlier response, or latest'],
  [`after=${Buffer.alloc(36, 1).toString('base64url')}`, 'after: must be the cursor'],
  ['limit=0', 'limit'],
  ['limit=1001', 'limit: must be at most 1000'],
  ['wait=31', 'wait'],
  ['before=x', 'before: is unknown'],
])('rejects %s', async (query, message) => {
  const app = await newApp()
  const { status, body } = await app.publicApi('GET', `/events?${query}`)
  expect([status, body.message]).toEqual([422, expect.stringContaining(message)])
})

test('a cursor is rejected if events after it were removed by the retention period', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { cursor: early } = await read(app, { after: 'latest' })
  await happen(app.db, app.organizationId, 'emailOpen')
  const { cursor: late } = await readAll(app, 1)
  await dropOldEvents(app.db, 1, new Date(Date.now() + 70 * dayMs))

  const expired = await app.publicApi('GET', `/events?after=${early}`)
  expect([expired.status, expired.body.error.type]).toEqual([410, 'cursor_expired'])
  expect((await read(app, { after: late })).events).toEqual([])
  expect((await read(app)).events).toEqual([])
})

test('cursors stay valid after the tables were restored into another server', async () => {
  await using app = await startTestApp({}, ['serve'])
  const log = pino({ level: 'silent' })
  await happen(app.db, app.organizationId, 'emailOpen')
  const { cursor } = await readAll(app, 1)
  await app.db.statement`update event_feed set server = 'another server'`
  await checkFeedEpoch(app.db, log)
  await happen(app.db, app.organizationId, 'emailClick')
  const { events } = await readAll(app, 1, { after: cursor })
  expect(events.map(({ event_name }) => event_name)).toEqual(['emailClick'])
  const positions = await app.db<{ epoch: number }>`
    select (feed_position >> 48)::int as epoch from events order by feed_position`
  expect(positions.map(({ epoch }) => epoch)).toEqual([0, 1])
  // The schema of a restored backup has the first epoch.
  await app.db.statement.script(
    'alter table events alter column feed_position set default 0 + pg_current_xact_id()::text::int8',
  )
  await checkFeedEpoch(app.db, log)
  await happen(app.db, app.organizationId, 'emailSent')
  expect((await readAll(app, 3)).events.map(({ event_name }) => event_name)).toEqual([
    'emailOpen',
    'emailClick',
    'emailSent',
  ])
})

test('the first process of a database starts while events are being recorded', async () => {
  await using app = await startTestApp({}, ['serve'])
  await app.db.statement`update event_feed set server = null`
  await app.db.begin(async (tx) => {
    await tx`lock table events in row exclusive mode`
    await checkFeedEpoch(app.db, pino({ level: 'silent' }))
  })
  expect(await app.db`select epoch, server is not null as is_known from event_feed`).toEqual([
    { epoch: 0, isKnown: true },
  ])
})

test('events that were recorded before the feed existed come first', async () => {
  const app = await newApp()
  await happen(app.db, app.organizationId, 'emailOpen', 3)
  await readAll(app, 3)
  await app.db.statement`
    update events set feed_position = 0 where organization_id = ${parseId('org', app.organizationId)}`
  await happen(app.db, app.organizationId, 'emailClick', 2)
  const { events } = await readAll(app, 5)
  expect(events.map(({ event_name }) => event_name)).toEqual([
    ...Array(3).fill('emailOpen'),
    ...Array(2).fill('emailClick'),
  ])
  const early = await read(app, { limit: 2 })
  expect(idsOf(early)).toEqual(events.slice(0, 2).map(({ id }) => id))
  const rest = await read(app, { after: early.cursor })
  expect(idsOf(rest)).toEqual(events.slice(2).map(({ id }) => id))
})

test('a transaction that delays the feed is visible in the metrics', async () => {
  await using app = await startTestApp({}, ['serve'])
  const delay = async () => {
    const { text } = await app.call('GET', '/metrics')
    return Number(/^waxwing_event_feed_delay_seconds (.*)$/m.exec(text)?.[1])
  }
  await until('the feed to be current', async () => (await delay()) === 0)
  await app.db.begin(async (tx) => {
    await tx`select pg_current_xact_id()`
    await happen(app.db, app.organizationId, 'emailOpen')
    await delay()
    await until('the delay', async () => (await delay()) > 0)
  })
  await until('the feed to be current again', async () => (await delay()) === 0)
})
