import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { SMTPServer } from 'smtp-server'
import { expect, test } from 'vitest'
import { localhost, testCa } from '../../../test/support/certificates.ts'
import { type Answer, hang, reset, type Step, startRawSmtp } from '../../../test/support/raw-smtp.ts'
import { freePort } from '../../../test/support/service.ts'
import { until as eventually } from '../../../test/support/until.ts'
import { openRelay, type RelayOptions } from '../src/relay.ts'
import type { RelayState, SendOptions, SendOutcome, Transport } from '../src/transport.ts'

const longTimeout = { timeout: 20_000 }
const quick = { retryDelayMsMin: 20, retryDelayMsMax: 100 }

/** Opens a relay that is closed at the end of the test, and can wait for its next state. */
function open(url: string, options: RelayOptions = {}) {
  const states: RelayState[] = []
  const waitsMs: number[] = []
  let wake = () => {}
  const relay = openRelay(url, {
    ...options,
    relayLimits: { ...quick, ...options.relayLimits },
    onState: (state) => {
      states.push(state)
      if (state.kind === 'down') waitsMs.push(state.nextTryAt.getTime() - Date.now())
      wake()
    },
  })
  const until = async (done: (states: RelayState[]) => boolean) => {
    while (!done(states))
      await new Promise<void>((resolve) => {
        wake = resolve
      })
  }
  return { relay, states, waitsMs, until, [Symbol.asyncDispose]: () => relay.close() }
}

/** Holds on slow machines as well: the announced delay is never exceeded, and never shortened. */
function expectDoubling(it: { states: RelayState[]; waitsMs: number[] }, firstMs: number, longestMs: number) {
  const tries = it.states.flatMap((state) => (state.kind === 'down' ? [state.nextTryAt.getTime()] : []))
  for (const [i, announced] of it.waitsMs.entries()) {
    const plain = Math.min(longestMs, firstMs * 2 ** i)
    expect(announced).toBeLessThanOrEqual(Math.min(longestMs, plain * 1.25) + 1)
    if (i > 0) expect(tries[i]! - tries[i - 1]!).toBeGreaterThanOrEqual(plain * 0.75 - 2)
  }
}

const mailTo = (name: string | number) => ({ from: 'sender@example.com', to: `${name}@example.com` })
const send = (relay: Transport, name: string | number, options?: SendOptions) =>
  relay.send({ envelope: mailTo(name), raw: `Subject: ${name}\r\n\r\nHi\r\n` }, options)
const kinds = (outcomes: SendOutcome[]) => [...new Set(outcomes.map((outcome) => outcome.kind))]
const sendAll = (relay: Transport, count: number) =>
  Promise.all(Array.from({ length: count }, (_, i) => send(relay, i)))

test('sends many emails over a few connections, each once', async () => {
  await using server = await startRawSmtp()
  await using it = open(server.url, { connections: 3, relayLimits: { mailsPerSlot: 10 } })
  expect(it.relay.capacity()).toBe(30)
  const outcomes = Array.from({ length: 30 }, (_, i) => send(it.relay, i))
  expect(it.relay.capacity()).toBe(0)
  expect(await send(it.relay, 'one too many')).toMatchObject({ kind: 'unreachable' })
  expect(kinds(await Promise.all(outcomes))).toEqual(['accepted'])
  expect(it.relay.capacity()).toBe(30)
  expect(server.connections()).toBe(3)
  expect(server.mails.map((mail) => mail.to).sort()).toEqual(Array.from({ length: 30 }, (_, i) => mailTo(i).to).sort())
})

test('an email gets its own reply if the relay answers the end of one and rejects the next at once', async () => {
  const isBad = (name: number) => name % 3 === 1
  const answer = ({ verb, line }: Step) =>
    verb === 'RCPT' && isBad(Number(/<(\d+)@/.exec(line)![1])) ? '550 5.1.1 No such user' : undefined
  await using server = await startRawSmtp({ answer })
  await using it = open(server.url, { connections: 1, relayLimits: { mailsPerSlot: 30 } })
  const outcomes = await sendAll(it.relay, 30)
  expect(outcomes.map(({ kind }) => kind)).toEqual(outcomes.map((_, name) => (isBad(name) ? 'refused' : 'accepted')))
  expect(server.connections()).toBe(1)
})

