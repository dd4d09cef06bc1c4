import { expect, test } from 'vitest'
import { sampleQuery } from './support/openapi-check.ts'
import { type Person, registerOther } from './support/people.ts'
import { startTestApp } from './support/test-app.ts'
import { longTestMsMax } from './support/time-limits.ts'
import { until } from './support/until.ts'

const dates = ['start_date', 'end_date']
/** Tables read by the guards. */
const readByGuards = ['users', 'organizations', 'api_keys', 'sessions']
/** Lists that read only these tables, or none, cannot be blocked in this test. */
const notHeldUp = ['/members', '/api-keys', '/webhooks/retry-schedules', '/mail-server-presets']
/** What an organization may ask for at the same time. */
const together = 2
const others = ['ada@one.example', 'grace@two.example', 'joan@three.example']

test('every list, search and report is cancelled after a few seconds if the database does not respond', {
  timeout: longTestMsMax.intervals,
}, async () => {
  await using app = await startTestApp({ SIGNUP: 'open' }, ['serve'])
  const prefix = '/api/v1/organization'
  const paths = app.openapi
    .operations()
    .filter(({ method, path }) => method === 'GET' && path.startsWith(`${prefix}/`) && !path.includes('{'))
    .map(({ path, query }) => ({ path: path.slice(prefix.length), query: sampleQuery(query, dates) }))
    .filter(({ path }) => !notHeldUp.includes(path))
  const tables = await app.db<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`
  const names = tables.map(({ name }) => name).filter((name) => !readByGuards.includes(name))
  const people = [app, ...(await Promise.all(others.map((email) => registerOther(app, email))))]
  const statuses: Record<string, number> = {}
  await app.db.begin(async (tx) => {
    // On a slow machine the calls take longer than a transaction may be idle.
    await tx.script('set local idle_in_transaction_session_timeout = 0')
    await tx.script(`lock table ${names.join(', ')} in access exclusive mode`)
    // Most of the time passes while a call waits, so several organizations ask at the same time.
    const left = [...paths]
    const askNext = async ({ manage }: Pick<Person, 'manage'>) => {
      for (let next = left.pop(); next; next = left.pop()) {
        const { status } = await manage('GET', `/organization${next.path}?${next.query}`)
        statuses[next.path] = status
      }
    }
    await Promise.all(people.flatMap((person) => Array.from({ length: together }, () => askNext(person))))
    const metric = `/analytics/metrics/get-email-event-metric?${sampleQuery(['event_name', ...dates], ['event_name', ...dates])}`
    statuses.metric = (await app.publicApi('GET', metric)).status
  })
  expect(statuses).toEqual(Object.fromEntries([...paths.map(({ path }) => path), 'metric'].map((path) => [path, 503])))
  await until(
    'the lists to be answered again',
    async () => (await app.manage('GET', '/organization/groups')).status === 200,
  )
})
