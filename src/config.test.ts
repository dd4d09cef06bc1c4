import { expect, test } from 'vitest'
import { ConfigError, describeConfig, parseEnvFile, readConfig, settings } from './config.ts'

test('without any setting everything has its documented default', () => {
  const config = readConfig({})
  expect(config).toMatchObject({
    PORT: 3000,
    HOST: '127.0.0.1',
    BASE_URL: 'http://localhost:3000',
    MAIL_FROM: 'hello@localhost',
    WEBHOOK_RETRY_DELAYS: [30, 60, 120],
    WEBHOOK_TIMEOUT_MS: 10_000,
    WEBHOOK_ALLOW_PRIVATE: false,
    RATE_LIMIT_PER_SECOND: 500,
    SIGNUP: 'first-user',
    LOG_LEVEL: 'info',
  })
  expect(config.DATABASE_URL).toBeUndefined()
})

test('all faults are told at once, each with its setting', () => {
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

test('the printed table names every setting and shows no secret', () => {
  const environment = { DATABASE_URL: 'postgres://u:hunter2@db/x', SMTP_URL: 'smtp://u:hunter2@relay:587' }
  const rows = describeConfig(readConfig(environment), environment)
  expect(rows.map(({ name }) => name)).toEqual(Object.keys(settings))
  expect(JSON.stringify(rows)).not.toContain('hunter2')
})

test('.env files may quote, comment and export', () => {
  expect(parseEnvFile('# comment\nPORT=4000 # here\nexport HOST="0.0.0.0"\nMAIL_FROM=\'a # b\'\n\nnonsense\n')).toEqual(
    {
      PORT: '4000',
      HOST: '0.0.0.0',
      MAIL_FROM: 'a # b',
    },
  )
})
