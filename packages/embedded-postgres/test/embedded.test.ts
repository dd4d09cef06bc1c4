import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import {
  homeOf,
  makeSite,
  processesIn,
  query,
  quiet,
  refusalOf,
  type Site,
  type Started,
  startChild,
} from '../../../test/support/embedded-child.ts'
import { waitMsMax } from '../../../test/support/time-limits.ts'
import { startEmbedded } from '../src/embedded.ts'

const silent = { info() {}, warn() {} }
const soon = { timeout: waitMsMax, interval: 20 }

let site: Site
/** A stopped database with one row, shared by tests that do not need a new one, because creating one is slow. */
let made: string
beforeAll(async () => {
  site = makeSite()
  made = site.newDataDir()
  const embedded = await startHere(made)
  await query(embedded, 'create table kept as select 42 as answer')
  await embedded.stop()
})
afterAll(() => site.remove())

const startHere = (dataDir: string) => startEmbedded({ dataDir, log: silent })
const serverPid = (started: Started) =>
  Number.parseInt(readFileSync(join(started.directory, 'postmaster.pid'), 'utf8'), 10)
/** The working directory of the server is the cluster, that of its watcher is the parent. */
const watcherPids = (started: Started) =>
  processesIn(homeOf(started)).filter((pid) => !processesIn(started.directory).includes(pid))

test('the first start creates a durable database, which later starts use', async () => {
  const dataDir = site.newDataDir()
  const first = await startHere(dataDir)
  await query(first, 'create table kept as select 42 as answer')
  await first.stop()

  const second = await startHere(dataDir)
  const rows = await query(second, 'select answer from kept')
  await second.stop()

  expect(rows).toEqual([{ answer: 42 }])
  expect(second.directory).toBe(join(dataDir, 'postgres', 'cluster'))
  expect(second.note).toBeNull()
})

test('uses fsync and checksums, opens no TCP port and denies other users access to its socket', async () => {
  const embedded = await startEmbedded({ dataDir: made, log: silent, settings: { work_mem: '9MB' } })
  const names = ['fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums', 'listen_addresses', 'work_mem']
  const rows = await query(
    embedded,
    `select name, current_setting(name) from pg_settings where name in (${names.map((name) => `'${name}'`)})`,
  )
  const modes = [homeOf(embedded), embedded.connection.host].map((path) => statSync(path).mode & 0o777)
  const rules = await query(
    embedded,
    "select type, auth_method from pg_hba_file_rules where 'replication' <> all (database)",
  )
  await embedded.stop()

  expect(Object.fromEntries(rows.map((row) => [row.name, row.current_setting]))).toEqual({
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    data_checksums: 'on',
    listen_addresses: '',
    work_mem: '9MB',
  })
  expect(modes).toEqual([0o700, 0o700])
  // Even if the server listened on a port, connections would be rejected.
  expect(rules.map((rule) => `${rule.type} ${rule.auth_method}`)).toEqual(['local trust', 'host reject', 'host reject'])
})

test('stop ends every process although clients are connected, and can be called twice', async () => {
  const embedded = await startHere(made)
  const client = new pg.Client(embedded.connection)
  client.on('error', () => {})
  await client.connect()

  await embedded.stop()
  await embedded.stop()

  await quiet(embedded)
  await client.end()
})

test('the database stops when its service is killed, and can be started again with its rows', async () => {
  const child = startChild(site.installation, made)
  const before = await child.ready

  await child.kill()
  const after = await startHere(made)

  expect(await query(after, 'select answer from kept')).toEqual([{ answer: 42 }])
  await after.stop()
  await quiet(before)
})

test('a killed service leaves no processes', async () => {
  const child = startChild(site.installation, made)
  const started = await child.ready
  expect(processesIn(started.directory)).not.toEqual([])

  await child.kill()

  await quiet(started)
})

test('a killed database is restarted by the running service', async () => {
  const embedded = await startHere(made)

  process.kill(serverPid(embedded), 'SIGKILL')

  await vi.waitFor(async () => expect(await query(embedded, 'table kept')).toEqual([{ answer: 42 }]), soon)
  await embedded.stop()
  await quiet(embedded)
})

