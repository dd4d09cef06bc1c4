import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { expect, test } from 'vitest'
import { elsewhere, localhost, testCa } from '../../../test/support/certificates.ts'
import { type Answer, close, hang, type RawSmtpOptions, reset, startRawSmtp } from '../../../test/support/raw-smtp.ts'
import { openSmtp } from '../src/connection.ts'
import { toWireData } from '../src/data.ts'
import { parseSmtpUrl, type SmtpTarget } from '../src/url.ts'

/** Only for servers that hang: on a busy machine, even a fast reply may exceed it. */
const short = { connectMs: 150, greetingMs: 150, commandMs: 150 }

type Session = { secure: boolean; user: string | undefined }

/** A real server that records for each email whether it was encrypted and who authenticated. */
async function startServer(options: SMTPServerOptions) {
  const sessions: Session[] = []
  const server = new SMTPServer({
    ...localhost(),
    authOptional: true,
    disableReverseLookup: true,
    onAuth: (auth, _session, done) =>
      auth.username === 'ada' && auth.password === 'lövelace'
        ? done(null, { user: 'ada' })
        : done(new Error('Invalid login')),
    onData(stream, session, done) {
      sessions.push({ secure: session.secure, user: (session.user as string) || undefined })
      stream.resume().on('end', () => done())
    },
    ...options,
  })
  server.on('error', () => {})
  server.listen(0)
  await once(server.server, 'listening')
  return {
    port: (server.server.address() as AddressInfo).port,
    sessions,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}

/** Returns the outcome of one email over a new connection, or why it could not be opened. */
async function deliver(url: string, change: Partial<SmtpTarget> = {}, ca = testCa()): Promise<string> {
  const opened = await openSmtp({ ...parseSmtpUrl(url), ...change }, { ca })
  if (opened.kind === 'unreachable') return opened.reason
  const data = toWireData('Subject: x\r\n\r\nx\r\n')
  const outcome = await opened.connection.send({ from: 'a@example.com', to: 'b@example.com' }, data, () => {})
  opened.connection.quit()
  return outcome.kind
}

test('smtps uses TLS from the first byte and verifies the certificate', async () => {
  await using server = await startServer({ secure: true })
  expect(await deliver(`smtps://localhost:${server.port}`)).toBe('accepted')
  expect(await deliver(`smtps://127.0.0.1:${server.port}`)).toBe('accepted')
  expect(await deliver(`smtps://localhost:${server.port}`, {}, elsewhere().cert)).toMatch(/unable to .*certificate/)
  expect(await deliver(`smtps://localhost:${server.port}?tls_verify=false`, {}, elsewhere().cert)).toBe('accepted')
  expect(server.sessions).toEqual(Array.from({ length: 3 }, () => ({ secure: true, user: undefined })))
})

test('uses STARTTLS if offered, with any certificate, unless it is off', async () => {
  await using server = await startServer({ ...elsewhere() })
  expect(await deliver(`smtp://localhost:${server.port}`)).toBe('accepted')
  expect(await deliver(`smtp://localhost:${server.port}?tls=off`)).toBe('accepted')
  expect(server.sessions.map((session) => session.secure)).toEqual([true, false])
})

test('with tls=required, rejects a certificate for another name unless tls_verify=false', async () => {
  await using good = await startServer({})
  expect(await deliver(`smtp://localhost:${good.port}?tls=required`)).toBe('accepted')
  await using bad = await startServer({ ...elsewhere() })
  expect(await deliver(`smtp://localhost:${bad.port}?tls=required`)).toMatch(/does not match certificate/)
  expect(await deliver(`smtp://localhost:${bad.port}?tls=required&tls_verify=false`)).toBe('accepted')
  expect(bad.sessions).toEqual([{ secure: true, user: undefined }])
})

test('with tls=required, sends nothing to a relay without STARTTLS', async () => {
  await using server = await startServer({ disabledCommands: ['STARTTLS'] })
  expect(await deliver(`smtp://localhost:${server.port}?tls=required`)).toMatch(
    /does not support STARTTLS; add \?tls=off/,
  )
  expect(await deliver(`smtp://localhost:${server.port}`)).toBe('accepted')
  await using raw = await startRawSmtp({
    extensions: ['STARTTLS'],
    answer: ({ verb }) => (verb === 'STARTTLS' ? '454 4.7.0 Not now' : undefined),
  })
  expect(await deliver(`${raw.url}?tls=required`)).toMatch(/rejected STARTTLS: 454 4.7.0 Not now/)
  expect(await deliver(raw.url)).toBe('accepted')
})

test('authenticates with AUTH PLAIN and AUTH LOGIN, and reports a wrong password', async () => {
  for (const method of ['PLAIN', 'LOGIN']) {
    await using server = await startServer({ authMethods: [method], authOptional: false })
    const at = `localhost:${server.port}`
    expect(await deliver(`smtp://ada:l%C3%B6velace@${at}?tls=required`)).toBe('accepted')
    expect(await deliver(`smtp://ada:wrong@${at}?tls=required`)).toMatch(/rejected the user name or password: 535/)
    expect(await deliver(`smtp://${at}`)).toBe('unreachable')
    expect(server.sessions).toEqual([{ secure: true, user: 'ada' }])
  }
})

test('fails if there is a password but no supported AUTH method', async () => {
  await using none = await startRawSmtp()
  expect(await deliver(`smtp://u:p@127.0.0.1:${none.port}`)).toMatch(/supports neither AUTH PLAIN nor AUTH LOGIN/)
})

test('never sends a password without encryption to another machine unless tls=off is set', async () => {
  const answer: RawSmtpOptions['answer'] = ({ verb }) => (verb === 'AUTH' ? '235 2.7.0 Ok' : undefined)
  await using server = await startRawSmtp({ extensions: ['AUTH PLAIN'], answer })
  const said = () => server.commands.splice(0).filter((command) => command.startsWith('AUTH'))
  // 0.0.0.0 is not recognized as a loopback address, but reaches this machine.
  const other = { host: '0.0.0.0', port: server.port }
  expect(await deliver('smtp://u:p@relay.example.com', other)).toMatch(/does not support STARTTLS/)
  expect(said()).toEqual([])
  expect(await deliver('smtp://u:p@relay.example.com', { ...other, tls: 'opportunistic' })).toMatch(
    /not sent without encryption/,
  )
  expect(said()).toEqual([])
  expect(await deliver('smtp://u:p@relay.example.com?tls=off', other)).toBe('accepted')
  expect(said()).toHaveLength(1)
  expect(await deliver(`smtp://u:p@127.0.0.1:${server.port}`)).toBe('accepted')
  expect(said()).toHaveLength(1)
})

test('rejects replies injected after the reply to STARTTLS', async () => {
  for (const extra of ['250 AUTH PLAIN\r\n', '250-AUTH PLAIN\r\n', '25']) {
    await using server = await startRawSmtp({
      extensions: ['STARTTLS'],
      answer: ({ verb }) => (verb === 'STARTTLS' ? Buffer.from(`220 Go\r\n${extra}`) : undefined),
    })
    const opened = await openSmtp(parseSmtpUrl(server.url))
    expect(opened).toMatchObject({
      kind: 'unreachable',
      reason: expect.stringMatching(/unexpected reply|sent unencrypted data after its reply to STARTTLS/),
    })
    expect(server.commands).toEqual([expect.stringMatching(/^EHLO/), 'STARTTLS'])
  }
})

test('falls back to HELO and plain SMTP', async () => {
  await using server = await startRawSmtp({ answer: ({ verb }) => (verb === 'EHLO' ? '502 5.5.1 What' : undefined) })
  expect(await deliver(`${server.url}?name=mail.example.com`)).toBe('accepted')
  expect(server.commands.slice(0, 5)).toEqual([
    'EHLO mail.example.com',
    'HELO mail.example.com',
    'MAIL FROM:<a@example.com>',
    'RCPT TO:<b@example.com>',
    'DATA',
  ])
})

/** Returns why no connection could be opened to a scripted server. */
async function whyNot(script: Record<string, Answer>, query = '', limits = {}): Promise<string> {
  await using server = await startRawSmtp({
    extensions: ['STARTTLS', 'AUTH LOGIN PLAIN'],
    answer: ({ verb }) => script[verb],
  })
  const opened = await openSmtp(parseSmtpUrl(`smtp://u:p@127.0.0.1:${server.port}${query}`), { limits })
  return opened.kind === 'unreachable' ? opened.reason : opened.kind
}

test('a relay that rejects the handshake is unreachable, with its reply as the reason', async () => {
  expect(await whyNot({ greeting: '554 No' })).toMatch(/does not accept email: 554 No$/)
  expect(await whyNot({ greeting: '421 Full' })).toMatch(/does not accept email: 421 Full$/)
  expect(await whyNot({ EHLO: '550 Go away', HELO: '550 Go away' })).toMatch(/rejected our host name: 550 Go away$/)
  expect(await whyNot({ AUTH: '535 5.7.8 No' }, '?tls=off')).toMatch(
    /rejected the user name or password: 535 5.7.8 No$/,
  )
  const gone = await startRawSmtp()
  await gone.close()
  expect(await openSmtp(parseSmtpUrl(gone.url))).toEqual({
    kind: 'unreachable',
    reason: `127.0.0.1:${gone.port} refused the connection`,
    step: 'connect',
    code: 'ECONNREFUSED',
  })
})

for (const verb of ['greeting', 'EHLO', 'STARTTLS', 'AUTH'])
  test(`a relay that hangs, disconnects or sends garbage at ${verb} is unreachable`, async () => {
    const query = verb === 'STARTTLS' ? '' : '?tls=off'
    expect(await whyNot({ [verb]: hang }, query, short)).toMatch(/did not answer within 0.15 s$/)
    expect(await whyNot({ [verb]: reset }, query)).toMatch(/reset the connection$/)
    expect(await whyNot({ [verb]: close }, query)).toMatch(/closed the connection$/)
    expect(await whyNot({ [verb]: 'nonsense' }, query)).toMatch(/does not speak SMTP: "nonsense"$/)
    expect(await whyNot({ [verb]: '250-x\r\n'.repeat(5000) }, query)).toMatch(/reply is longer than 16384 bytes$/)
  })

test('a relay that accepts STARTTLS but does not start TLS is unreachable', async () => {
  expect(await whyNot({ STARTTLS: '220 Go' }, '', short)).toMatch(/did not answer within 0.15 s$/)
})

test('an unreadable CA certificate makes the relay unreachable', async () => {
  await using server = await startServer({ secure: true })
  const broken = testCa().replace(/[A-Z]{4}/, '!!!!')
  expect(await deliver(`smtps://localhost:${server.port}`, {}, broken)).toMatch(/PEM|base64|certificate/i)
})
