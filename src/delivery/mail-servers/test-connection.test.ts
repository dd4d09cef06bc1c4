import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { expect, test } from 'vitest'
import { elsewhere, localhost } from '../../../test/support/certificates.ts'
import { hang, type RawSmtpOptions, startRawSmtp } from '../../../test/support/raw-smtp.ts'
import { create } from '../../../test/support/resources.ts'
import { startSharedApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { startReceiver } from '../../../test/support/webhook-receiver.ts'
import { createResolveTarget } from './allowed-targets.ts'
import { targetOf } from './settings.ts'
import { testConnection } from './test-connection.ts'

const tuning = { mailServerTestsPerMinute: 0 }
const ca = 'test/support/certificates/ca.pem'
const newApp = await startSharedApp({ EGRESS_CA_FILE: ca }, ['serve'], { tuning })

type Step = { step: string; ok: boolean; detail: string }
type Result = { ok: boolean; steps: Step[] }

async function run(app: TestApp, body: object): Promise<Result> {
  const answer = await app.manage('POST', '/organization/mail-servers/test', body)
  expect(answer.status, answer.text).toBe(200)
  return answer.body.data
}

const last = ({ steps }: Result) => steps.at(-1)!
const failed = (step: string, detail: RegExp) => ({ step, ok: false, detail: expect.stringMatching(detail) })

/** A real server with STARTTLS, or TLS from the start. */
async function startTlsServer(options: ConstructorParameters<typeof SMTPServer>[0]) {
  const server = new SMTPServer({
    ...localhost(),
    disableReverseLookup: true,
    onAuth: ({ method, username, password, accessToken }, _session, done) => {
      if (password === 'right' || accessToken === 'token-1') return done(null, { user: username })
      if (method !== 'XOAUTH2') return done(new Error('Wrong password'))
      return done(null, { data: { status: '401', schemes: 'bearer' } })
    },
    ...options,
  })
  server.on('error', () => {})
  server.listen(0)
  await once(server.server, 'listening')
  return {
    port: (server.server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}

test('every step of a working connection is shown, and the status becomes working', async () => {
  const app = await newApp()
  await using server = await startTlsServer({})
  const place = { host: 'localhost', port: server.port, security: 'starttls' }
  const body = { name: 'Main', ...place, username: 'ada', password: 'right' }
  const { id } = await create(app, '/mail-servers', body)
  const { data } = (await app.manage('POST', `/organization/mail-servers/${id}/test`)).body
  expect(data).toEqual({
    ok: true,
    steps: [
      { step: 'resolve', ok: true, detail: expect.stringMatching(/^localhost has the address/) },
      { step: 'connect', ok: true, detail: expect.stringMatching(/^Connected to .*, port \d+, in \d+ ms\.$/) },
      { step: 'greeting', ok: true, detail: expect.stringMatching(/^220 /) },
      { step: 'ehlo', ok: true, detail: expect.stringContaining('STARTTLS') },
      { step: 'tls', ok: true, detail: expect.stringMatching(/^TLSv1\.3, certificate for localhost .*valid until 2/) },
      { step: 'ehlo', ok: true, detail: expect.stringContaining('AUTH') },
      { step: 'auth', ok: true, detail: 'Signed in as ada with PLAIN.' },
      { step: 'quit', ok: true, detail: 'The connection works. No email was sent.' },
    ],
  })
  const get = async () => (await app.manage('GET', `/organization/mail-servers/${id}`)).body.data
  expect(await get()).toMatchObject({ status: 'working', tested_at: expect.any(String), failure: null })
  await app.manage('PATCH', `/organization/mail-servers/${id}`, { password: 'wrong' })
  expect(await get()).toMatchObject({ status: 'untested', tested_at: null })
  await app.manage('POST', `/organization/mail-servers/${id}/test`)
  expect(await get()).toMatchObject({
    status: 'failing',
    failing_since: expect.any(String),
    failure: expect.stringMatching(/rejected the user name or password: 535 .* Check the user name and the password\./),
  })
})

test('every failure says what to do', async () => {
  const app = await newApp()
  const scripted = async (options: RawSmtpOptions, body: object = {}) => {
    await using raw = await startRawSmtp(options)
    return last(await run(app, { host: '127.0.0.1', port: raw.port, ...body }))
  }
  const answer = (verb: string, text: string): RawSmtpOptions => ({
    extensions: ['AUTH PLAIN'],
    answer: (step) => (step.verb === verb ? text : undefined),
  })
  const signIn = { username: 'ada', password: 'p', security: 'none' }

  const unknown = await run(app, { host: 'nothing.invalid' })
  expect(last(unknown)).toEqual(failed('resolve', /^nothing\.invalid: .* Check the spelling of the host\.$/))
  const gone = await startRawSmtp()
  await gone.close()
  const refused = await run(app, { host: '127.0.0.1', port: gone.port })
  expect(last(refused)).toEqual(failed('connect', /refused the connection\. No mail server listens/))
  expect(await scripted(answer('greeting', '554 5.7.1 Blocked'))).toEqual(
    failed('greeting', /554 5\.7\.1 Blocked\. .*block its address\.$/),
  )
  expect(await scripted(answer('greeting', 'HTTP/1.1 400 Bad Request'))).toEqual(
    failed('greeting', /Something other than a mail server answers/),
  )
  expect(await scripted({}, { security: 'tls' })).toEqual(
    failed('tls', /may not expect TLS from the start on this port\. Choose STARTTLS/),
  )
  expect(await scripted({}, { security: 'starttls' })).toEqual(
    failed('tls', /does not offer STARTTLS on port \d+\. Choose TLS with port 465/),
  )
  expect(await scripted({}, signIn)).toEqual(
    failed('auth', /does not offer to sign in with a password.* Choose STARTTLS or TLS/),
  )
  expect(await scripted(answer('AUTH', '535 5.7.8 No'), { ...signIn, preset: 'google' })).toEqual(
    failed('auth', /535 5\.7\.8 No\. Check the .*app password, which needs 2-step/),
  )
  expect(await scripted(answer('AUTH', '530 5.7.0 Must issue STARTTLS'), signIn)).toEqual(
    failed('auth', /Choose STARTTLS or TLS: the mail server wants encryption first/),
  )
  expect(await scripted(answer('AUTH', '454 4.7.0 Busy'), signIn)).toEqual(
    failed('auth', /Try again in a few minutes\.$/),
  )
  await using wrongName = await startTlsServer({ ...elsewhere(), secure: true })
  const named = await run(app, { host: 'localhost', port: wrongName.port, security: 'tls' })
  expect(last(named)).toEqual(failed('tls', /Enter a host that is named in the certificate\.$/))
})

test('OAuth 2: the access token is requested, and a rejection is shown without secrets', async () => {
  const app = await newApp()
  await using server = await startTlsServer({ authMethods: ['XOAUTH2'] })
  const answers: { status: number; body: object }[] = []
  await using provider = await startReceiver(
    (response) => {
      const { status, body } = answers.shift()!
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    },
    { plain: true },
  )
  const requested = (index: number) => Object.fromEntries(new URLSearchParams(provider.posts[index]!.body.toString()))
  const client = { client_id: 'client', client_secret: 'the-client-secret' }
  const oauth = { ...client, refresh_token: 'refresh-1', token_url: provider.url() }
  const place = { host: 'localhost', port: server.port, security: 'starttls' }
  const body = { name: 'Main', ...place, username: 'ada', oauth }
  const { id } = await create(app, '/mail-servers', body)
  const check = async (): Promise<Result> =>
    (await app.manage('POST', `/organization/mail-servers/${id}/test`)).body.data

  answers.push({ status: 200, body: { access_token: 'token-1', expires_in: 3599, refresh_token: 'refresh-2' } })
  expect((await check()).steps.at(-2)).toEqual({ step: 'auth', ok: true, detail: 'Signed in as ada with XOAUTH2.' })
  expect(requested(0)).toEqual({ grant_type: 'refresh_token', ...client, refresh_token: 'refresh-1' })
  // Providers may replace the refresh token with each request.
  const description = 'AADSTS70008: The refresh token refresh-2 of the-client-secret has expired.'
  answers.push({ status: 400, body: { error: 'invalid_grant', error_description: description } })
  const expired = last(await check())
  expect(requested(1).refresh_token).toBe('refresh-2')
  expect(expired.detail).toBe(
    `No access token from ${new URL(provider.url()).host}: it answered 400: invalid_grant: AADSTS70008: The refresh token … of … has expired. The refresh token is not valid any more. Grant access again, and enter the new one.`,
  )
  answers.push({ status: 200, body: { access_token: 'token-2' } })
  expect(last(await check()).detail).toMatch(/rejected the access token: 535 .*status: 401, .* Check that the/)
  answers.push({ status: 200, body: { access_token: 'bad\r\ntoken' } })
  expect(last(await check()).detail).toMatch(/the response has no access token/)
})

test('one organization tests few connections at a time, and delays no other', async () => {
  const [app, other] = [await newApp(), await newApp()]
  await using silent = await startRawSmtp({ answer: () => hang })
  await using working = await startRawSmtp()
  const statuses: number[] = []
  for (let i = 0; i < 100; i++)
    void app
      .manage('POST', '/organization/mail-servers/test', { host: '127.0.0.1', port: silent.port })
      .then(({ status }) => statuses.push(status))
  // All but two at a time, and four that wait.
  await until('the others to be rejected', () => statuses.length >= 94)
  expect(await run(other, { host: '127.0.0.1', port: working.port })).toMatchObject({ ok: true })
  expect(new Set(statuses)).toEqual(new Set([429]))
  await until('the others to end', () => {
    silent.resetHung()
    return statuses.length === 100
  })
  expect(statuses.slice(94)).toEqual(Array(6).fill(200))
  expect(silent.connections()).toBe(6)
})

test('a server that does not answer, or never ends its greeting, ends the test', async () => {
  const server = createServer((socket) => {
    const timer = setInterval(() => socket.write('220-x\r\n'), 20)
    socket.on('error', () => {}).on('close', () => clearInterval(timer))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  await using silent = await startRawSmtp({ answer: () => hang })
  for (const { port } of [server.address() as AddressInfo, silent]) {
    const target = targetOf({ host: '127.0.0.1', port }, undefined, { allowPrivate: true })
    expect(await testConnection(target, {}, 300)).toMatchObject({ ok: false })
  }
  server.close()
})

test('a name is connected to only if all of its addresses are public', async () => {
  const addresses: Record<string, string[]> = {
    'rebound.example.com': ['192.0.2.1', '127.0.0.1'],
    'v6.example.com': ['::ffff:10.0.0.1'],
  }
  const resolve = createResolveTarget({
    allowPrivate: false,
    resolve: async (name) => addresses[name]!.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  })
  for (const name of Object.keys(addresses)) await expect(resolve(name)).rejects.toThrow(/resolves to the non-public/)
  for (const literal of ['127.0.0.1', '::1', '169.254.169.254'])
    await expect(resolve(literal)).rejects.toThrow('is not a public address')

  const target = targetOf({ host: 'rebound.example.com', port: 587 }, undefined, { allowPrivate: true })
  const { steps } = await testConnection(target, { resolve }, 300)
  expect(steps.at(-1)!.detail).toContain('Use a mail server that is reachable from the internet.')
})
