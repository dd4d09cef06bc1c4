import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { happen } from '../../../test/support/events.ts'
import { registerOther } from '../../../test/support/people.ts'
import { credentials, region, type S3Server, startS3 } from '../../../test/support/s3-server.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { allValues } from '../../platform/db/rows.ts'
import { parseId, toText } from '../../platform/values/ids.ts'

const everyMs = 50
const tuning = { eventExportEveryMs: everyMs }
const newApp = await startSharedApp({}, ['serve', 'work'], { tuning })

const settings = (s3: S3Server) => ({
  name: 'Warehouse',
  endpoint: s3.url,
  region,
  bucket: 'events-bucket',
  prefix: '/waxwing/events/',
  access_key_id: credentials.accessKeyId,
  secret_access_key: credentials.secretAccessKey,
})

async function create(app: TestApp, s3: S3Server, more: object = {}) {
  const answer = await app.manage('POST', '/organization/event-exports', { ...settings(s3), ...more })
  expect(answer.status, answer.text).toBe(201)
  return answer.body.data as { id: string }
}

const get = async (app: TestApp, id: string) => (await app.manage('GET', `/organization/event-exports/${id}`)).body.data

const recordedIds = async (app: TestApp) =>
  (
    await allValues(app.db<{ id: string }>`
      select id from events where organization_id = ${parseId('org', app.organizationId)}`)
  )
    .map((id) => toText('evt', id as never))
    .sort()

test('past and new events are uploaded as compressed lines, each once, in files named by their range', async () => {
  const app = await newApp()
  await using s3 = await startS3()
  await happen(app.db, app.organizationId, 'emailOpen', 700)
  const { id } = await create(app, s3)
  await until('the past events', () => s3.events().length === 700)
  await happen(app.db, app.organizationId, 'emailClick', 3)
  await until('the new events', () => s3.events().length === 703)

  expect(
    s3
      .events()
      .map((event) => event.id)
      .sort(),
  ).toEqual(await recordedIds(app))
  const [first] = s3.events()
  expect(Object.keys(first!)).toEqual(['id', 'event_name', 'organization_id', 'timestamp', 'data'])
  const names = [...s3.objects.keys()].sort()
  const pattern = /^events-bucket\/waxwing\/events\/\d{4}\/\d\d\/\d\d\/\d{9}_(start|[\w-]{48})_[\w-]{48}\.ndjson\.gz$/
  for (const name of names) expect(name).toMatch(pattern)
  await until('the state', async () => (await get(app, id)).exported_events === 703)
  const state = await get(app, id)
  expect(state).toMatchObject({ status: 'active', failing_since: null, last_error: null, prefix: 'waxwing/events/' })
  expect(names.map((name) => name.replace('events-bucket/', ''))).toContain(state.last_file)
  expect(JSON.stringify(state)).not.toContain(credentials.secretAccessKey)
})

test('an export that begins now has only new events', async () => {
  const app = await newApp()
  await using s3 = await startS3()
  await happen(app.db, app.organizationId, 'emailOpen', 2)
  await until('the feed', async () => (await app.publicApi('GET', '/events')).body.data.events.length === 2)
  await create(app, s3, { start: 'now' })
  await happen(app.db, app.organizationId, 'emailClick')
  await until('the new event', () => s3.events().length > 0)
  expect(s3.events().map(({ event_name }) => event_name)).toEqual(['emailClick'])
})

test('an upload whose result is lost is repeated as the same file, and nothing is missing or twice', async () => {
  const app = await newApp()
  await using s3 = await startS3()
  let lost = 0
  const stored = s3.objects
  // The file is stored, but the response does not arrive.
  const set = stored.set.bind(stored)
  stored.set = (key, body) => {
    set(key, body)
    lost++
    return stored
  }
  await happen(app.db, app.organizationId, 'emailOpen', 3)
  const { id } = await create(app, s3)
  await until('the file', () => s3.events().length === 3)
  // As if the process was killed before it recorded the upload.
  await until('the state', async () => (await get(app, id)).exported_events === 3)
  const [file] = s3.puts
  const organizationId = parseId('org', app.organizationId)
  const [, range] = /_([\w-]+_[\w-]{48})\.ndjson\.gz$/.exec(file!)!
  await app.db.statement`
    update event_exports set cursor = null, pending_until = ${range!.slice(-48)}, pending_file = ${file!.replace('events-bucket/', '')}
    where organization_id = ${organizationId}`
  await happen(app.db, app.organizationId, 'emailClick', 2)
  await app.manage('PATCH', `/organization/event-exports/${id}`, { name: 'Again' })
  await until('all events', () => s3.events().length === 5)
  // A change of the export during the upload repeats it once more, as the same file.
  expect(s3.puts.filter((key) => key === file).length).toBeGreaterThanOrEqual(2)
  expect(
    s3
      .events()
      .map((event) => event.id)
      .sort(),
  ).toEqual(await recordedIds(app))
  expect(lost).toBe(s3.puts.length)
})

