import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startEmbedded } from '@waxwing/embedded-postgres'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { query } from '../../../test/support/embedded-child.ts'
import { freePort } from '../../../test/support/service.ts'
import { longTestMsMax } from '../../../test/support/time-limits.ts'
import { openDatabase } from '../../platform/db/connect.ts'

// These tests run the compiled service.
const cli = join(import.meta.dirname, '../../../dist/bin/cli.js')
const log = pino({ level: 'silent' })
/** Starts eight processes, each of which loads the complete service. */

function newDataDir() {
  const dataDir = realpathSync(mkdtempSync(join(tmpdir(), 'waxwing-commands-')))
  return { dataDir, [Symbol.dispose]: () => rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 }) }
}

const environment = (dataDir: string, port: number) => ({
  PATH: process.env.PATH,
  DATA_DIR: dataDir,
  PORT: String(port),
})

async function startService(dataDir: string, port: number): Promise<AsyncDisposable> {
  const child: ChildProcess = spawn(process.execPath, [cli, 'start'], {
    cwd: dataDir,
    env: environment(dataDir, port),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  let said = ''
  await new Promise<void>((resolve, reject) => {
    child.stdout!.on('data', (chunk: Buffer) => {
      said += chunk
      if (said.includes('is ready.')) resolve()
    })
    child.once('exit', () => reject(new Error(`The service ended: ${said}`)))
  })
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}

function run(command: string[], dataDir: string, port: number, input?: string) {
  const env = environment(dataDir, port)
  const running = promisify(execFile)(process.execPath, [cli, ...command], {
    cwd: dataDir,
    env,
    maxBuffer: 16 * 1024 ** 2,
  })
  if (input !== undefined) running.child.stdin!.end(input)
  return running
}

test('commands can run beside a service on the same directory, but a second service cannot', {
  timeout: longTestMsMax.processes,
}, async () => {
  using folder = newDataDir()
  const port = await freePort()
  await using _service = await startService(folder.dataDir, port)

  const made = await run(['create-organization', '--name', 'Acme', '--email', 'a@acme.example'], folder.dataDir, port)
  const { token, organization_id: id, database } = JSON.parse(made.stdout)
  expect(database).toMatch(/^embedded PostgreSQL in .*\/cluster$/)
  const me = await fetch(`http://127.0.0.1:${port}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } })
  expect(await me.json()).toMatchObject({ data: { organization: { id, name: 'Acme' } } })

  const reset = await run(['reset-password', '--email', 'A@acme.example'], folder.dataDir, port)
  const { email, password } = JSON.parse(reset.stdout)
  const statusOf = async (path: string, request: RequestInit) =>
    (await fetch(`http://127.0.0.1:${port}/api/v1${path}`, request)).status
  expect(await statusOf('/me', { headers: { authorization: `Bearer ${token}` } })).toBe(401)
  const body = JSON.stringify({ email, password })
  const headers = { 'content-type': 'application/json' }
  expect(await statusOf('/auth/login', { method: 'POST', headers, body })).toBe(200)
  const fromInput = ['reset-password', '--email', 'a@acme.example', '--password-stdin']
  const chosen = await run(fromInput, folder.dataDir, port, 'Purple-Otter-71\n')
  expect(JSON.parse(chosen.stdout)).toEqual({ user_id: expect.any(String), email, database })
  const chosenBody = JSON.stringify({ email, password: 'Purple-Otter-71' })
  expect(await statusOf('/auth/login', { method: 'POST', headers, body })).toBe(401)
  expect(await statusOf('/auth/login', { method: 'POST', headers, body: chosenBody })).toBe(200)
  await expect(run(fromInput, folder.dataDir, port, '')).rejects.toMatchObject({
    stderr: expect.stringContaining('Standard input is empty'),
  })
  await expect(run(['reset-password', '--email', 'b@acme.example'], folder.dataDir, port)).rejects.toMatchObject({
    stderr: 'No account found for b@acme.example.\n',
  })

  expect((await run(['migrate'], folder.dataDir, port)).stdout).toBe(
    `The database is up to date.\nDatabase: ${database}\n`,
  )
  expect((await run(['rebuild-counters'], folder.dataDir, port)).stdout).toContain('The counters are correct')
  expect((await run(['doctor'], folder.dataDir, port)).stdout).toContain(database)
  await expect(run(['start'], folder.dataDir, port)).rejects.toMatchObject({
    stderr: expect.stringContaining('Another Waxwing'),
  })
  expect((await fetch(`http://127.0.0.1:${port}/ready`)).status).toBe(200)
})

test('prints the complete OpenAPI document without a database', async () => {
  using folder = newDataDir()
  const document = JSON.parse((await run(['openapi'], folder.dataDir, await freePort())).stdout)
  expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/health', '/api/v1/me']))
})

test('stops the embedded database if connecting fails', async () => {
  using folder = newDataDir()
  const { dataDir } = folder
  const first = await startEmbedded({ dataDir, log })
  await query(first, 'alter role current_user nologin')
  await first.stop()

  await expect(openDatabase({ url: undefined, dataDir, connectionsMax: 3, log })).rejects.toThrow('not permitted')

  const again = await startEmbedded({ dataDir, log })
  await again.stop()
})

test('a command ends without an error when the reader of its output has gone', async () => {
  using dir = newDataDir()
  const child = spawn(process.execPath, [cli, 'config'], { cwd: dir.dataDir, env: environment(dir.dataDir, 1) })
  child.stdout.destroy()
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk
  })
  const [code] = await once(child, 'close')
  expect([code, errors]).toEqual([0, ''])
})
