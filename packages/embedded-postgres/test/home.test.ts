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
/** A stopped database, for tests that do not need a new one. */
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
])('it runs in %s', async (_title, name) => {
  const dataDir = join(site.newDataDir(), name)
  const child = startChild(site.installation, dataDir, ordinaryUser)
  const started = await child.ready

  expect(await query(started, 'select 1 as one')).toEqual([{ one: 1 }])
  expect(Buffer.byteLength(join(started.connection.host, '.s.PGSQL.5432.lock'))).toBeLessThanOrEqual(107)
  expect(statSync(started.connection.host).mode & 0o777).toBe(0o700)
  await child.stop()
  if (!started.connection.host.startsWith(dataDir)) rmSync(started.connection.host, { recursive: true })
})

test('an ordinary user runs it whatever the environment says about languages, databases and libraries', async () => {
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

test('it runs when install scripts did not make the library links', async () => {
  const bare = installWithoutLinks()
  const child = startChild(bare, made)
  const started = await child.ready

  expect(await query(started, 'select 1 as one')).toEqual([{ one: 1 }])
  expect(readdirSync(join(nativeIn(bare), 'lib'))).toContain('libicuuc.so.60')
  await child.stop()
})

test('it runs from a copy when the links are missing and the installation cannot be written', async () => {
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

test('without the binaries for this platform it says to set DATABASE_URL', async () => {
  const bare = site.install()
  rmSync(join(bare, 'node_modules'), { recursive: true })

  await expect(startChild(bare, site.newDataDir()).ready).rejects.toThrow(
    /^There is no embedded PostgreSQL.*DATABASE_URL/,
  )
})

test('a database of another major version is refused, and both versions are named', async () => {
  const dataDir = site.newDataDir()
  mkdirSync(join(dataDir, 'postgres', 'cluster'), { recursive: true })
  writeFileSync(join(dataDir, 'postgres', 'cluster', 'PG_VERSION'), '15\n')

  expect(await refusalOf(startHere(dataDir))).toMatch(/made by PostgreSQL 15, and this Waxwing comes with 18/)
})

test('a cluster directory that holds no database is not overwritten', async () => {
  const dataDir = site.newDataDir()
  const directory = join(dataDir, 'postgres', 'cluster')
  mkdirSync(directory, { recursive: true })

  expect(await refusalOf(startHere(dataDir))).toContain(`${directory} is there but holds no database`)
})

test('a file in the place of DATA_DIR is named as the fault', async () => {
  const dataDir = site.newDataDir()
  writeFileSync(dataDir, '')

  expect(await refusalOf(startHere(dataDir))).toContain(`${dataDir} is not a directory`)
})

test('a DATA_DIR that may not be written is named as the fault', async () => {
  const dataDir = site.newDataDir()
  mkdirSync(dataDir)
  chmodSync(dataDir, 0o555)

  await expect(startChild(site.installation, dataDir, ordinaryUser).ready).rejects.toThrow(
    `${dataDir} may not be used by this user`,
  )
})

if (isRoot) {
  test('as root the server runs as the user who owns its directory', async () => {
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

  test('an ordinary user is told that the directory belongs to somebody else', async () => {
    await expect(startChild(site.installation, made, ordinaryUser).ready).rejects.toThrow(/belongs to another user/)
  })

  test('as root below a directory that only root can enter it keeps the database elsewhere and says so', async () => {
    const closed = join(site.directory, 'closed')
    mkdirSync(closed, { mode: 0o700 })
    const installation = site.install({ below: closed })
    const dataDir = join(closed, 'data')

    const first = startChild(installation, dataDir)
    const before = await first.ready
    await query(before, 'create table kept as select 42 as answer')
    await first.stop()
    // Were the place chosen anew, the database would seem to be gone.
    chmodSync(closed, 0o755)
    const second = startChild(installation, dataDir)
    const after = await second.ready

    expect(before.directory).toMatch(/^\/var\/lib\/waxwing\//)
    expect(before.note).toContain(homeOf(before))
    expect(after.directory).toBe(before.directory)
    expect(await query(after, 'table kept')).toEqual([{ answer: 42 }])
    await second.stop()
    rmSync(homeOf(before), { recursive: true })
    await expect(startChild(installation, dataDir).ready).rejects.toThrow(/points to a directory that is gone/)
  })
}
