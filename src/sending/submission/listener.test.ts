import { connect } from 'node:net'
import { createTransport } from 'nodemailer'
import { expect, test } from 'vitest'
import { elsewhere, localhost, testCa } from '../../../test/support/certificates.ts'
import { dialSmtp } from '../../../test/support/dial-smtp.ts'
import { freePort } from '../../../test/support/service.ts'
import { until } from '../../../test/support/until.ts'
import { withResolvers } from '../../../test/support/with-resolvers.ts'
import type { KnownKey } from '../../accounts/people/key-cache.ts'
import type { Certificate } from '../../platform/config/setting-files.ts'
import { RateLimit } from '../../platform/runtime/rate-limit.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { newId } from '../../platform/values/ids.ts'
import { type SubmissionOptions, type SubmittedEmail, startSubmission } from './listener.ts'
import { SmtpReply } from './smtp-reply.ts'

type Received = { organization: string; recipients: string[]; content: string }

const organizations = { acme: newId('org'), globex: newId('org'), initech: newId('org') }
const plain = (password: string) => `AUTH PLAIN ${Buffer.from(`\0waxwing\0${password}`).toString('base64')}`
const email = 'From: a@acme.example\r\nSubject: Hi\r\n\r\nHello\r\n'

/** Starts a listener on free ports, whose passwords are the names of organizations, and records the emails. */
async function start(change: Partial<SubmissionOptions> = {}) {
  const received: Received[] = []
  const failed: unknown[] = []
  const progress = { count: 0 }
  const listener = await startSubmission({
    host: '127.0.0.1',
    port: 0,
    tlsPort: undefined,
    name: 'mail.acme.example',
    certificate: undefined,
    newCertificate: () => undefined,
    signIn: async (password) => {
      if (!(password in organizations)) throw new SmtpReply(535, '5.7.8', 'The password must be a valid API key.')
      const key = { id: newId('key'), organizationId: organizations[password as 'acme'] } as KnownKey
      return { key, sender: { find: async () => key } }
    },
    keyLimit: new RateLimit({ perSecond: 0 }),
    accept: async ({ key, recipients, content }: SubmittedEmail) => {
      const chunks: Buffer[] = []
      for await (const chunk of content) {
        chunks.push(chunk)
        progress.count++
      }
      const organization = Object.entries(organizations).find(([, id]) => id === key.organizationId)![0]
      const addresses = recipients.map(({ email: address }) => address)
      received.push({ organization, recipients: addresses, content: Buffer.concat(chunks).toString() })
      return addresses.map((address) => `Queued ${address}`).join('\n')
    },
    log: {
      info: () => {},
      warn: () => {},
      error: (fields: unknown) => void failed.push(fields),
    } as SubmissionOptions['log'],
    stageRegistry: new StageRegistry(),
    ...change,
  })
  const port = listener.port!
  return { ...listener, port, received, failed, progress, [Symbol.asyncDispose]: listener.close }
}

async function signedIn(port: number, password = 'acme') {
  const client = await dialSmtp(port)
  await client.say('EHLO client')
  expect(await client.say(plain(password))).toMatch(/^235/)
  return client
}

async function atData(port: number, password = 'acme') {
  const client = await signedIn(port, password)
  await client.say('MAIL FROM:<a@acme.example>')
  await client.say('RCPT TO:<b@example.com>')
  expect(await client.say('DATA')).toMatch(/^354/)
  return client
}

