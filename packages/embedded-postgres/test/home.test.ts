import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  homeOf,
  isRoot,
  makeSite,
  nativeIn,
  ordinaryUser,
  query,
  quiet,
  refusalOf,
  type Site,
  startChild,
} from '../../../test/support/embedded-child.ts'
import { startEmbedded } from '../src/embedded.ts'

let site: Site
/** A stopped database, shared by tests that do not need a new one. */
let made: string
beforeAll(async () => {
  site = makeSite()
  made = site.newDataDir()
  await (await startHere(made)).stop()
})
afterAll(() => site.remove())

const startHere = (dataDir: string) => startEmbedded({ dataDir, log: { info() {}, warn() {} } })

test.each([
  ['a path too long for a socket', 'x'.repeat(120)],
  ['a path with spaces, quotes, commas and letters of all kinds', `a b, "c" 'd' $e ünï`],
])('runs in %s', async (_title, name) => {
  const dataDir = join(site.newDataDir(), name)
  const child = startChild(site.installation, dataDir, ordinaryUser)
  const started = await child.ready

  expect(await query(started, 'select 1 as one')).toEqual([{ one: 1 }])
  expect(Buffer.byteLength(join(started.connection.host, '.s.PGSQL.5432.lock'))).toBeLessThanOrEqual(107)
  expect(statSync(started.connection.host).mode & 0o777).toBe(0o700)
  await child.stop()
  if (!started.connection.host.startsWith(dataDir)) rmSync(started.connection.host, { recursive: true })
})

test('runs as an ordinary user, whatever the locale, PostgreSQL and library variables', async () => {
  const libraries = join(site.directory, 'libraries')
  mkdirSync(libraries)
  writeFileSync(join(libraries, 'libicuuc.so.60'), 'not a library')
  const env = { LANG: 'xx_YY.UTF-8', LC_ALL: 'nonsense', PGDATA: '/nowhere', PGPORT: '1', LD_LIBRARY_PATH: libraries }
  const child = startChild(site.installation, site.newDataDir(), { ...ordinaryUser, env })
  const started = await child.ready

  expect(await query(started, `select 'ünï' as text, current_setting('lc_messages') as language`)).toEqual([
    { text: 'ünï', language: 'C' },
  ])
  await child.stop()
  await quiet(started)
})

test('runs without the library links of the install script', async () => {
  const bare = installWithoutLinks()
  const child = startChild(bare, made)
  const started = await child.ready

  expect(await query(started, 'select 1 as one')).toEqual([{ one: 1 }])
  expect(readdirSync(join(nativeIn(bare), 'lib'))).toContain('libicuuc.so.60')
  await child.stop()
})

test('runs from a copy if the links are missing and the installation is read-only', async () => {
  const bare = installWithoutLinks()
  const lib = join(nativeIn(bare), 'lib')
  chmodSync(lib, 0o555)
  const dataDir = site.newDataDir()

  for (const _start of ['first', 'second']) {
    const child = startChild(bare, dataDir, ordinaryUser)
    const started = await child.ready
    expect(await query(started, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(readdirSync(homeOf(started))).toContainEqual(expect.stringMatching(/^binaries-/))
    await child.stop()
  }
  chmodSync(lib, 0o755)
})

function installWithoutLinks(): string {
  const installation = site.install()
  const native = nativeIn(installation)
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as { target: string }[]
  for (const { target } of links) rmSync(join(dirname(native), target))
  return installation
}

test('advises to set DATABASE_URL if there are no binaries for this platform', async () => {
  const bare = site.install()
  rmSync(join(bare, 'node_modules'), { recursive: true })

  await expect(startChild(bare, site.newDataDir()).ready).rejects.toThrow(
    /^There is no embedded PostgreSQL.*DATABASE_URL/,
  )
})

test('rejects a database of another major version', async () => {
  const dataDir = site.newDataDir()
  mkdirSync(join(dataDir, 'postgres', 'cluster'), { recursive: true })
  writeFileSync(join(dataDir, 'postgres', 'cluster', 'PG_VERSION'), '15\n')

  expect(await refusalOf(startHere(dataDir))).toMatch(
    /created by PostgreSQL 15, but this version of Waxwing includes 18/,
  )
})

test('does not overwrite a cluster directory without a database', async () => {
  const dataDir = site.newDataDir()
  const directory = join(dataDir, 'postgres', 'cluster')
  mkdirSync(directory, { recursive: true })

  expect(await refusalOf(startHere(dataDir))).toContain(`${directory} exists but does not contain a database`)
})

test('reports a DATA_DIR that is a file', async () => {
  const dataDir = site.newDataDir()
  writeFileSync(dataDir, '')

  expect(await refusalOf(startHere(dataDir))).toContain(`${dataDir} is not a directory`)
})

test('reports a DATA_DIR that is not writable', async () => {
  const dataDir = site.newDataDir()
  mkdirSync(dataDir)
  chmodSync(dataDir, 0o555)

  await expect(startChild(site.installation, dataDir, ordinaryUser).ready).rejects.toThrow(
    `This user has no access to ${dataDir}`,
  )
})

if (isRoot) {
  test('as root, runs the server as the owner of its directory', async () => {
    const dataDir = site.newDataDir()
    const child = startChild(site.installation, dataDir, ordinaryUser)
    await child.ready
    await child.stop()

    const embedded = await startHere(dataDir)
    expect(statSync(join(embedded.directory, 'postmaster.pid')).uid).toBe(ordinaryUser.uid)
    await embedded.stop()

    const again = startChild(site.installation, dataDir, ordinaryUser)
    await again.ready
    await again.stop()
  })

  test('reports a directory that belongs to another user', async () => {
    await expect(startChild(site.installation, made, ordinaryUser).ready).rejects.toThrow(/belongs to another user/)
  })

  test('as root below a directory that only root can access, stores the database elsewhere and reports it', async () => {
    const closed = join(site.directory, 'closed')
    mkdirSync(closed, { mode: 0o700 })
    const installation = site.install({ below: closed })
    const dataDir = join(closed, 'data')

    const first = startChild(installation, dataDir)
    const before = await first.ready
    await query(before, 'create table kept as select 42 as answer')
    await first.stop()
    // If the directory were chosen again, the database would seem to be lost.
    chmodSync(closed, 0o755)
    const second = startChild(installation, dataDir)
    const after = await second.ready

    expect(before.directory).toMatch(/^\/var\/lib\/waxwing\//)
    expect(before.note).toContain(homeOf(before))
    expect(after.directory).toBe(before.directory)
    expect(await query(after, 'table kept')).toEqual([{ answer: 42 }])
    await second.stop()
    rmSync(homeOf(before), { recursive: true })
    await expect(startChild(installation, dataDir).ready).rejects.toThrow(/points to a directory that does not exist/)
  })
}
