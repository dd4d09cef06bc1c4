import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { startRawSmtp } from '../../../test/support/raw-smtp.ts'
import { freePort } from '../../../test/support/service.ts'
import { callUrl, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { pauseSending } from '../../operations/sending-status/sending-pause.ts'
import { version } from '../config/package-root.ts'
import { openDb } from '../db/db.ts'

/** Returns the value of a series, written as in the exposition format, or undefined if there is none. */
async function findValue(app: TestApp, series: string): Promise<number | undefined> {
  const { text } = await app.call('GET', '/metrics')
  const line = text.split('\n').find((each) => each.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length))
}

test('requests are measured by route template and class of the status', async () => {
  await using app = await startTestApp({}, ['serve'])
  const countOf = (route: string, status: string, method = 'GET') =>
    findValue(app, `waxwing_http_request_seconds_count{method="${method}",route="${route}",status="${status}"}`)
  for (const id of ['con_one', 'con_two']) await app.manage('GET', `/organization/contacts/${id}`)
  await app.manage('GET', '/organization/contacts?limit=1')
  await app.call('GET', '/t/o/not-a-token')
  await app.call('PUT', '/nowhere/one')
  await app.call('PATCH', '/nowhere/two')

  expect(await countOf('/api/v1/organization/contacts/:id', '4xx')).toBe(2)
  expect(await countOf('/api/v1/organization/contacts', '2xx')).toBe(1)
  expect(await countOf('/t/o/:token', '4xx')).toBe(1)
  expect(await countOf('none', '4xx', '')).toBe(2)
  const { text } = await app.call('GET', '/metrics')
  expect(text).not.toMatch(/not-a-token|nowhere|con_one/)
  const ofRoute = /^waxwing_http_request_seconds_bucket\{le="([^"]+)",.*\/contacts",status="2xx"\} (\d+)$/gm
  const buckets = [...text.matchAll(ofRoute)]
  expect(buckets.map(([, le]) => le)).toEqual('0.01 0.05 0.25 1 5 +Inf'.split(' '))
  expect(buckets.at(-1)![2]).toBe('1')
})

test('the metrics count outcomes of the relay, recorded events and database connections', async () => {
  await using relay = await startRawSmtp({
    answer: ({ verb, line }) => {
      if (verb !== 'RCPT') return undefined
      if (line.includes('full@')) return '452 4.2.2 Mailbox full'
      return line.includes('gone@') ? '550 5.1.1 User unknown' : undefined
    },
  })
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const flowId = await createFlow(app)
  const sentOf = (outcome: string) => findValue(app, `waxwing_emails_total{outcome="${outcome}"}`)
  expect(await sentOf('interrupted')).toBe(0)
  for (const name of ['ada', 'full', 'gone']) await send(app, flowId, { contact_email: `${name}@example.com` })
  await until('the three emails to be tried', async () => {
    const outcomes = await Promise.all(['sent', 'deferred', 'rejected'].map(sentOf))
    return outcomes.every((count) => count === 1)
  })

  const [, pixelPath] = /(\/t\/o\/[\w.-]+)/.exec(relay.mails[0]!.raw.toString().replaceAll('=\r\n', ''))!
  await app.call('GET', pixelPath!)
  // Later than the response if the commit takes so long that the hit goes through the spool.
  const opens = () => findValue(app, 'waxwing_events_total{event="emailOpen"}')
  expect(await until('the open', async () => (await opens()) || undefined)).toBe(1)
  expect(await findValue(app, 'waxwing_events_total{event="emailClick"}')).toBe(0)

  expect(await findValue(app, 'waxwing_database_connections_max')).toBeGreaterThan(0)
  expect(await findValue(app, 'waxwing_database_connections_in_use')).toBeGreaterThanOrEqual(0)
  expect(await findValue(app, 'waxwing_database_connections_waiting')).toBe(0)
  expect(await findValue(app, 'waxwing_disk_free_bytes')).toBeGreaterThan(0)
})

const readMetricsAt = (url: string, headers: Record<string, string> = {}) =>
  callUrl('GET', `${url}/metrics`, { headers })

test('with a public BASE_URL, metrics are served only on METRICS_PORT, where nothing else is', async () => {
  const METRICS_PORT = String(await freePort())
  await using app = await startTestApp({ BASE_URL: 'https://mail.example.com', METRICS_PORT }, ['serve'])
  const answer = await readMetricsAt(app.url)
  expect(answer.status).toBe(404)
  expect(answer.body.message).toBe('Metrics are not served on this port. Set METRICS_PORT or METRICS_TOKEN.')
  const metricsUrl = `http://127.0.0.1:${METRICS_PORT}`
  expect((await readMetricsAt(metricsUrl)).text).toContain(`waxwing_build_info{version="${version}"} 1`)
  for (const path of ['/', '/health', '/api/v1/me', '/docs/'])
    expect((await callUrl('GET', `${metricsUrl}${path}`)).status).toBe(404)
})