test('offers its extensions, and accepts an email with a reply line for each recipient', async () => {
  await using it = await start()
  using client = await dialSmtp(it.port)
  expect(client.greeting).toBe('220 mail.acme.example ESMTP')
  expect((await client.say('EHLO client')).split('\r\n').map((line) => line.slice(4))).toEqual([
    ...['mail.acme.example', 'PIPELINING', '8BITMIME', 'ENHANCEDSTATUSCODES', 'AUTH PLAIN LOGIN'],
    'SIZE 26214400',
  ])
  expect(await client.say(plain('acme'))).toBe('235 2.7.0 Authentication successful')
  expect(await client.say('MAIL FROM:<a@acme.example>')).toBe('250 2.1.0 Accepted')
  expect(await client.say('RCPT TO:<b@example.com>')).toBe('250 2.1.5 Accepted')
  expect(await client.say('RCPT TO:<B@EXAMPLE.com>')).toBe('250 2.1.5 Accepted')
  expect(await client.say('RCPT TO:<c@BÜCHER.example>')).toBe('250 2.1.5 Accepted')
  await client.say('DATA')
  expect(await client.say(`${email}.`)).toBe(
    '250-2.6.0 Queued B@example.com\r\n250 2.6.0 Queued c@xn--bcher-kva.example',
  )
  expect(it.received).toEqual([
    { organization: 'acme', recipients: ['B@example.com', 'c@xn--bcher-kva.example'], content: email },
  ])
})

test('answers VRFY and HELP, and rejects addresses beyond ASCII', async () => {
  await using it = await start()
  using client = await signedIn(it.port)
  expect(await client.say('VRFY ada')).toMatch(/^252 2\./)
  expect(await client.say('HELP')).toMatch(/^214 2\.0\.0 /)
  await client.say('MAIL FROM:<a@acme.example>')
  expect(await client.say('RCPT TO:<jörg@example.com>')).toMatch(/^553 5\.1\.3 The recipient /)
})

test('signs in with PLAIN and LOGIN, and rejects a wrong password with 535 5.7.8', async () => {
  await using it = await start()
  using client = await dialSmtp(it.port)
  await client.say('EHLO client')
  expect(await client.say('MAIL FROM:<a@acme.example>')).toBe('530 5.7.0 Sign in first.')
  expect(await client.say(plain('unknown'))).toBe('535 5.7.8 The password must be a valid API key.')
  expect(await client.say('AUTH LOGIN')).toMatch(/^334 /)
  expect(await client.say(Buffer.from('anything').toString('base64'))).toMatch(/^334 /)
  expect(await client.say(Buffer.from('globex').toString('base64'))).toMatch(/^235 /)
})

test('with a certificate, nobody can sign in before TLS', async () => {
  await using it = await start({ certificate: localhost() })
  using client = await dialSmtp(it.port)
  const offer = await client.say('EHLO client')
  expect(offer).toContain('STARTTLS')
  expect(offer).not.toContain('AUTH')
  expect(await client.say(plain('acme'))).toMatch(/^538 /)
  expect(await client.say('MAIL FROM:<a@acme.example>')).toBe('530 5.7.0 Start TLS first.')
  expect(await client.say('STARTTLS')).toMatch(/^220 /)
  await client.startTls()
  expect(await client.say('EHLO client')).toContain('AUTH PLAIN LOGIN')
  expect(await client.say(plain('acme'))).toMatch(/^235 /)
})

test('ignores commands that an attacker adds before TLS', async () => {
  await using it = await start({ certificate: localhost() })
  using client = await dialSmtp(it.port)
  await client.say('EHLO client')
  client.write(`STARTTLS\r\nEHLO x\r\n${plain('acme')}\r\nMAIL FROM:<x@acme.example>\r\n`)
  expect(await client.reply()).toMatch(/^220 /)
  await client.startTls()
  expect(await client.say('MAIL FROM:<a@acme.example>')).toMatch(/^503 /)
  await client.say('EHLO client')
  expect(await client.say('MAIL FROM:<a@acme.example>')).toBe('530 5.7.0 Sign in first.')
})

