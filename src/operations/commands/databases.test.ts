import { spawn } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Environment, newFolder, startCommand, watch } from '../../../test/support/command.ts'
import { createTestDb } from '../../../test/support/test-db.ts'

const APP_SECRET = 'a secret of at least 32 characters'
const createDatabases = ['start', 'serve', 'work', 'migrate', 'restore']
const useNone = ['config', 'openapi', 'classify-bounce', 'listen', 'trigger']
/** The arguments of commands that need some. */
const wordsOf: Record<string, string[]> = {
  demo: ['remove'],
  backup: ['backup.file'],
  export: ['--organization', 'org_01kc3pv8xqe2ntrs4dz6mfa9hw', 'acme.jsonl'],
  import: ['acme.jsonl'],
  'confirm-import': ['--organization', 'org_01kc3pv8xqe2ntrs4dz6mfa9hw'],
  'create-organization': ['--name', 'Acme', '--email', 'a@acme.example'],
  'reset-password': ['--email', 'a@acme.example'],
}

async function run(words: string[], cwd: string, settings: Environment = {}) {
  await using command = startCommand(words, settings, { cwd })
  command.child.stdin!.end()
  return await command.ended
}

/** The names in the printed help, so that a new command is tested, too. */
async function otherCommands(): Promise<string[]> {
  using folder = newFolder()
  const { stdout } = await run(['help'], folder.path)
  const names = [...stdout.matchAll(/^ {2}([a-z-]+) {2,}/gm)].map(([, name]) => name!)
  expect(names).toEqual(expect.arrayContaining([...createDatabases, ...useNone]))
  return names.filter((name) => !createDatabases.includes(name) && !useNone.includes(name))
}

/** Standard output of `doctor` has its findings. */
const said = ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr

test('a command without a database fails, names the place where it looked, and creates nothing', async () => {
  for (const name of await otherCommands()) {
    using folder = newFolder()
    const ended = await run([name, ...(wordsOf[name] ?? [])], folder.path)
    expect(ended.code, `${name}: ${said(ended)}`).toBe(1)
    expect(said(ended), name).toContain(`There is no database in ${folder.path}/data (DATA_DIR). Nothing was created.`)
    expect(said(ended), name).toContain('--env-file FILE')
    expect(readdirSync(folder.path), name).toEqual([])
  }
})

test('a command on a database without tables of Waxwing fails, names the database, and creates nothing', async () => {
  await using testDb = await createTestDb({ empty: true })
  const DATABASE_URL = testDb.url.replace('@', ':hunter2@')
  for (const name of ['pause-sending', 'create-organization', 'distribute', 'doctor']) {
    using folder = newFolder()
    const ended = await run([name, ...(wordsOf[name] ?? [])], folder.path, { DATABASE_URL, APP_SECRET })
    expect(ended.code, `${name}: ${said(ended)}`).toBe(1)
    expect(said(ended), name).toMatch(/There are no tables of Waxwing in this database: postgres:.*\/test_/)
    expect(said(ended), name).not.toContain('hunter2')
    expect(readdirSync(folder.path), name).toEqual([])
  }
  const tables = await testDb.db`select 1 from pg_tables where schemaname = 'public'`
  expect(tables).toEqual([])
})

test('a command that signs or encrypts fails without the secret of the service, and with another one', async () => {
  await using testDb = await createTestDb()
  await testDb.db.statement`insert into secret_mark (mark) values ('the mark of another secret')`
  for (const name of ['create-organization', 'backup', 'import']) {
    using folder = newFolder()
    const words = [name, ...wordsOf[name]!]
    const without = await run(words, folder.path, { DATABASE_URL: testDb.url })
    expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no secret in ') })
    const other = await run(words, folder.path, { DATABASE_URL: testDb.url, APP_SECRET })
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('used with another APP_SECRET') })
    expect(readdirSync(folder.path), name).toEqual([])
  }
  expect(await testDb.db`select 1 from organizations`).toEqual([])
})

test('settings come from the file of --env-file, but the environment takes precedence', async () => {
  await using testDb = await createTestDb()
  using folder = newFolder()
  const file = join(folder.path, 'waxwing.env')
  writeFileSync(file, `DATABASE_URL="${testDb.url}"\nAPP_SECRET=${APP_SECRET} # kept\nSMPT_URL=smtp://relay.example\n`)
  writeFileSync(join(folder.path, '.env'), 'PORT=4444\n')

  const paused = await run(['pause-sending', '--env-file', file], folder.path)
  expect(paused).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Sending is paused.*\nDatabase: postgres:/) })
  expect(await testDb.db`select 1 from sending_pause`).toHaveLength(1)

  const config = await run(['config', '--env-file', file], folder.path, { HOST: '0.0.0.0' })
  expect(config.stdout).toMatch(new RegExp(`^APP_SECRET +\\*+ +${file} `, 'm'))
  expect(config.stdout).toMatch(/^HOST +0\.0\.0\.0 +environment /m)
  // .env is not read in addition.
  expect(config.stdout).toMatch(/^PORT +3000 +default /m)
  const doctor = await run(['doctor', '--env-file', file], folder.path)
  expect(doctor.stdout).toContain(`Unknown setting SMPT_URL in ${file}. Did you mean SMTP_URL?`)
})

test('a file of --env-file that does not exist or cannot be read is an error', async () => {
  using folder = newFolder()
  // Node may report it first, because it also looks for this flag after the name of the program.
  for (const name of ['start', 'doctor', 'openapi'])
    expect(await run([name, '--env-file', 'none.env'], folder.path), name).toMatchObject({
      code: expect.toBeOneOf([1, 9]),
      stderr: expect.stringMatching(/none\.env:? (does not exist|not found)/),
    })
  const script = join(import.meta.dirname, '../../../dist/bin/cli.js')
  await using direct = watch(spawn(process.execPath, ['--', script, 'doctor', '--env-file', folder.path]))
  expect(await direct.ended).toMatchObject({
    code: 1,
    stderr: `--env-file: ${folder.path} cannot be read (EISDIR).\n`,
  })
  expect(readdirSync(folder.path)).toEqual([])
})
