import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Environment, newFolder, startCommand } from '../../test/support/command.ts'
import { startStartupRecorder } from '../../test/support/startup-recorder.ts'
import { createGuest, createTestDb } from '../../test/support/test-db.ts'
import { readConfig } from '../config/config.ts'
import { banner } from './banner.ts'

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))
const address = hasIpv6 ? '::1' : '127.0.0.1'
const host = hasIpv6 ? '[::1]' : address

let relay: SMTPServer
let port: number
beforeAll(async () => {
  relay = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ password }, _session, done) =>
      password === 'right' ? done(null, { user: 'me' }) : done(new Error('Wrong password')),
  })
  relay.on('error', () => {})
  relay.listen(0, address)
  await once(relay.server, 'listening')
  port = (relay.server.address() as AddressInfo).port
})
afterAll(() => new Promise<void>((resolve) => relay.close(resolve)))

async function examine(environment: Environment): Promise<{ code: number | null; stdout: string }> {
  using folder = newFolder()
  const DATA_DIR = join(folder.path, 'data')
  await using command = startCommand(['doctor'], { DATA_DIR, ...environment }, { cwd: folder.path })
  const { code, stdout, stderr } = await command.ended
  expect(stderr).toBe('')
  return { code, stdout }
}

test('doctor finds no problems with development settings, including IPv6 addresses', async () => {
  const settings = { SMTP_URL: `smtp://me:right@${host}:${port}`, BASE_URL: `http://${host}:3000` }
  const { code, stdout } = await examine(settings)
  expect(stdout).toContain(`ok   Relay      ${host}:${port} accepts email`)
  expect(stdout).toContain(`ok   BASE_URL   http://${host}:3000`)
  expect(stdout).toContain(`note Going live Links in emails point to http://${host}:3000`)
  expect(stdout).toContain('No problems found. Read the notes')
  expect(code).toBe(0)
})

test('doctor finds problems that prevent sending', async () => {
  const settings = {
    SMTP_URL: `smtp://me:wrong@${host}:${port}`,
    DKIM_DOMAIN: 'acme.example',
    DKIM_SELECTOR: 'mail',
    DKIM_PRIVATE_KEY_FILE: '/nope',
  }
  const { code, stdout } = await examine(settings)
  expect(stdout).toMatch(/^BAD {2}Relay {6}.*Wrong password.*SMTP_URL/m)
  expect(stdout).toContain('BAD  Settings   DKIM_PRIVATE_KEY_FILE: /nope does not exist.')
  expect(stdout).toContain('2 problems found.')
  expect(stdout).not.toContain('wrong@')
  expect(code).toBe(1)
})

test('doctor reports links to localhost if a relay is configured', async () => {
  const { code, stdout } = await examine({ SMTP_URL: 'smtp://relay.invalid', MAIL_FROM: 'hello@acme.example' })
  expect(stdout).toMatch(/^BAD {2}Going live Links in emails point to http:\/\/localhost:3000.*BASE_URL/m)
  expect(stdout).toContain('2 problems found.')
  expect(code).toBe(1)
})

test('doctor continues after an invalid setting, and finds a truncated secret', async () => {
  using folder = newFolder()
  writeFileSync(join(folder.path, 'secret'), '')
  const { code, stdout } = await examine({ SMTP_URL: 'smtp://relay.example?foo=1', DATA_DIR: folder.path })
  expect(stdout).toMatch(/^BAD {2}Relay {6}SMTP_URL has an unknown parameter "foo"/m)
  expect(stdout).toMatch(/^BAD {2}Secret {5}DATA_DIR: /m)
  expect(code).toBe(1)
})

test('doctor reports a database that cannot be opened or read', async () => {
  await using testDb = await createTestDb()
  await using guest = await createGuest(testDb)
  const unknown = await examine({ DATABASE_URL: testDb.url.replace(/test_\w+/, 'none_here') })
  expect(unknown.stdout).toMatch(/^BAD {2}Database {3}.*DATABASE_URL.*"none_here" does not exist/m)
  expect(unknown.code).toBe(1)
  const barred = await examine({ DATABASE_URL: guest.url })
  expect(barred.stdout).toMatch(/^BAD {2}Database {3}.*DATABASE_URL.*permission denied for table schema_migrations/m)
  expect(barred.code).toBe(1)
})

test('doctor and banner warn about webhooks to private addresses', async () => {
  const settings = { WEBHOOK_ALLOW_PRIVATE: 'true', SIGNUP: 'open' }
  const { code, stdout } = await examine(settings)
  expect(stdout).toMatch(/^note Webhooks {3}.*SIGNUP=open.*WEBHOOK_ALLOW_PRIVATE=false/m)
  expect(code).toBe(0)
  const config = readConfig({ ...settings, HOST: '0.0.0.0' })
  await using testDb = await createTestDb()
  const database = { db: testDb.db, description: 'a test', note: null, close: async () => {} }
  const shown = await banner({ config, database, roles: ['work'], undecryptable: 0 })
  expect(shown).toMatch(/^ {2}Attention {2}Webhooks can reach/m)
})

test('doctor reports a connection pooler without a direct address', async () => {
  await using testDb = await createTestDb()
  await using pooler = await startStartupRecorder(testDb, { asPooler: true })
  const { user, port, database } = pooler.connection as { user: string; port: number; database: string }
  const pooled = `postgres://${user}@127.0.0.1:${port}/${database}`
  const poolerLine = async (environment: Environment) =>
    /^.*Pooler.*$/m.exec((await examine({ DATABASE_URL: pooled, ...environment })).stdout)?.[0]
  expect(await poolerLine({})).toMatch(/^note Pooler {5}.*Set DATABASE_DIRECT_URL/)
  expect(await poolerLine({ DATABASE_DIRECT_URL: pooled })).toMatch(
    /^BAD {2}Pooler {5}DATABASE_DIRECT_URL is the address/,
  )
  expect(await poolerLine({ DATABASE_DIRECT_URL: testDb.url })).toBeUndefined()
})

test('doctor reports a replica that cannot be used', async () => {
  await using testDb = await createTestDb()
  const replicaLine = async (DATABASE_REPLICA_URL: string) =>
    /^.*Replica.*$/m.exec((await examine({ DATABASE_URL: testDb.url, DATABASE_REPLICA_URL })).stdout)?.[0]
  expect(await replicaLine(testDb.url)).toMatch(
    /^BAD {2}Replica {4}DATABASE_REPLICA_URL is not the address of a replica/,
  )
  expect(await replicaLine('postgres://waxwing@127.0.0.1:1/waxwing')).toMatch(
    /^BAD {2}Replica {4}.*ECONNREFUSED.*check DATABASE_REPLICA_URL/,
  )
})