test('sends over both ports with a client that checks the certificate', async () => {
  await using it = await start({ certificate: localhost(), tlsPort: 0 })
  const send = (port: number, secure: boolean) =>
    createTransport({
      ...{ host: '127.0.0.1', port, secure, requireTLS: true, tls: { ca: testCa() } },
      auth: { user: 'waxwing', pass: 'acme' },
    }).sendMail({ from: 'a@acme.example', to: 'b@example.com', subject: 'Hi', text: 'Hello' })
  expect((await send(it.port, false)).response).toBe('250 2.6.0 Queued b@example.com')
  expect((await send(it.tlsPort!, true)).response).toBe('250 2.6.0 Queued b@example.com')
  expect(it.received).toHaveLength(2)
})

test('uses a replaced certificate for the next connections, on both ports', async () => {
  const renewed: Certificate[] = []
  await using it = await start({ certificate: localhost(), tlsPort: 0, newCertificate: () => renewed.shift() })
  const implicitName = async () => {
    using client = await dialSmtp(it.tlsPort!, { tls: true })
    return client.certificateName()
  }
  expect(await implicitName()).toBe('localhost')
  renewed.push(elsewhere())
  expect(await implicitName()).not.toBe('localhost')
  using client = await dialSmtp(it.port)
  await client.say('EHLO client')
  await client.say('STARTTLS')
  await client.startTls()
  expect(client.certificateName()).not.toBe('localhost')
})

test('replies 451 4.7.1 over the rate of a key, and 4xx or 5xx as the email was rejected', async () => {
  await using it = await start({
    keyLimit: new RateLimit({ perSecond: 0.001, burst: 3 }),
    accept: async ({ content }) => {
      let text = ''
      for await (const chunk of content) text += chunk
      if (text.includes('rate')) throw new Refusal('rate_limited', 'Slow down.')
      if (text.includes('sender')) throw new Refusal('sender_not_verified', 'Not this sender.')
      throw new Error('a bug')
    },
  })
  using client = await signedIn(it.port)
  const replyTo = async (subject: string) => {
    const replies = [await client.say('MAIL FROM:<a@acme.example>'), await client.say('RCPT TO:<b@example.com>')]
    if (!replies[0]!.startsWith('250')) return replies[0]
    await client.say('DATA')
    return client.say(`Subject: ${subject}\r\n\r\n.`)
  }
  expect(await replyTo('rate')).toBe('451 4.7.1 Slow down.')
  expect(await replyTo('sender')).toBe('550 5.7.1 Not this sender.')
  expect(await replyTo('bug')).toBe('451 4.3.0 Temporary failure. Try again later.')
  expect(it.failed).toHaveLength(1)
  expect(await replyTo('more')).toMatch(/^451 4\.7\.1 /)
})

test('limits size and recipients', async () => {
  await using it = await start({ limits: { emailBytesMax: 10_000, discardedBytesMax: 100_000, recipientsMax: 2 } })
  using client = await signedIn(it.port)
  expect(await client.say('MAIL FROM:<a@acme.example> SIZE=10001')).toMatch(/^552 5\.3\.4 /)
  await client.say('MAIL FROM:<a@acme.example>')
  expect(await client.say('RCPT TO:<nobody>')).toMatch(/^5/)
  expect(await client.say('RCPT TO:<Üser@example.com>')).toMatch(/^553 5\.1\.3 /)
  await client.say('RCPT TO:<b@example.com>')
  await client.say('RCPT TO:<c@example.com>')
  expect(await client.say('RCPT TO:<d@example.com>')).toMatch(/^452 4\.5\.3 /)
  await client.say('DATA')
  expect(await client.say(`${'x'.repeat(20_000)}\r\n.`)).toMatch(/^552 5\.3\.4 /)
  expect(it.received).toEqual([])
  // The connection can be used for another email.
  await client.say('MAIL FROM:<a@acme.example>')
  await client.say('RCPT TO:<b@example.com>')
  await client.say('DATA')
  expect(await client.say(`${email}.`)).toMatch(/^250 /)
  // A client that never stops is disconnected.
  await client.say('MAIL FROM:<a@acme.example>')
  await client.say('RCPT TO:<b@example.com>')
  await client.say('DATA')
  client.write('x'.repeat(300_000))
  expect(await client.reply()).toMatch(/^421 4\.3\.4 /)
})

