import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { localhost, testCa } from '../../../test/support/certificates.ts'
import { type Environment, newFolder, startCommand } from '../../../test/support/command.ts'
import { startNameServer } from '../../../test/support/name-server.ts'
import { startStartupRecorder } from '../../../test/support/startup-recorder.ts'
import { createGuest, createTestDb, type TestDb } from '../../../test/support/test-db.ts'
import { domainKeyBox } from '../../delivery/domains/dkim-keys.ts'
import { mailServerBox } from '../../delivery/mail-servers/credentials.ts'
import { startBounceListener } from '../../engagement/bounces/bounce-listener.ts'
import { exportSecrets } from '../../events/exports/exports.ts'
import { webhookSecretBox } from '../../events/webhooks/signing-secrets.ts'
import { readConfig } from '../../platform/config/config.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { RateLimit } from '../../platform/runtime/rate-limit.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { SecretBox } from '../../platform/secrets/secrets.ts'
import { startSubmission } from '../../sending/submission/listener.ts'
import { pauseSending } from '../sending-status/sending-pause.ts'
import { banner } from './banner.ts'
import { nodeVersion } from './doctor.ts'
import { checkBounces } from './doctor-bounces.ts'
import { checkLinkHosts } from './doctor-link-hosts.ts'
import { checkSubmission } from './doctor-submission.ts'
import type { Finding } from './finding.ts'

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))
const address = hasIpv6 ? '::1' : '127.0.0.1'
const host = hasIpv6 ? '[::1]' : address

const APP_SECRET = 'the current secret, which is long enough'

