import { expect, test } from 'vitest'
import {
  ConfigError,
  describeConfig,
  findOutdatedSettings,
  findUnknownSettings,
  readConfig,
  readSettings,
  settings,
} from './config.ts'
import { parseEnvFile, unknownSettings } from './env-file.ts'

test('uses the documented defaults', () => {
  const config = readConfig({})
  expect(config).toMatchObject({
    PORT: 3000,
    HOST: '127.0.0.1',
    BASE_URL: 'http://localhost:3000',
    MAIL_FROM: 'hello@localhost',
    WEBHOOK_RETRY_DELAYS: [30, 60, 120],
    WEBHOOK_TIMEOUT_MS: 10_000,
    EGRESS_ALLOW_PRIVATE: false,
    RATE_LIMIT_PER_SECOND: 500,
    SIGNUP: 'first-user',
    LOG_LEVEL: 'info',
  })
  expect(config.DATABASE_URL).toBeUndefined()
})

test('reports all problems at once, each with its setting', () => {
  const wrong = {
    PORT: 'x',
    SIGNUP: 'maybe',
    BASE_URL: 'ftp://x',
    APP_SECRET: 'short',
    DKIM_DOMAIN: 'acme.example',
    WEBHOOK_RETRY_DELAYS: '30,,60',
  }
  const fault = (() => {
    try {
      readConfig(wrong)
    } catch (error) {
      return error as Error
    }
  })()
  expect(fault).toBeInstanceOf(ConfigError)
  for (const name of [...Object.keys(wrong).filter((name) => name !== 'DKIM_DOMAIN'), 'DKIM_SELECTOR'])
    expect(fault!.message).toContain(name)
})

test('settings are read by their former name as well, which is reported', () => {
  const former = { WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_PROXY_URL: 'http://proxy.example:3128' }
  const proxy = 'http://other.example:3128'
  const config = readConfig({ ...former, EGRESS_PROXY_URL: proxy })
  expect(config).toMatchObject({ EGRESS_ALLOW_PRIVATE: true, EGRESS_PROXY_URL: proxy })
  const sources = { fileName: '.env', file: { WEBHOOK_PROXY_URL: 'http://proxy.example:3128' }, environment: former }
  expect(findUnknownSettings(sources)).toEqual([])
  expect(findOutdatedSettings(sources)).toEqual([
    'WEBHOOK_ALLOW_PRIVATE is deprecated: call it EGRESS_ALLOW_PRIVATE.',
    'WEBHOOK_PROXY_URL is deprecated: call it EGRESS_PROXY_URL.',
  ])
  const sourceOf = (name: string) => describeConfig(config, sources).find((row) => row.name === name)!.source
  expect([sourceOf('EGRESS_ALLOW_PRIVATE'), sourceOf('EGRESS_CA_FILE')]).toEqual(['environment', 'default'])
})

test('a removed setting is reported, and is not unknown', () => {
  const removed = { DATABASE_REPLICA_URL: 'postgres://replica.example/waxwing' }
  const warning =
    'DATABASE_REPLICA_URL is not used any more: everything is read from the database in DATABASE_URL. Remove it.'
  for (const sources of [
    { file: removed, environment: {} },
    { file: {}, environment: removed },
  ]) {
    expect(readSettings(sources)).toEqual(readConfig({}))
    expect(findUnknownSettings({ fileName: '.env', ...sources })).toEqual([])
    expect(findOutdatedSettings(sources)).toEqual([warning])
  }
  expect(findOutdatedSettings({ file: { DATABASE_REPLICA_URL: '' }, environment: {} })).toEqual([])
})

test('normalizes domains', () => {
  const domainOf = (text: string) => readConfig({ BOUNCE_SMTP_PORT: '0', BOUNCE_DOMAIN: text }).BOUNCE_DOMAIN
  expect(domainOf('bounce.example.com')).toBe('bounce.example.com')
  expect(domainOf('bounce.müller.example')).toBe('bounce.xn--mller-kva.example')
  expect(domainOf('Bounce.Example.COM.')).toBe('bounce.example.com')
  expect(domainOf('localhost')).toBe('localhost')
})

test('rejects an invalid domain in every setting', () => {
  const key = { DKIM_SELECTOR: 'mail', DKIM_PRIVATE_KEY_FILE: 'key.pem' }
  for (const text of [
    'not a domain',
    'https://example.com',
    'example.com/path',
    'example.com:25',
    'me@example.com',
    'ex%61mple.com',
    'bounce..example.com',
    'example.com..',
    '.',
    '-a.example.com',
    'a_b.example.com',
    `${'a'.repeat(64)}.example.com`,
    `${'a.'.repeat(126)}example`,
    'bounce',
    '192.0.2.1',
  ]) {
    const bounces = { BOUNCE_SMTP_PORT: '0', BOUNCE_DOMAIN: text }
    expect(() => readConfig(bounces), text).toThrow(/BOUNCE_DOMAIN: must be a domain/)
    expect(() => readConfig({ DKIM_DOMAIN: text, ...key }), text).toThrow(/DKIM_DOMAIN: must be a domain/)
  }
})