test('a large email is read in chunks once a connection is free, and emails before and after it arrive', async () => {
  await using server = await startRawSmtp({ extensions: ['PIPELINING'] })
  await using it = open(server.url, { connections: 1 })
  const line = Buffer.from(`${'.x'.repeat(38)}\r\n`)
  const chunk = Buffer.concat(Array.from({ length: 1_000 }, () => line))
  let read = 0
  const large = {
    size: chunk.length * 50,
    isAscii: true,
    async *chunks() {
      for (; read < 50; read++) yield chunk
    },
  }
  const before = send(it.relay, 'before')
  const outcome = it.relay.send({ envelope: mailTo('large'), raw: large })
  expect(read).toBe(0)
  const after = send(it.relay, 'after')
  expect(kinds(await Promise.all([before, outcome, after]))).toEqual(['accepted'])
  expect(server.mails.map(({ to }) => to)).toEqual(['before@example.com', 'large@example.com', 'after@example.com'])
  expect(server.mails[1]!.raw.equals(Buffer.concat(Array.from({ length: 50 }, () => chunk)))).toBe(true)
})

test('if a large email cannot be read, its sending fails, nothing arrives of it, and the next email does', async () => {
  await using server = await startRawSmtp()
  await using it = open(server.url, { connections: 1 })
  const unreadable = {
    size: 100,
    isAscii: true,
    async *chunks() {
      yield Buffer.from('Subject: Half\r\n')
      throw new Error('the disk is gone')
    },
  }
  const outcome = it.relay.send({ envelope: mailTo('half'), raw: unreadable })
  const after = send(it.relay, 'after')
  await expect(outcome).rejects.toThrow('the disk is gone')
  expect(await after).toMatchObject({ kind: 'accepted' })
  expect(server.mails.map(({ to }) => to)).toEqual(['after@example.com'])
  expect(it.relay.capacity()).toBe(50)
})

test('a smaller pool closes its surplus connections, and loses no email', async () => {
  await using server = await startRawSmtp()
  await using it = open(server.url, { connections: 4 })
  const first = sendAll(it.relay, 100)
  await eventually('some emails', () => server.mails.length >= 20)
  void it.relay.resize(1)
  expect(kinds(await first)).toEqual(['accepted'])
  await eventually(
    'three connections to be closed',
    () => server.commands.filter((line) => line === 'QUIT').length === 3,
  )
  expect(kinds(await sendAll(it.relay, 20))).toEqual(['accepted'])
  expect(server.connections()).toBe(4)
  void it.relay.resize(3)
  expect(kinds(await sendAll(it.relay, 20))).toEqual(['accepted'])
  expect(server.connections()).toBe(6)
  expect(server.mails).toHaveLength(140)
})

test('bulk emails have a limit of their own and wait while other emails wait', async () => {
  await using server = await startRawSmtp()
  await using it = open(server.url, { connections: 1, relayLimits: { mailsPerSlot: 10 } })
  const sendBulk = (name: string) => send(it.relay, name, { bulk: true })
  const bulk = Array.from({ length: 10 }, (_, i) => sendBulk(`bulk${i}`))
  expect([it.relay.capacity({ bulk: true }), it.relay.capacity()]).toEqual([0, 10])
  expect(await sendBulk('one too many')).toMatchObject({ kind: 'unreachable' })
  const others = Array.from({ length: 5 }, (_, i) => send(it.relay, i))
  expect(kinds(await Promise.all([...bulk, ...others]))).toEqual(['accepted'])
  const order = server.mails.map((mail) => mail.to)
  const lastOther = Math.max(...Array.from({ length: 5 }, (_, i) => order.indexOf(mailTo(i).to)))
  // All of them were waiting when the connection was opened.
  expect(lastOther).toBe(4)
  expect(it.relay.capacity({ bulk: true })).toBe(10)
})

test('builds an email when a connection is free, and leaves out those that cannot be built or are withdrawn', async () => {
  await using server = await startRawSmtp()
  await using it = open(server.url, { connections: 1 })
  const written: number[] = []
  const write = (i: number) => () => {
    if (i === 1) throw new Error('no such template')
    if (i === 2) return { skip: 'too late' }
    written.push(i)
    return { envelope: mailTo(i), raw: `Subject: ${i}\r\n\r\nHi\r\n` }
  }
  const before = it.relay.capacity()
  const outcomes = [0, 1, 2, 3].map((i) => it.relay.send(write(i)))
  expect(written).toEqual([])
  const settled = await Promise.allSettled(outcomes)
  expect(settled.map((each) => (each.status === 'fulfilled' ? each.value.kind : each.status))).toEqual([
    'accepted',
    'rejected',
    'withdrawn',
    'accepted',
  ])
  expect(server.mails.map((mail) => mail.to)).toEqual([mailTo(0).to, mailTo(3).to])
  expect(it.relay.capacity()).toBe(before)
})