test('only a dot between two CRLF ends an email', async () => {
  await using it = await start()
  using client = await atData(it.port)
  const tricks = ['\n.\n', '\n.\r\n', '\r.\r', '\r\n.\n', '\r.\r\n']
  const smuggled = 'MAIL FROM:<x@acme.example>\r\nRCPT TO:<victim@example.com>\r\nDATA\r\n'
  client.write(`From: a@acme.example\r\n\r\n${tricks.map((end) => `${end}${smuggled}`).join('')}`)
  expect(await client.say('\r\n.')).toMatch(/^250 /)
  expect(it.received).toHaveLength(1)
  expect(it.received[0]!.content).toContain('victim@example.com')
  expect(await client.say('NOOP')).toMatch(/^250 /)
})

test('lines that begin with a dot are read in few chunks', async () => {
  await using it = await start()
  using client = await atData(it.port)
  const lines = '..:\r\n'.repeat(20_000)
  expect(await client.say(`${email}${lines}.`)).toMatch(/^250 /)
  expect(it.received[0]!.content).toBe(`${email}${lines.replaceAll('..', '.')}`)
  expect(it.progress.count).toBeLessThan(10)
})

test('an email that breaks off is not accepted', async () => {
  let ended: unknown
  await using it = await start({
    accept: async ({ content }) => {
      try {
        for await (const _ of content);
      } catch (error) {
        ended = error
        throw error
      }
      return 'accepted'
    },
  })
  using client = await atData(it.port)
  client.write('From: a@acme.example\r\n\r\nHello')
  client.socket.destroy()
  await until('the email to break off', () => ended !== undefined)
  expect(it.received).toEqual([])
  await it.close()
  expect(it.failed).toEqual([])
})

test('closes connections that take too long to sign in, to continue or to finish', async () => {
  await using it = await start({ limits: { signInMs: 300, idleMs: 600, transactionMs: 900 } })
  using stranger = await dialSmtp(it.port)
  expect(await stranger.reply()).toBe('closed')
  using idle = await signedIn(it.port)
  expect(await idle.reply()).toMatch(/^421 4\.4\.2 /)
  using slow = await atData(it.port)
  const drip = setInterval(() => slow.write('x'), 50)
  expect(await slow.reply()).toMatch(/^421 4\.4\.2 /)
  clearInterval(drip)
})

test.each([{ anonymousConnectionsMax: 5 }, { connectionsPerAddressMax: 5 }, { connectionsMax: 5 }])(
  'connections that never sign in do not keep others out: %o',
  async (limits) => {
    await using it = await start({ limits })
    const strangers = Array.from({ length: 12 }, () => connect(it.port, '127.0.0.1'))
    for (const socket of strangers) socket.on('error', () => {})
    await until('the oldest to be closed', () => strangers.filter(({ closed }) => closed).length >= 7)
    using client = await signedIn(it.port)
    expect(await client.say('NOOP')).toMatch(/^250 /)
    for (const socket of strangers) socket.destroy()
  },
)

test('limits the connections of an address', async () => {
  await using it = await start({ limits: { connectionsPerAddressMax: 2 } })
  using first = await signedIn(it.port)
  using second = await signedIn(it.port, 'globex')
  using third = await dialSmtp(it.port)
  expect(third.greeting).toBe('421 4.7.0 Too many connections. Try again later.')
  using other = await dialSmtp(it.port, { localAddress: '127.0.0.2' })
  expect(other.greeting).toMatch(/^220 /)
  first.socket.destroy()
  await until('the connection to be counted no more', async () => {
    using next = await dialSmtp(it.port)
    return next.greeting.startsWith('220')
  })
  expect(await second.say('NOOP')).toMatch(/^250 /)
})

