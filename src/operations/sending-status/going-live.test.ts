import { expect, test } from 'vitest'
import { type Environment, readConfig } from '../../platform/config/config.ts'
import { liveProblems } from './going-live.ts'

const relay = { SMTP_URL: 'smtp://relay.example.com:587' }
const live = { ...relay, BASE_URL: 'https://mail.acme.example', MAIL_FROM: 'Acme <hello@acme.example>' }

const problemsOf = (environment: Environment, transport: 'smtp' | 'inbox' = 'smtp') =>
  liveProblems(readConfig(environment), transport)

test('there are no problems with a public base URL and sender', () => {
  expect(problemsOf(live)).toEqual([])
  expect(problemsOf({ ...live, BASE_URL: 'http://waxwing.corp.internal' })).toEqual([])
  expect(problemsOf({ ...live, BASE_URL: 'http://8.8.8.8:3000' })).toEqual([])
})

test('with a relay, a localhost sender and local links are faults', () => {
  expect(problemsOf({ ...relay, PORT: '4000' })).toEqual([
    {
      severity: 'fault',
      message:
        'Links in emails point to http://localhost:4000, which other people cannot open. Set BASE_URL to the public address.',
    },
    {
      severity: 'fault',
      message:
        'Flows without a sender use hello@localhost, which other mail servers reject. Set MAIL_FROM to an address of your domain.',
    },
  ])
  for (const host of ['127.0.0.1:3000', '192.168.1.20', '10.0.0.5:3000', '[::1]:3000', '[fd00::1]', 'wax.localhost'])
    expect(problemsOf({ ...live, BASE_URL: `http://${host}` }), host).toMatchObject([{ severity: 'fault' }])
})

test('without a relay or with one on this machine, the problems are hints', () => {
  expect(problemsOf({}, 'inbox')).toMatchObject([{ severity: 'hint' }, { severity: 'hint' }])
  for (const host of ['localhost:1025', '127.0.0.1', '[::1]:25'])
    expect(problemsOf({ SMTP_URL: `smtp://${host}` }), host).toMatchObject([{ severity: 'hint' }, { severity: 'hint' }])
})