test('while the storage is down, the reason is shown; then the export catches up without a gap', async () => {
  const app = await newApp()
  await using s3 = await startS3()
  s3.intercept = (response) => {
    response.writeHead(503).end('<Error><Code>SlowDown</Code><Message>Please wait.</Message></Error>')
    return true
  }
  await happen(app.db, app.organizationId, 'emailOpen', 2)
  const { id } = await create(app, s3)
  const failing = await until('the failure', async () => {
    const state = await get(app, id)
    return state.failing_since ? state : undefined
  })
  expect(failing).toMatchObject({
    status: 'active',
    last_error: 'Responded 503: SlowDown: Please wait.',
    last_file: null,
  })
  await happen(app.db, app.organizationId, 'emailClick', 2)
  s3.intercept = () => false
  // The next attempt would be a minute later.
  await app.manage('PATCH', `/organization/event-exports/${id}`, { status: 'active' })
  await until('all events', () => s3.events().length === 4)
  await until('the state', async () => (await get(app, id)).failing_since === null)
  expect(
    s3
      .events()
      .map((event) => event.id)
      .sort(),
  ).toEqual(await recordedIds(app))
})

test('an export that has failed for three days is paused with a notice, and continues where it stopped', async () => {
  const app = await newApp()
  await using s3 = await startS3()
  await happen(app.db, app.organizationId, 'emailOpen')
  const { id } = await create(app, s3, { secret_access_key: 'wrong' })
  await until('the failure', async () => (await get(app, id)).failing_since)
  const organizationId = parseId('org', app.organizationId)
  await app.db.statement`
    update event_exports set failing_since = now() - interval '3 days' where organization_id = ${organizationId}`
  await app.db.statement`
    update jobs set due_at = now() where organization_id = ${organizationId} and kind = 'events.export'`
  await app.db.statement`
    update lanes set next_due_at = now() where organization_id = ${organizationId} and kind = 'events.export'`
  await until('the pause', async () => (await get(app, id)).status === 'paused')
  const { body } = await app.manage('GET', '/organization/notices')
  expect(body.data[0]).toMatchObject({ kind: 'export_paused', title: 'The event export “Warehouse” was paused' })
  expect(body.data[0].detail).toContain('SignatureDoesNotMatch')

  const { secret_access_key } = settings(s3)
  await app.manage('PATCH', `/organization/event-exports/${id}`, { secret_access_key, status: 'active' })
  await until('the event', () => s3.events().length === 1)
})

test('storage that does not respond delays neither another organization nor the service', async () => {
  await using app = await startTestApp({}, ['serve', 'work'], { tuning })
  await using hanging = await startS3()
  hanging.intercept = () => true
  await using s3 = await startS3()
  for (let n = 0; n < 3; n++) await create(app, hanging, { name: `Hanging ${n}` })
  await happen(app.db, app.organizationId, 'emailOpen')
  await create(app, s3)
  const listed = (await app.manage('GET', '/organization/event-exports')).body.data
  expect(listed).toHaveLength(4)
  const { manage } = await registerOther(app)
  const other = await manage('POST', '/organization/event-exports', settings(s3))
  const theirs = (await manage('GET', '/me')).body.data.organization.id
  await happen(app.db, theirs, 'emailClick')
  await until('the event of the other organization', () =>
    s3.events().some(({ event_name }) => event_name === 'emailClick'),
  )
  expect(other.status).toBe(201)
  await until('no connection to be in use', () => app.db.pool.totalCount === app.db.pool.idleCount)
})

test('eight organizations whose storage hangs leave places for the uploads of others', async () => {
  const eventExportSlowMs = 200
  await using app = await startTestApp({}, ['serve', 'work'], { tuning: { ...tuning, eventExportSlowMs } })
  await using hanging = await startS3()
  await using s3 = await startS3()
  const held: ServerResponse[] = []
  let heldAt = 0
  hanging.intercept = (response) => {
    heldAt = performance.now()
    return held.push(response) > 0
  }
  const path = '/organization/event-exports'
  const organizations: { manage: TestApp['manage']; id: string }[] = []
  for (let n = 0; n < 8; n++) {
    const { manage, organizationId } = await registerOther(app, `owner@hanging-${n}.example`)
    await happen(app.db, organizationId, 'emailOpen')
    organizations.push({ manage, id: (await manage('POST', path, settings(hanging))).body.data.id })
  }
  await until('all uploads to be slow', () => held.length === 8 && performance.now() - heldAt > eventExportSlowMs)
  for (const response of held.splice(0)) response.writeHead(503).end()
  await until('all uploads to have failed', async () => {
    const states = await Promise.all(organizations.map(({ manage, id }) => manage('GET', `${path}/${id}`)))
    return states.every(({ body }) => body.data.failing_since !== null)
  })
  // They are tried again at once.
  await Promise.all(organizations.map(({ manage, id }) => manage('PATCH', `${path}/${id}`, { status: 'active' })))
  await until('some uploads to hang', () => held.length >= 4)
  await happen(app.db, app.organizationId, 'emailClick')
  await create(app, s3)
  await until('the event of the ninth', () => s3.events().length === 1)
})