test('closes a connection with QUIT after its limit of emails or when idle', async () => {
  await using server = await startRawSmtp()
  await using busy = open(server.url, {
    connections: 1,
    relayLimits: { mailsPerConnection: 3, idleMs: 50 },
  })
  expect(kinds(await sendAll(busy.relay, 7))).toEqual(['accepted'])
  expect(server.connections()).toBe(3)
  const goodbyes = () => server.commands.filter((command) => command === 'QUIT').length
  await expect.poll(goodbyes, longTimeout).toBe(3)
  expect(busy.relay.state()).toEqual({ kind: 'up' })
  expect(await send(busy.relay, 'later')).toMatchObject({ kind: 'accepted' })
  expect(server.connections()).toBe(4)
})

test('returns unreachable while the relay is down, and detects its recovery without an email', async () => {
  const port = await freePort()
  await using it = open(`smtp://127.0.0.1:${port}`)
  const before = Date.now()
  expect(kinds(await sendAll(it.relay, 5))).toEqual(['unreachable'])
  const state = it.relay.state()
  expect(state).toMatchObject({ kind: 'down', reason: `127.0.0.1:${port} refused the connection` })
  if (state.kind === 'down') {
    expect(state.since.getTime()).toBeGreaterThanOrEqual(before)
    expect(state.nextTryAt.getTime()).toBeGreaterThan(state.since.getTime())
  }
  expect(it.relay.capacity()).toBe(0)
  expect(await send(it.relay, 'meanwhile')).toEqual({
    kind: 'unreachable',
    reason: expect.stringContaining('refused'),
  })

  await using server = await startRawSmtp({ port })
  await it.until((states) => states.at(-1)?.kind === 'up')
  expect(server.connections()).toBe(1)
  expect(it.relay.state()).toEqual({ kind: 'up' })
  expect(await send(it.relay, 'ada')).toMatchObject({ kind: 'accepted' })
})

test('tries one connection at a time while the relay is down, with delays that double up to the maximum', async () => {
  // The first five connections fail together, so that none is tried again before the last of them has failed.
  const answer = ({ verb, connection }: Step): Answer | undefined => {
    if (verb !== 'greeting') return undefined
    if (connection < 5) return hang
    if (connection === 5) server.resetHung()
    return '421 4.3.2 Down'
  }
  await using server = await startRawSmtp({ answer })
  await using it = open(server.url, { relayLimits: { retryDelayMsMin: 16, retryDelayMsMax: 100 } })
  expect(kinds(await sendAll(it.relay, 5))).toEqual(['unreachable'])
  expect(server.connections()).toBe(5)
  await it.until((states) => states.length === 7)
  expect(server.connections()).toBe(5 + 6)
  expectDoubling(it, 16, 100)
  const since = it.states.map((state) => state.kind === 'down' && state.since.getTime())
  expect(new Set(since).size).toBe(1)
})

test('sends all emails over fewer connections if the relay limits them', async () => {
  await using server = await startRawSmtp({
    answer: ({ verb, connection }) =>
      verb === 'greeting' && connection > 2 ? '421 4.7.0 Too many connections' : undefined,
  })
  await using it = open(server.url)
  const outcomes = await sendAll(it.relay, 100)
  expect(kinds(outcomes)).toEqual(['accepted'])
  expect(it.relay.state()).toEqual({ kind: 'up' })
})

test('retries an email on another connection if the relay closed an old one', async () => {
  for (const fault of ['421 4.7.0 Enough mails on this connection', reset] as const) {
    const seen = new Map<number, number>()
    const secondMail = ({ verb, connection }: Step): Answer | undefined => {
      if (verb !== 'MAIL') return undefined
      seen.set(connection, (seen.get(connection) ?? 0) + 1)
      return seen.get(connection) === 2 ? fault : undefined
    }
    await using server = await startRawSmtp({ answer: secondMail })
    await using it = open(server.url, { connections: 1 })
    expect(kinds(await sendAll(it.relay, 10))).toEqual(['accepted'])
    expect(server.mails).toHaveLength(10)
    expect(it.states).toEqual([])
  }
})

