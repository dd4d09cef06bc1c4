import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { expect, test } from 'vitest'
import { localhost, testCa } from '../../../test/support/certificates.ts'
import { hang, startRawSmtp } from '../../../test/support/raw-smtp.ts'
import { openSmtp } from '../src/connection.ts'
import type { HandshakeStep } from '../src/handshake.ts'
import { parseSmtpUrl } from '../src/url.ts'

/** A real server that accepts one access token, and explains why it rejects others, as Google does. */
async function startTokenServer() {
  const server = new SMTPServer({
    ...localhost(),
    authMethods: ['XOAUTH2'],
    disableReverseLookup: true,
    onAuth: ({ username, accessToken }, _session, done) =>
      username === 'ada@example.com' && accessToken === 'token-1'
        ? done(null, { user: username })
        : done(null, { data: { status: '400', schemes: 'Bearer', scope: 'https://mail.google.com/' } }),
  })
  server.on('error', () => {})
  server.listen(0)
  await once(server.server, 'listening')
  return {
    target: parseSmtpUrl(`smtp://localhost:${(server.server.address() as AddressInfo).port}?tls=required`),
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}

test('signs in with an access token, and reports every step', async () => {
  await using server = await startTokenServer()
  const steps: HandshakeStep[] = []
  const opened = await openSmtp(server.target, {
    ca: testCa(),
    oauth: { user: 'ada@example.com', accessToken: async () => 'token-1' },
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    onStep: (step) => steps.push(step),
  })
  expect(opened.kind).toBe('open')
  if (opened.kind === 'open') opened.connection.quit()
  expect(steps).toMatchObject([
    { step: 'resolve', addresses: ['127.0.0.1'] },
    { step: 'connect', address: '127.0.0.1' },
    { step: 'greeting', text: expect.stringMatching(/^220 /) },
    { step: 'ehlo', extensions: expect.arrayContaining(['STARTTLS']) },
    { step: 'tls', protocol: 'TLSv1.3', subject: 'localhost', expiresAt: expect.any(Date) },
    { step: 'ehlo', extensions: expect.arrayContaining([expect.stringMatching(/^AUTH XOAUTH2/)]) },
    { step: 'auth', method: 'XOAUTH2' },
  ])
})

test('a rejected access token is reported with the reason of the server, and without the token', async () => {
  await using server = await startTokenServer()
  let rejected = 0
  const oauth = { user: 'ada@example.com', accessToken: async () => 'expired-token', onRejected: () => rejected++ }
  const opened = await openSmtp(server.target, { ca: testCa(), oauth })
  expect(opened).toMatchObject({ kind: 'unreachable', step: 'auth', replyCode: 535 })
  expect(opened).toMatchObject({
    reason: expect.stringMatching(/rejected the access token: 535 .*\(status: 400, schemes: Bearer, scope: https/),
  })
  expect(JSON.stringify(opened)).not.toContain('expired-token')
  expect(rejected).toBe(1)
})

test('an access token that cannot be obtained is the reason', async () => {
  await using server = await startTokenServer()
  const accessToken = () => Promise.reject(new Error('login.example.com answered 400: invalid_grant'))
  const opened = await openSmtp(server.target, { ca: testCa(), oauth: { user: 'ada@example.com', accessToken } })
  expect(opened).toMatchObject({ step: 'auth', reason: 'login.example.com answered 400: invalid_grant' })
})

test('does not sign in by token if the relay does not offer it', async () => {
  await using raw = await startRawSmtp({ extensions: ['AUTH PLAIN LOGIN'] })
  const oauth = { user: 'ada@example.com', accessToken: async () => 'token-1' }
  const opened = await openSmtp(parseSmtpUrl(raw.url), { oauth })
  expect(opened).toMatchObject({ reason: expect.stringMatching(/does not support AUTH XOAUTH2/) })
  expect(raw.commands).toEqual([expect.stringMatching(/^EHLO/)])
})

test('a password that the server repeats is not part of the reason', async () => {
  await using raw = await startRawSmtp({
    extensions: ['AUTH PLAIN'],
    answer: ({ verb, line }) => (verb === 'AUTH' ? `535 5.7.8 secret-password is wrong: ${line}` : undefined),
  })
  const opened = await openSmtp(parseSmtpUrl(`smtp://ada:secret-password@127.0.0.1:${raw.port}`))
  expect(opened).toMatchObject({ reason: expect.stringMatching(/: 535 5.7.8 … is wrong: AUTH PLAIN …$/) })
})

test('connects only to the addresses that were checked, and not at all if they are not allowed', async () => {
  await using raw = await startRawSmtp()
  const target = parseSmtpUrl(`smtp://mail.example.com:${raw.port}`)
  const open = await openSmtp(target, { resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
  expect(open.kind).toBe('open')
  if (open.kind === 'open') open.connection.quit()
  const resolve = (host: string) => Promise.reject(new Error(`${host} is not a public address`))
  const literal = await openSmtp(parseSmtpUrl(raw.url), { resolve })
  expect(literal).toMatchObject({ step: 'resolve', reason: '127.0.0.1 is not a public address' })
  expect(raw.connections()).toBe(1)
})

test('the handshake as a whole has a deadline', async () => {
  await using raw = await startRawSmtp({ answer: ({ verb }) => (verb === 'EHLO' ? hang : undefined) })
  const opened = await openSmtp(parseSmtpUrl(raw.url), { limits: { handshakeMs: 300 } })
  expect(opened).toMatchObject({ step: 'ehlo', code: 'ETIMEDOUT' })
})
