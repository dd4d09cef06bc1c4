import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { localhost } from '../../../test/support/certificates.ts'
import { type Environment, newFolder, startCommand } from '../../../test/support/command.ts'
import { freePort } from '../../../test/support/service.ts'
import { createGuest, createTestDb } from '../../../test/support/test-db.ts'
import { readConfig } from '../../platform/config/config.ts'
import { checkSettings } from './check-settings.ts'

const bounces = { BOUNCE_SMTP_PORT: '0', BOUNCE_DOMAIN: 'bounces.acme.example' }
const dkim = { DKIM_DOMAIN: 'acme.example', DKIM_SELECTOR: 'mail' }

/** Returns the error output of `start` with these settings. File names are relative to its working directory. */
async function complaint(cwd: string, environment: Environment): Promise<string> {
  const PORT = String(await freePort())
  await using command = startCommand(['start'], { PORT, LOG_LEVEL: 'error', ...environment }, { cwd })
  const { code, stderr } = await command.ended
  expect(code, stderr).toBe(1)
  return stderr
}

test.each<[names: string, settings: Environment]>([
  ['SMTP_URL', { SMTP_URL: 'smtp://user@relay.example' }],
  ['SMTP_URL', { SMTP_URL: 'smtp://relay.example?foo=1' }],
  ['MAIL_FROM', { MAIL_FROM: 'nobody' }],
  ['PROVIDER_SENDGRID_KEY', { PROVIDER_SENDGRID_KEY: 'nonsense' }],
  ['DKIM_PRIVATE_KEY_FILE', { ...dkim, DKIM_PRIVATE_KEY_FILE: 'none' }],
  ['DKIM_PRIVATE_KEY_FILE', { ...dkim, DKIM_PRIVATE_KEY_FILE: 'text' }],
  ['DKIM_SELECTOR', { ...dkim, DKIM_SELECTOR: 'a b', DKIM_PRIVATE_KEY_FILE: 'key.pem' }],
  ['BOUNCE_TLS_CERT_FILE', { ...bounces, BOUNCE_TLS_CERT_FILE: 'none', BOUNCE_TLS_KEY_FILE: 'key.pem' }],
  ['BOUNCE_TLS_KEY_FILE', { ...bounces, BOUNCE_TLS_CERT_FILE: 'cert.pem', BOUNCE_TLS_KEY_FILE: 'none' }],
  ['BOUNCE_TLS_KEY_FILE', { ...bounces, BOUNCE_TLS_CERT_FILE: 'cert.pem', BOUNCE_TLS_KEY_FILE: 'text' }],
  ['SUBMISSION_TLS_CERT_FILE', { SUBMISSION_TLS_CERT_FILE: 'none', SUBMISSION_TLS_KEY_FILE: 'key.pem' }],
  ['SUBMISSION_TLS_KEY_FILE', { SUBMISSION_TLS_CERT_FILE: 'cert.pem', SUBMISSION_TLS_KEY_FILE: 'text' }],
  ['EGRESS_CA_FILE', { EGRESS_CA_FILE: 'none' }],
  ['EGRESS_CA_FILE', { EGRESS_CA_FILE: 'text' }],
])('reports an invalid %s in one line: %o', async (name, settings) => {
  using folder = newFolder()
  const files = { text: 'hello', 'cert.pem': localhost().cert, 'key.pem': localhost().key }
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder.path, file), content)
  const placed = Object.entries(settings).map(([key, value]) => [
    key,
    key.endsWith('_FILE') ? join(folder.path, value) : value,
  ])
  const config = readConfig(Object.fromEntries(placed))
  expect(() => checkSettings(config)).toThrow(new RegExp(`^.*${name}.*$`))
})

test.each<[names: string, settings: Environment]>([
  ['SMTP_URL', { SMTP_URL: 'smtp://user@relay.example' }],
  ['EGRESS_CA_FILE', { EGRESS_CA_FILE: 'none' }],
  ['DATA_DIR', { DATA_DIR: 'text' }],
])('rejects an invalid %s before anything is created: %o', async (name, settings) => {
  using folder = newFolder()
  writeFileSync(join(folder.path, 'text'), 'hello')
  expect(await complaint(folder.path, settings)).toMatch(new RegExp(`^.*${name}.*\\n$`))
  expect(existsSync(join(folder.path, 'data'))).toBe(false)
})

test.each<[names: string, settings: Environment]>([
  ['HOST', { HOST: '192.0.2.1' }],
  ['BOUNCE_SMTP_HOST', { ...bounces, BOUNCE_SMTP_HOST: 'nowhere.invalid' }],
])('reports a %s of another machine in one line: %o', async (name, settings) => {
  using folder = newFolder()
  expect(await complaint(folder.path, settings)).toMatch(new RegExp(`^.* Set ${name} to .*\\n$`))
})

test('reports an unusable database in one line', async () => {
  using folder = newFolder()
  await using testDb = await createTestDb()
  await using guest = await createGuest(testDb)
  const unknown = { DATABASE_URL: testDb.url.replace(/test_\w+/, 'none_here') }
  expect(await complaint(folder.path, unknown)).toMatch(/^.*DATABASE_URL.*"none_here" does not exist.*\n$/)
  const barred = { DATABASE_URL: guest.url }
  expect(await complaint(folder.path, barred)).toMatch(
    /^.*DATABASE_URL.*(permission denied for|must be owner of) table.*\n$/,
  )
})

test.each(['toString', 'constructor', 'strat'])('rejects the unknown command %s', async (name) => {
  using folder = newFolder()
  await using command = startCommand([name], {}, { cwd: folder.path })
  expect(await command.ended).toMatchObject({ code: 2, stderr: `Unknown command "${name}".\n\n` })
})