test('accepts a DATABASE_URL with its host as a parameter, like psql', () => {
  const databaseUrlOf = (text: string) => readConfig({ DATABASE_URL: text }).DATABASE_URL
  for (const text of ['postgres://u:p@db:5432/wax', 'postgresql:///wax?host=/sock&user=u'])
    expect(databaseUrlOf(text)).toBe(text)
  expect(databaseUrlOf('postgres://u:p@/wax?host=/sock')).toBe('postgres://u:p@localhost/wax?host=/sock')
  expect(databaseUrlOf('postgres://u@:5433/wax?a=b&host=/s')).toBe('postgres://u@localhost:5433/wax?a=b&host=/s')
  expect(databaseUrlOf('postgres://:5433/wax?host=/sock')).toBe('postgres://localhost:5433/wax?host=/sock')
  for (const text of [
    'postgres://u:p@/wax',
    'postgres://u:p@/wax?host=',
    'postgres://u:p@/wax?ghost=/sock',
    'mysql://u:p@/wax?host=/sock',
    'postgres://u:p@a b/wax?host=/sock',
    'wax',
  ])
    expect(() => databaseUrlOf(text), text).toThrow(/DATABASE_URL: must be a URL such as postgres:/)
})

test('rejects a BASE_URL with a query, a fragment or credentials', () => {
  const baseUrlOf = (text: string) => readConfig({ BASE_URL: text }).BASE_URL
  expect(baseUrlOf('https://x.example/')).toBe('https://x.example')
  expect(baseUrlOf('https://x.example/mail/')).toBe('https://x.example/mail')
  for (const text of [
    'https://x.example/?a=b',
    'https://x.example/#a',
    'https://x.example/?',
    'https://x.example/#',
    'https://me:hunter2@x.example',
    'https://me@x.example',
  ])
    expect(() => baseUrlOf(text), text).toThrow(/BASE_URL: must not contain a query/)
  // A proxy URL may contain credentials.
  const proxy = 'http://me:hunter2@proxy.example:3128'
  expect(readConfig({ EGRESS_PROXY_URL: proxy }).EGRESS_PROXY_URL).toBe(proxy)
})

test('the printed table lists every setting and hides secrets', () => {
  const environment = { DATABASE_URL: 'postgres://u:hunter2@db/x', SMTP_URL: 'smtp://u:hunter2@relay:587' }
  const rows = describeConfig(readConfig(environment), { fileName: '.env', file: {}, environment })
  expect(rows.map(({ name }) => name)).toEqual(Object.keys(settings))
  expect(JSON.stringify(rows)).not.toContain('hunter2')
})

test('the printed table shows the source of each value', () => {
  const sources = {
    fileName: '/etc/waxwing.env',
    file: { HOST: '0.0.0.0', PORT: '4000', SIGNUP: 'open' },
    environment: { PORT: '5000', SIGNUP: '' },
  }
  const rows = describeConfig(readSettings(sources), sources)
  const sourceOf = (wanted: string) => rows.find(({ name }) => name === wanted)?.source
  expect(['HOST', 'PORT', 'SIGNUP'].map(sourceOf)).toEqual(['/etc/waxwing.env', 'environment', 'default'])
})

test('.env files may contain quotes, comments and export', () => {
  const lines = [
    '# comment',
    'PORT=4000 # here',
    'export HOST="0.0.0.0"  # here, too',
    "MAIL_FROM='a # b'",
    'DATABASE_URL=postgres://u:a#b@db/wax',
    'DKIM_SELECTOR="a" # "b"',
    'MAIL_REPLY="Acme" <hello@acme.example>',
    '',
    'nonsense',
  ]
  for (const end of ['\n', '\r\n'])
    expect(parseEnvFile(lines.join(end))).toEqual({
      PORT: '4000',
      HOST: '0.0.0.0',
      MAIL_FROM: 'a # b',
      DATABASE_URL: 'postgres://u:a#b@db/wax',
      DKIM_SELECTOR: 'a',
      MAIL_REPLY: '"Acme" <hello@acme.example>',
    })
})

test('reports unknown settings in .env and suggests the closest name', () => {
  const file = { SMPT_URL: 'x', base_url: 'x', PORT: '1', POSTGRES_PASSWORD: 'x', NODE_ENV: 'x' }
  expect(unknownSettings('.env', file, Object.keys(settings))).toEqual([
    'Unknown setting SMPT_URL in .env. Did you mean SMTP_URL?',
    'Unknown setting base_url in .env. Did you mean BASE_URL?',
    'Unknown settings in .env: POSTGRES_PASSWORD, NODE_ENV.',
  ])
})

test('without a certificate, submission listens on this machine only', () => {
  expect(readConfig({ SUBMISSION_PORT: '587' }).SUBMISSION_HOST).toBe('127.0.0.1')
  expect(readConfig({ SUBMISSION_PORT: '587', SUBMISSION_HOST: '::1' }).SUBMISSION_HOST).toBe('::1')
  const open = { SUBMISSION_PORT: '587', SUBMISSION_HOST: '0.0.0.0' }
  expect(() => readConfig(open)).toThrow(/SUBMISSION_HOST: must be an address of this machine/)
  expect(() => readConfig({ SUBMISSION_TLS_PORT: '465' })).toThrow(/SUBMISSION_TLS_PORT: requires a certificate/)
  expect(() => readConfig({ SUBMISSION_TLS_CERT_FILE: 'c' })).toThrow(/SUBMISSION_TLS_KEY_FILE: required/)
  const certificate = { SUBMISSION_TLS_CERT_FILE: 'c', SUBMISSION_TLS_KEY_FILE: 'k', SUBMISSION_TLS_PORT: '465' }
  expect(readConfig(certificate).SUBMISSION_HOST).toBe('0.0.0.0')
  expect(readConfig({ ...certificate, SUBMISSION_HOST: '192.0.2.1' }).SUBMISSION_HOST).toBe('192.0.2.1')
})