test('one organization uses its share of connections and emails, and leaves room for another', async () => {
  await using it = await start({
    limits: { connectionsPerOrganizationMax: 3, transactionsPerOrganizationMax: 2, transactionsMax: 3 },
  })
  using one = await atData(it.port)
  using two = await atData(it.port)
  using three = await signedIn(it.port)
  expect(await three.say('MAIL FROM:<a@acme.example>')).toMatch(/^451 4\.7\.1 /)
  using four = await dialSmtp(it.port)
  await four.say('EHLO client')
  expect(await four.say(plain('acme'))).toMatch(/^454 4\.7\.0 /)
  using other = await atData(it.port, 'globex')
  expect(await other.say(`${email}.`)).toMatch(/^250 /)
  expect(await one.say(`${email}.`)).toMatch(/^250 /)
  expect(await three.say('MAIL FROM:<a@acme.example>')).toMatch(/^250 /)
  expect(await two.say(`${email}.`)).toMatch(/^250 /)
})

test('at the limit of all emails, the slowest of the organization with most of them makes room', async () => {
  await using it = await start({ limits: { transactionsPerOrganizationMax: 3, transactionsMax: 4 } })
  using one = await atData(it.port)
  using two = await atData(it.port)
  using three = await atData(it.port)
  using other = await atData(it.port, 'globex')
  const beginning = `From: a@acme.example\r\n${'X-Long: yes\r\n'.repeat(1_500)}`
  one.write(beginning)
  three.write(beginning)
  await until('both to have made progress', () => it.progress.count === 2)
  using third = await atData(it.port, 'initech')
  expect(await two.reply()).toMatch(/^421 4\.4\.2 /)
  expect(await third.say(`${email}.`)).toMatch(/^250 /)
  for (const client of [three, one, other]) expect(await client.say(`${email}.`)).toMatch(/^250 /)
})

test('a client that sends an email too slowly is disconnected', async () => {
  await using it = await start({ limits: { minimumRate: { bytesPerSecond: 1_000, graceMs: 300 } } })
  using slow = await atData(it.port)
  const drip = setInterval(() => slow.write('x'), 50)
  expect(await slow.reply()).toMatch(/^421 4\.4\.2 The email is sent too slowly/)
  clearInterval(drip)
})

test('an email that takes too long to be stored is read by nothing else, and its connection is closed', async () => {
  const { promise: wait, resolve: continueReading } = withResolvers()
  let outcome: unknown
  await using it = await start({
    limits: { transactionMs: 300 },
    accept: async ({ content }) => {
      await wait
      const chunks: Buffer[] = []
      try {
        for await (const chunk of content) chunks.push(chunk)
        outcome = Buffer.concat(chunks).toString()
      } catch (error) {
        outcome = error
      }
      return ''
    },
  })
  using client = await atData(it.port)
  client.write(email)
  expect(await client.reply()).toMatch(/^421 /)
  continueReading()
  await until('the email to be read', () => outcome !== undefined)
  // All of it or an error, but not a part.
  expect(outcome === email || outcome instanceof Error).toBe(true)
})

test('waits for an email that is being received when it stops, and closes other connections', async () => {
  const it = await start()
  using idle = await signedIn(it.port)
  using busy = await atData(it.port)
  const closed = it.close()
  expect(await idle.reply()).toMatch(/^421 4\.3\.2 /)
  expect(await busy.say(`${email}.`)).toMatch(/^250 /)
  expect(await busy.reply()).toMatch(/^421 4\.3\.2 /)
  await closed
  expect(it.received).toHaveLength(1)
})

test('listens on both ports or on none', async () => {
  await using it = await start()
  const port = await freePort()
  await expect(start({ certificate: localhost(), port, tlsPort: it.port })).rejects.toThrow('EADDRINUSE')
  const { greeting } = await dialSmtp(port)
  expect(greeting).toBe('closed')
})