test('emails are sent over further connections if every connection waits for the end of an email', async () => {
  let silent = 2
  await using server = await startRawSmtp({
    answer: ({ verb }) => (verb === 'end' && silent-- > 0 ? hang : undefined),
  })
  await using it = open(server.url, { connections: 2, relayLimits: { stalledMs: 50, closeMs: 0 } })
  const outcomes = Array.from({ length: 20 }, (_, i) => send(it.relay, i))
  // Two emails were sent without a reply, and one each is pipelined after them.
  await new Promise<void>((resolve) => {
    let settled = 0
    for (const outcome of outcomes)
      void outcome.then(() => {
        if (++settled === 16) resolve()
      })
  })
  expect(server.mails).toHaveLength(16)
  // The first further connection may have sent everything before the second was open.
  expect([3, 4]).toContain(server.connections())
})

test('a relay that replies on no connection is down for waiting emails until one of them has ended', async () => {
  let isSilent = true
  await using server = await startRawSmtp({ answer: ({ verb }) => (verb === 'end' && isSilent ? hang : undefined) })
  await using it = open(server.url, { connections: 1, relayLimits: { stalledMs: 50, closeMs: 0 } })
  const outcomes = Array.from({ length: 20 }, (_, i) => send(it.relay, i))
  const waiting = await Promise.race(outcomes)
  expect(waiting).toMatchObject({ kind: 'unreachable', reason: expect.stringContaining('has not replied for') })
  expect(it.relay.state().kind).toBe('down')
  expect(await send(it.relay, 'later')).toMatchObject({ kind: 'unreachable' })
  isSilent = false
  server.resetHung()
  await it.until((states) => states.at(-1)?.kind === 'up')
  expect(await send(it.relay, 'last')).toMatchObject({ kind: 'accepted' })
})

test('returns interrupted for an email that breaks every connection', async () => {
  await using server = await startRawSmtp({
    answer: ({ verb, line }) => (verb === 'RCPT' && line.includes('poison') ? reset : undefined),
  })
  await using it = open(server.url, { connections: 2 })
  expect(await send(it.relay, 'ada')).toMatchObject({ kind: 'accepted' })
  expect(await send(it.relay, 'poison')).toMatchObject({ kind: 'interrupted', maybeSent: false })
  expect(server.commands.filter((command) => command.includes('poison'))).toHaveLength(2)
  expect(await send(it.relay, 'bob')).toMatchObject({ kind: 'accepted' })
})

test('returns maybeSent and does not retry if the reply to a complete email is lost', async () => {
  await using server = await startRawSmtp({
    answer: ({ verb, nth }) => (verb === 'end' && nth === 2 ? reset : undefined),
  })
  await using it = open(server.url, { connections: 1 })
  expect(await send(it.relay, 1)).toMatchObject({ kind: 'accepted' })
  expect(await send(it.relay, 2)).toMatchObject({ kind: 'interrupted', maybeSent: true })
  expect(await send(it.relay, 3)).toMatchObject({ kind: 'accepted' })
  expect(server.commands.filter((command) => command.includes('<2@'))).toHaveLength(1)
})

test('a relay that accepts connections but no email is down, with growing delays until an email is accepted', async () => {
  let locked = true
  await using server = await startRawSmtp({
    answer: ({ verb }) => (verb === 'MAIL' && locked ? '530 5.7.0 Authentication required' : undefined),
  })
  // With several connections, the first could be tried again before the last has failed.
  await using it = open(server.url, { connections: 1 })
  for (let i = 0; i < 4; i++) {
    const outcomes = await sendAll(it.relay, 5)
    expect(kinds(outcomes)).toEqual(['unreachable'])
    expect(outcomes[0]).toHaveProperty('reason', expect.stringContaining('530 5.7.0 Authentication required'))
    expect(it.relay.state()).toMatchObject({ kind: 'down' })
    await it.until((states) => states.at(-1)?.kind === 'up')
  }
  expect(it.waitsMs).toHaveLength(4)
  expectDoubling(it, quick.retryDelayMsMin, quick.retryDelayMsMax)
  locked = false
  expect(await send(it.relay, 'ada')).toMatchObject({ kind: 'accepted' })
})

test('check reports whether an email could be sent, and why not', async () => {
  await using server = await startRawSmtp()
  await using good = open(server.url)
  expect(await good.relay.check()).toEqual({ kind: 'up' })
  await using bad = open(`smtp://user:wrong@127.0.0.1:${server.port}`)
  expect(await bad.relay.check()).toMatchObject({ kind: 'down', reason: expect.stringContaining('AUTH') })
  await server.close()
  await using gone = open(server.url)
  expect(await gone.relay.check()).toMatchObject({ kind: 'down', reason: expect.stringContaining('refused') })
})