let testDb: TestDb
let relay: SMTPServer
let port: number
beforeAll(async () => {
  testDb = await createTestDb()
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
afterAll(async () => {
  await testDb[Symbol.asyncDispose]()
  await new Promise<void>((resolve) => relay.close(resolve))
})

/** Runs `doctor` on a database without problems, unless the environment names another one. */
async function examine(environment: Environment): Promise<{ code: number | null; stdout: string }> {
  using folder = newFolder()
  const DATA_DIR = join(folder.path, 'data')
  await using command = startCommand(
    ['doctor'],
    { DATA_DIR, DATABASE_URL: testDb.url, APP_SECRET, ...environment },
    { cwd: folder.path },
  )
  const { code, stdout, stderr } = await command.ended
  expect(stderr).toBe('')
  return { code, stdout }
}

test('doctor finds no problems with development settings, including IPv6 addresses', async () => {
  const settings = {
    SMTP_URL: `smtp://me:right@${host}:${port}`,
    BASE_URL: `http://${host}:3000`,
    SENDING_PROCESSES: '2',
  }
  const { code, stdout } = await examine(settings)
  expect(stdout).toContain(`ok   Mail server ${host}:${port} accepts email`)
  expect(stdout).toContain('ok   Processes   2 child processes send broadcasts (SENDING_PROCESSES)')
  expect(stdout).toContain(`ok   BASE_URL    http://${host}:3000`)
  expect(stdout).toContain(`note Going live  Links in emails point to http://${host}:3000`)
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
  expect(stdout).toMatch(/^BAD {2}Mail server .*Wrong password.*SMTP_URL/m)
  expect(stdout).toContain('BAD  Settings    DKIM_PRIVATE_KEY_FILE: /nope does not exist.')
  expect(stdout).toContain('2 problems found.')
  expect(stdout).not.toContain('wrong@')
  expect(code).toBe(1)
})

test('doctor reports links to localhost if a relay is configured', async () => {
  const { code, stdout } = await examine({ SMTP_URL: 'smtp://relay.invalid', MAIL_FROM: 'hello@acme.example' })
  expect(stdout).toMatch(/^BAD {2}Going live {2}Links in emails point to http:\/\/localhost:3000.*BASE_URL/m)
  expect(stdout).toContain('2 problems found.')
  expect(code).toBe(1)
})

test('doctor continues after an invalid setting, and finds a truncated secret', async () => {
  using folder = newFolder()
  writeFileSync(join(folder.path, 'secret'), '')
  const { code, stdout } = await examine({
    SMTP_URL: 'smtp://relay.example?foo=1',
    DATA_DIR: folder.path,
    APP_SECRET: '',
  })
  expect(stdout).toMatch(/^BAD {2}Mail server SMTP_URL has an unknown parameter "foo"/m)
  expect(stdout).toMatch(/^BAD {2}Secret {6}DATA_DIR: /m)
  expect(code).toBe(1)
})

test('doctor reports a database that cannot be opened or read', async () => {
  await using testDb = await createTestDb()
  await using guest = await createGuest(testDb)
  const unknown = await examine({ DATABASE_URL: testDb.url.replace(/test_\w+/, 'none_here') })
  expect(unknown.stdout).toMatch(/^BAD {2}Database {4}.*DATABASE_URL.*"none_here" does not exist/m)
  expect(unknown.code).toBe(1)
  const barred = await examine({ DATABASE_URL: guest.url })
  expect(barred.stdout).toMatch(/^BAD {2}Database {4}.*DATABASE_URL.*permission denied for table schema_migrations/m)
  expect(barred.code).toBe(1)
})

test('doctor and banner warn about webhooks to private addresses', async () => {
  const settings = { EGRESS_ALLOW_PRIVATE: 'true', SIGNUP: 'open' }
  const { code, stdout } = await examine(settings)
  expect(stdout).toMatch(/^note Webhooks {4}.*SIGNUP=open.*EGRESS_ALLOW_PRIVATE=false/m)
  expect(code).toBe(0)
  const config = readConfig({ ...settings, HOST: '0.0.0.0' })
  const database = { db: testDb.db, description: 'a test', note: null }
  const sources = { fileName: '.env', file: {}, environment: {} }
  const shown = await banner({ config, sources, database, roles: ['work'], sealed: [] })
  expect(shown).toMatch(/^ {2}Attention {2}Webhooks can reach/m)
})

test('doctor reports a connection pooler without a direct address', async () => {
  await using testDb = await createTestDb()
  await using pooler = await startStartupRecorder(testDb, { asPooler: true })
  const { user, port, database } = pooler.connection as { user: string; port: number; database: string }
  const pooled = `postgres://${user}@127.0.0.1:${port}/${database}`
  const poolerLine = async (environment: Environment) =>
    /^.*Pooler.*$/m.exec((await examine({ DATABASE_URL: pooled, ...environment })).stdout)?.[0]
  expect(await poolerLine({})).toMatch(/^note Pooler {6}.*Set DATABASE_DIRECT_URL/)
  expect(await poolerLine({ DATABASE_DIRECT_URL: pooled })).toMatch(
    /^BAD {2}Pooler {6}DATABASE_DIRECT_URL is the address/,
  )
  expect(await poolerLine({ DATABASE_DIRECT_URL: testDb.url })).toBeUndefined()
})

test('doctor notes that sending is paused', async () => {
  await using pausedDb = await createTestDb()
  await pauseSending(pausedDb.db.statement, 'restored')
  const { code, stdout } = await examine({ DATABASE_URL: pausedDb.url })
  expect(stdout).toMatch(
    /^note Sending {5}Sending is paused since .* \(a backup was restored\)\. Run `waxwing resume-/m,
  )
  expect(code).toBe(0)
})

test('doctor compares the secret with the database and with each webhook', async () => {
  await using ownDb = await createTestDb({ registered: true })
  const secretLine = async (environment: Environment) =>
    /^.*Secret .*$/m.exec((await examine({ DATABASE_URL: ownDb.url, ...environment })).stdout)?.[0]
  const old = 'the previous secret, which is also long'
  expect(await secretLine({ APP_SECRET: '' })).toMatch(/^BAD {2}Secret {6}there is none in .*--env-file/)

  const sealed = webhookSecretBox({ current: old, previous: undefined }).seal('whsec_x')
  await ownDb.db.statement`
    insert into webhooks (organization_id, id, name, url, secret, all_events, event_types)
    select id, gen_random_uuid(), 'CRM', 'https://crm.example/', ${sealed}, true, '{}' from organizations`
  const key = domainKeyBox({ current: old, previous: undefined }).seal('a private key')
  await ownDb.db.statement`
    insert into domains (organization_id, id, name, ownership_token, selector, dkim_key, dkim_public_key)
    select id, gen_random_uuid(), 'example.com', '', 'wax', ${key}, '' from organizations`
  const url = mailServerBox({ current: old, previous: undefined }).seal('smtp://smtp.example.com')
  await ownDb.db.statement`
    insert into mail_servers (organization_id, id, name, url, host, port)
    select id, gen_random_uuid(), 'Main', ${url}, 'smtp.example.com', 587 from organizations`
  const accessKey = new SecretBox({ current: old, previous: undefined }, exportSecrets.purpose).seal('an access key')
  await ownDb.db.statement`
    insert into event_exports (organization_id, id, name, endpoint, region, bucket, prefix, access_key_id, secret)
    select id, gen_random_uuid(), 'Lake', 'https://s3.example', 'eu', 'b', '', 'id', ${accessKey} from organizations`
  expect(await secretLine({})).toMatch(/^BAD {2}Secret {6}The secrets of 1 webhook .*Set APP_SECRET_PREVIOUS/)
  expect(await secretLine({ APP_SECRET_PREVIOUS: old })).toMatch(
    /^note Secret {6}APP_SECRET_PREVIOUS is still needed by 1 webhook, 1 domain, 1 mail server, and 1 event export:/,
  )
  expect(await secretLine({ APP_SECRET: old })).toBe('ok   Secret      matches the database')

  await ownDb.db.statement`insert into secret_mark (mark) values ('the mark of another secret')`
  expect(await secretLine({ APP_SECRET: old })).toMatch(
    /^BAD {2}Secret {6}This database is used with another APP_SECRET/,
  )
})

test('doctor recommends Node.js 24 if the version gets no security fixes', () => {
  const kindOf = ({ ok, note, message }: Finding) => [
    ok ? (note ? 'note' : 'ok') : 'bad',
    message.includes('24, or at least'),
  ]
  expect(['v18.20.0', 'v20.18.3'].map(nodeVersion).map(kindOf)).toEqual(Array(2).fill(['bad', true]))
  expect(['v20.19.0', 'v21.1.0', 'v25.0.0'].map(nodeVersion).map(kindOf)).toEqual(Array(3).fill(['note', false]))
  expect(['v22.12.0', 'v24.0.0', 'v26.1.0'].map(nodeVersion).map(kindOf)).toEqual(Array(3).fill(['ok', false]))
})

test('doctor checks that the bounce listener answers and that its domain has an MX record', async () => {
  await using names = await startNameServer(
    () => [],
    (name) => ({
      mx: name === 'none.acme.example' ? [] : [name === 'b.acme.example' ? '10 mail.acme.example' : '5 mx.example'],
    }),
  )
  const log = { info: () => {}, error: () => {} }
  const listen = (domain: string) =>
    startBounceListener({ host: '127.0.0.1', port: 0, domain, verify: () => true, onEmail: async () => {}, log })
  const check = async (domain: string, port: number) => {
    const config = readConfig({
      BOUNCE_SMTP_HOST: '0.0.0.0',
      BOUNCE_SMTP_PORT: String(port),
      BOUNCE_DOMAIN: domain,
      BASE_URL: 'https://mail.acme.example',
      DNS_SERVERS: names.address,
    })
    const lines: string[] = []
    for await (const { ok, note, message } of checkBounces(config))
      lines.push(`${ok ? (note ? 'note' : 'ok') : 'bad'}: ${message}`)
    return lines
  }
  const listener = await listen('b.acme.example')
  expect(await check('b.acme.example', listener.port)).toEqual([
    `ok: the listener answers on 127.0.0.1 port ${listener.port}`,
    'ok: the MX record of b.acme.example is mail.acme.example',
  ])
  expect(await check('none.acme.example', listener.port)).toEqual([
    expect.stringMatching(/^bad: another program answers/),
    expect.stringMatching(/^bad: none\.acme\.example has no MX record.*MX 10 mail\.acme\.example\./),
  ])
  await listener.close()
  expect(await check('other.acme.example', listener.port)).toEqual([
    expect.stringMatching(/^note: nothing answers on 127\.0\.0\.1 port \d+ \(ECONNREFUSED\)/),
    expect.stringMatching(/^note: the MX record of other\.acme\.example is 5 mx\.example, not mail\.acme\.example/),
  ])
})

test('doctor checks that the reverse proxy has a certificate for each link host', async () => {
  await using ownDb = await createTestDb({ registered: true })
  const proxy = createTlsServer(localhost(), (socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
  proxy.on('tlsClientError', () => {})
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo
  const findings = async () => {
    const found: Finding[] = []
    for await (const each of checkLinkHosts(ownDb.db, { host: '127.0.0.1', port, ca: testCa() })) found.push(each)
    return found
  }
  const register = (host: string) =>
    ownDb.db.statement`insert into tracking_hosts (host, organization_id) select ${host}, id from organizations`
  expect(await findings()).toEqual([])
  await register('localhost')
  expect(await findings()).toMatchObject([{ ok: true, message: '1 checked, all have a certificate' }])
  await register('links.example.com')
  expect(await findings()).toMatchObject([
    { ok: false, message: expect.stringMatching(/https:\/\/links\.example\.com .*ERR_TLS_CERT_ALTNAME_INVALID/) },
  ])
  proxy.close()
})

test('doctor checks the ports for submission and their certificate, and the banner shows them', async () => {
  using folder = newFolder()
  const certificate = localhost()
  for (const [name, text] of Object.entries(certificate)) writeFileSync(join(folder.path, name), text)
  const files = {
    SUBMISSION_TLS_CERT_FILE: join(folder.path, 'cert'),
    SUBMISSION_TLS_KEY_FILE: join(folder.path, 'key'),
  }
  const listener = await startSubmission({
    ...{ host: '127.0.0.1', port: 0, tlsPort: 0, name: 'localhost', certificate, newCertificate: () => undefined },
    signIn: () => Promise.reject(new Error('not used')),
    accept: () => Promise.reject(new Error('not used')),
    keyLimit: new RateLimit({ perSecond: 0 }),
    stageRegistry: new StageRegistry(),
    log: { info: () => {}, warn: () => {}, error: () => {} } as unknown as Log,
  })
  const environment = {
    SUBMISSION_PORT: String(listener.port),
    SUBMISSION_TLS_PORT: String(listener.tlsPort),
    SUBMISSION_HOST: '127.0.0.1',
  }
  const findingsOf = async (change: Environment) => {
    const findings: string[] = []
    for await (const { ok, note: isNote, message } of checkSubmission(
      readConfig({ ...environment, ...files, ...change }),
    ))
      findings.push(`${ok ? (isNote ? 'note' : 'ok') : 'bad'} ${message}`)
    return findings
  }
  expect(await findingsOf({})).toEqual([
    `ok programs can send through 127.0.0.1 port ${listener.port}`,
    `ok programs can send through 127.0.0.1 port ${listener.tlsPort}`,
  ])
  expect(await findingsOf({ BASE_URL: 'https://mail.acme.example' })).toEqual([
    expect.stringMatching(/^bad another program answers .* SUBMISSION_PORT/),
    expect.stringMatching(/^bad another program answers .* SUBMISSION_TLS_PORT/),
    expect.stringMatching(/^note the certificate is not valid for mail\.acme\.example/),
  ])
  const config = readConfig({ ...environment, ...files })
  const sources = { fileName: '.env', file: {}, environment: {} }
  const database = { db: testDb.db, description: 'a test', note: null }
  const shown = await banner({ config, sources, database, roles: ['serve'], sealed: [] })
  expect(shown).toContain(`Submission SMTP on 127.0.0.1 port ${listener.port} and ${listener.tlsPort}`)
  await listener.close()
  expect(await findingsOf({})).toEqual(Array(2).fill(expect.stringMatching(/^note nothing answers/)))
  const local = {
    SUBMISSION_PORT: '1',
    SUBMISSION_TLS_PORT: '',
    SUBMISSION_TLS_CERT_FILE: '',
    SUBMISSION_TLS_KEY_FILE: '',
  }
  expect(await findingsOf(local)).toContain('note without a certificate, only programs on this machine can send')
})