test('a busy query that survives its killed server is ended, and the database is restarted', async () => {
  const embedded = await startHere(made)
  const client = new pg.Client(embedded.connection)
  client.on('error', () => {})
  await client.connect()
  // Computes without interruption, so it does not notice that its server is dead.
  const busy = client.query('select count(*) from generate_series(1, 1e5) a, generate_series(1, 1e7) b').catch(() => {})
  await vi.waitFor(
    async () => expect(await query(embedded, `select from pg_stat_activity where query like '%1e7%' `)).toHaveLength(2),
    soon,
  )
  const server = serverPid(embedded)

  process.kill(server, 'SIGKILL')

  await vi.waitFor(async () => expect(await query(embedded, 'select 1 as one')).toEqual([{ one: 1 }]), soon)
  expect(serverPid(embedded)).not.toBe(server)
  await busy
  await embedded.stop()
})

test('a server whose watcher died is replaced', async () => {
  const child = startChild(site.installation, made)
  const started = await child.ready
  const server = serverPid(started)

  for (const pid of watcherPids(started)) process.kill(pid, 'SIGKILL')
  await vi.waitFor(async () => {
    expect(serverPid(started)).not.toBe(server)
    await query(started, 'select 1')
  }, soon)
  await child.kill()

  await quiet(started)
})

test('the next start ends a server whose service and watcher were killed', async () => {
  const child = startChild(site.installation, made)
  const before = await child.ready
  const watchers = watcherPids(before)
  const server = serverPid(before)

  child.process.kill('SIGSTOP') // so that neither of the two has time to notice the death of the other
  for (const pid of watchers) process.kill(pid, 'SIGKILL')
  await child.kill()
  const after = await startHere(made)

  expect(await query(after, 'table kept')).toEqual([{ answer: 42 }])
  expect(serverPid(after)).not.toBe(server)
  await after.stop()
})

test('a second instance fails with the process id of the owner, which is not disturbed', async () => {
  const first = await startHere(made)
  const server = serverPid(first)

  const second = startHere(made)

  await expect(second).rejects.toMatchObject({
    running: { connection: first.connection, directory: first.directory },
  })
  expect(await refusalOf(second)).toContain(`Another Waxwing (process ${process.pid}) is running on ${made}`)
  expect(serverPid(first)).toBe(server)
  await first.stop()
})

test('of many concurrent starts on a new directory, exactly one succeeds', async () => {
  const dataDir = site.newDataDir()
  const starts = await Promise.allSettled(Array.from({ length: 8 }, () => startHere(dataDir)))

  const won = starts.filter((start) => start.status === 'fulfilled')
  const lost = starts.filter((start) => start.status === 'rejected')
  expect(won).toHaveLength(1)
  expect(lost.map((start) => start.reason.message)).toEqual(lost.map(() => expect.stringMatching(/^Another Waxwing/)))
  expect(await query(won[0]!.value, 'select 1 as one')).toEqual([{ one: 1 }])
  await won[0]!.value.stop()
})

test('starts despite lock files that are empty or contain the id of another process', async () => {
  const { directory, connection, stop } = await startHere(made)
  const lockFile = readFileSync(join(directory, 'postmaster.pid'), 'utf8')
  await stop()

  for (const text of [lockFile.replace(/^\d+/, String(process.pid)), '']) {
    writeFileSync(join(directory, 'postmaster.pid'), text)
    writeFileSync(join(connection.host, '.s.PGSQL.5432.lock'), text)
    writeFileSync(join(connection.host, '.s.PGSQL.5432'), '')
    writeFileSync(join(connection.host, 'owner-1-00000000'), '')
    const again = await startHere(made)
    expect(await query(again, 'select 1 as one')).toEqual([{ one: 1 }])
    await again.stop()
  }
})

test('a kill during creation does not break the next start', async () => {
  const dataDir = site.newDataDir()
  const home = join(dataDir, 'postgres')
  const unfinished = () => readdirSync(home).filter((name) => name.startsWith('new-'))
  const child = startChild(site.installation, dataDir)
  await vi.waitFor(() => expect(readdirSync(join(home, unfinished()[0]!))).toContain('global'), soon)

  await child.kill()
  const embedded = await startHere(dataDir)

  expect(await query(embedded, 'select 1 as one')).toEqual([{ one: 1 }])
  expect(unfinished()).toEqual([])
  await embedded.stop()
})

test('a failed start releases the directory', async () => {
  const bad = { dataDir: made, log: silent, settings: { shared_buffers: 'nonsense' } }

  expect(await refusalOf(startEmbedded(bad))).toContain('shared_buffers')

  const good = await startHere(made)
  await good.stop()
})