test('events that were removed before they were exported are reported', async () => {
  const app = await newApp()
  await using s3 = await startS3()
  const { id } = await create(app, s3)
  await app.manage('PATCH', `/organization/event-exports/${id}`, { status: 'paused' })
  const { cursor } = (await app.publicApi('GET', '/events?after=latest')).body.data
  const organizationId = parseId('org', app.organizationId)
  await app.db.statement`update event_exports set cursor = ${cursor} where organization_id = ${organizationId}`
  await app.db
    .statement`update event_feed set dropped_through = 1000000 + pg_snapshot_xmax(pg_current_snapshot())::text::int8`
  await app.manage('PATCH', `/organization/event-exports/${id}`, { status: 'active' })
  await until('the note', async () => (await get(app, id)).last_error?.includes('removed by the retention period'))
  await app.db.statement`update event_feed set dropped_through = 0`
  await happen(app.db, app.organizationId, 'emailOpen')
  await until('the next event', () => s3.events().length === 1)
})

test('a test uploads a small file, or says why it could not', async () => {
  const app = await newApp()
  await using s3 = await startS3()
  const { id } = await create(app, s3)
  const run = async () => (await app.manage('POST', `/organization/event-exports/${id}/test`)).body.data
  expect(await run()).toEqual({ succeeded: true, error: null })
  expect([...s3.objects.keys()]).toContain('events-bucket/waxwing/events/waxwing-test.txt')
  await app.manage('PATCH', `/organization/event-exports/${id}`, { access_key_id: 'AKIAOTHER' })
  expect(await run()).toEqual({
    succeeded: false,
    error: 'Responded 403: SignatureDoesNotMatch: The signature is wrong.',
  })
})

test('an export can be paused, changed and deleted, and an organization has at most five', async () => {
  const app = await newApp()
  await using s3 = await startS3()
  const path = '/organization/event-exports'
  const { id } = await create(app, s3)
  const paused = await app.manage('PATCH', `${path}/${id}`, { status: 'paused', name: 'Archive', prefix: '' })
  expect(paused.body.data).toMatchObject({ status: 'paused', name: 'Archive', prefix: '', bucket: 'events-bucket' })
  await happen(app.db, app.organizationId, 'emailOpen')
  for (let n = 0; n < 4; n++) await create(app, s3)
  expect((await app.manage('POST', path, settings(s3))).status).toBe(409)
  expect((await app.manage('DELETE', `${path}/${id}`)).status).toBe(200)
  expect((await app.manage('GET', `${path}/${id}`)).status).toBe(404)
  expect((await app.manage('GET', path)).body.data).toHaveLength(4)
})

test.each([
  [{ endpoint: 'ftp://storage.example' }, 'endpoint: must start with'],
  [{ endpoint: 'https://storage.example/bucket' }, 'endpoint: must be an address without a path'],
  [{ bucket: 'No Bucket' }, 'bucket'],
  [{ prefix: 'a b' }, 'prefix'],
  [{ region: '' }, 'region'],
  [{ name: '' }, 'name'],
  [{ secret_access_key: '' }, 'secret_access_key'],
])('rejects %j', async (input, message) => {
  const app = await newApp()
  await using s3 = await startS3()
  const { status, body } = await app.manage('POST', '/organization/event-exports', { ...settings(s3), ...input })
  expect([status, body.message]).toEqual([422, expect.stringContaining(message)])
})

test('an address in a private network is rejected, when it is entered and when its name resolves to it', async () => {
  await using app = await startTestApp({ EGRESS_ALLOW_PRIVATE: 'false' }, ['serve', 'work'], { tuning })
  await using s3 = await startS3()
  const rejected = await app.manage('POST', '/organization/event-exports', settings(s3))
  expect([rejected.status, rejected.body.message]).toEqual([
    422,
    expect.stringContaining('must be reachable from the internet'),
  ])
  const { body } = await app.manage('POST', '/organization/event-exports', {
    ...settings(s3),
    endpoint: 'https://nowhere.invalid',
  })
  await app.db.statement`update event_exports set endpoint = 'https://127.0.0.1:9'`
  const tested = await app.manage('POST', `/organization/event-exports/${body.data.id}/test`)
  expect(tested.body.data).toEqual({ succeeded: false, error: '127.0.0.1 is not a public address' })
})