test('check never leaves more connections open than allowed', async () => {
  await using server = await startRawSmtp()
  await using it = open(server.url, { connections: 1 })
  expect(await send(it.relay, 1)).toMatchObject({ kind: 'accepted' })
  expect(await it.relay.check()).toEqual({ kind: 'up' })
  await expect.poll(() => server.commands.filter((command) => command === 'QUIT').length, longTimeout).toBe(1)
})

test('close returns queued emails, waits for those in flight, and rejects new ones', async () => {
  const answers: (() => void)[] = []
  let held = true
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, _session, done) => stream.resume().on('end', () => (held ? answers.push(done) : done())),
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  await using it = open(`smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`, {
    connections: 1,
    relayLimits: { closeMs: 60_000 },
  })
  const first = send(it.relay, 1)
  await expect.poll(() => answers.length, longTimeout).toBe(1)
  const rest = sendAll(it.relay, 3)
  const closed = it.relay.close()
  expect(await send(it.relay, 'late')).toMatchObject({ kind: 'unreachable' })
  held = false
  answers[0]!()
  expect(await first).toMatchObject({ kind: 'accepted' })
  expect((await rest).map((outcome) => outcome.kind)).toContain('unreachable')
  await closed
  await new Promise<void>((resolve) => server.close(resolve))
})

test('close does not wait indefinitely for a relay that hangs', async () => {
  let hasArrived = false
  const answer = ({ verb }: Step): Answer | undefined => {
    if (verb !== 'end') return undefined
    hasArrived = true
    return hang
  }
  await using server = await startRawSmtp({ answer })
  const relay = openRelay(server.url, { relayLimits: { closeMs: 50 } })
  const outcome = send(relay, 1)
  await expect.poll(() => hasArrived, longTimeout).toBe(true)
  await relay.close()
  expect(await outcome).toMatchObject({ kind: 'interrupted', maybeSent: true })
})

test('sends hundreds of emails to a real server over STARTTLS, each complete and once', async () => {
  const received: string[] = []
  const server = new SMTPServer({
    ...localhost(),
    authOptional: true,
    disableReverseLookup: true,
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        received.push(`${session.secure} ${Buffer.concat(chunks)}`)
        done()
      })
    },
  })
  server.listen(0)
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  await using it = open(`smtp://localhost:${port}?tls=required`, {
    connections: 4,
    ca: testCa(),
    relayLimits: { mailsPerSlot: 100 },
  })
  expect(kinds(await sendAll(it.relay, 400))).toEqual(['accepted'])
  const expected = Array.from({ length: 400 }, (_, i) => `true Subject: ${i}\r\n\r\nHi\r\n`)
  expect(received.sort()).toEqual(expected.sort())
  await it.relay.close()
  await new Promise<void>((resolve) => server.close(resolve))
})

test('with random faults, each email gets exactly one correct outcome', async () => {
  const fault = fc.constantFrom<(Answer | undefined)[]>(
    undefined,
    undefined,
    undefined,
    '550 5.1.1 No',
    '451 4.3.0 Later',
    reset,
    '421 4.3.2 Bye',
    hang,
    'nonsense',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fault, { minLength: 5, maxLength: 40 }), fc.boolean(), async (faults, pipelining) => {
      let at = 0
      const answer = ({ verb }: Step) => (/^(greeting|MAIL|RCPT|DATA|end)$/.test(verb) ? faults[at++] : undefined)
      await using server = await startRawSmtp({ answer, extensions: pipelining ? ['PIPELINING'] : [] })
      await using it = open(server.url, {
        connections: 3,
        relayLimits: { mailsPerSlot: 10 },
        limits: { connectMs: 1000, greetingMs: 20, commandMs: 20, dataEndMs: 20 },
      })
      const outcomes = await sendAll(it.relay, 12)
      expect(it.relay.capacity() === 0 || it.relay.capacity() === 30).toBe(true)
      for (const [i, outcome] of outcomes.entries()) {
        const times = server.mails.filter((mail) => mail.to === mailTo(i).to).length
        if (outcome.kind === 'interrupted' && outcome.maybeSent) expect(times).toBeLessThanOrEqual(1)
        else expect(times, outcome.kind).toBe(outcome.kind === 'accepted' ? 1 : 0)
      }
    }),
    { numRuns: 60 },
  )
})