test('with METRICS_TOKEN, metrics need it on every port', async () => {
  const [METRICS_PORT, METRICS_TOKEN] = [String(await freePort()), 'm'.repeat(32)]
  await using app = await startTestApp({ METRICS_PORT, METRICS_TOKEN }, ['serve'])
  for (const url of [app.url, `http://127.0.0.1:${METRICS_PORT}`]) {
    for (const authorization of ['', 'Bearer', `Bearer ${'x'.repeat(32)}`, METRICS_TOKEN]) {
      const answer = await readMetricsAt(url, { authorization })
      expect(answer.status).toBe(401)
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
    expect((await readMetricsAt(url, { authorization: `Bearer ${METRICS_TOKEN}` })).status).toBe(200)
  }
})

test('on localhost, metrics are served to direct connections only', async () => {
  await using app = await startTestApp({}, ['serve'])
  expect((await readMetricsAt(app.url)).status).toBe(200)
  for (const header of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'])
    expect((await readMetricsAt(app.url, { [header]: '127.0.0.1' })).status).toBe(404)
})

test('requests for metrics within a second share one text', async () => {
  await using app = await startTestApp({}, ['serve'])
  const answers = await Promise.all(Array.from({ length: 20 }, () => readMetricsAt(app.url)))
  // The CPU time of the process grows with each reading.
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
})

test('no gauge has the name of a counter', async () => {
  await using app = await startTestApp({}, ['serve'])
  expect((await readMetricsAt(app.url)).text).not.toMatch(/^# TYPE \S+_total gauge$/m)
})

test('the metrics name each check of /ready, also while the database does not respond', async () => {
  await using app = await startTestApp({}, ['serve', 'work'], {
    openFor: ({ connection }) => openDb({ connection }),
  })
  const readyChecks = async () => {
    const { text } = await readMetricsAt(app.url)
    expect(text).not.toMatch(/ NaN$/im)
    return [...text.matchAll(/^waxwing_ready\{check="(\w+)"\} (\d)$/gm)].map(([, check, value]) => `${check} ${value}`)
  }
  expect((await readyChecks()).sort()).toEqual(['database 1', 'disk 1', 'migrated 1', 'writable 1'])
  expect(await findValue(app, 'waxwing_sending_paused')).toBe(0)
  const [row] = await app.db<{ name: string }>`select current_database() as name`
  const allowConnections = (isAllowed: boolean) =>
    app.db.statement.script(`update pg_database set datallowconn = ${isAllowed} where datname = '${row!.name}'`)
  await using others = await app.db.openSession()
  await allowConnections(false)
  await others.client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${row!.name}' and pid <> pg_backend_pid()`,
  )
  await until('the database to be missed', async () => (await readyChecks()).sort().join() === 'database 0,disk 1')
  await others.client.query(`update pg_database set datallowconn = true where datname = '${row!.name}'`)
  await until('the database to be back', async () => (await readyChecks()).length === 4)
})

test('the metrics and /ready name a pause of sending', async () => {
  await using app = await startTestApp()
  await pauseSending(app.db.statement, 'operator')
  expect((await app.call('GET', '/ready')).body.message).toBe('ready. Sending is paused.')
  await until('the pause', async () => (await findValue(app, 'waxwing_sending_paused')) === 1)
})

test('/ready fails with the reason if too little disk space is free', async () => {
  const { bavail, bsize } = statfsSync(tmpdir())
  const freeMib = Math.floor((bavail * bsize) / 1024 ** 2)
  await using app = await startTestApp({}, ['serve'], { tuning: { diskFreeMibMin: freeMib + 100_000 } })
  const answer = await app.call('GET', '/ready')
  expect(answer.status).toBe(503)
  expect(answer.body.message).toMatch(/^The disk of DATA_DIR is full: \d+ MiB are free, at least \d+ are required/)
  expect((await app.call('GET', '/health')).status).toBe(200)
})

test('/ready names a read-only database', async () => {
  await using app = await startTestApp({}, ['serve'], { openFor: ({ connection }) => openDb({ connection }) })
  const [row] = await app.db<{ name: string }>`select current_database() as name`
  // Committed before the connections are closed, so that each new one reads the setting.
  await app.db.statement.script(`alter database "${row!.name}" set default_transaction_read_only = on`)
  await app.db.statement.script(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${row!.name}' and pid <> pg_backend_pid()`,
  )
  await until('the reason', async () => (await app.call('GET', '/ready')).body.message === 'The database is read-only.')
})

function collectLog(level = 'info') {
  const lines: Record<string, unknown>[] = []
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)))
      done()
    },
  })
  return {
    log: pino({ level, base: null }, stream),
    requests: () => lines.filter(({ msg }) => msg === 'request'),
  }
}

test('each request is logged with its route and organization, and without path, query and credentials', async () => {
  const { log, requests } = collectLog()
  await using app = await startTestApp({}, ['serve'], { log })
  await app.manage('GET', '/organization/contacts?query=secret%40example.com')
  await app.publicApi('GET', '/token/check')
  await app.call('GET', '/t/c/secret-token?secret=1')
  await app.call('GET', '/health')
  await app.call('GET', '/metrics')

  const logged = requests().map(({ method, route, status, organizationId }) => [method, route, status, organizationId])
  expect(logged).toContainEqual(['GET', '/api/v1/organization/contacts', 200, app.organizationId])
  expect(logged).toContainEqual(['GET', '/public/api/v1/token/check', 200, app.organizationId])
  expect(logged).toContainEqual(['GET', '/t/c/:token', 404, undefined])
  expect(logged.map(([, route]) => route)).not.toContain('/health')
  expect(Object.keys(requests().at(-1)!).sort()).toEqual([
    'level',
    'method',
    'ms',
    'msg',
    'requestId',
    'route',
    'status',
    'time',
  ])
  expect(JSON.stringify(requests())).not.toMatch(/secret|wxk_|Bearer/)
})

test('the log level warn logs no requests', async () => {
  const { log, requests } = collectLog('warn')
  await using app = await startTestApp({}, ['serve'], { log })
  await app.manage('GET', '/organization/contacts')
  expect(requests()).toEqual([])
})
