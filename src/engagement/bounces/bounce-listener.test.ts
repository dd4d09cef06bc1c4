import { openRelay } from '@waxwing/smtp-client'
import { expect, test } from 'vitest'
import { localhost, testCa } from '../../../test/support/certificates.ts'
import { dialSmtp } from '../../../test/support/dial-smtp.ts'
import { type BounceListenerOptions, type ReceivedEmail, startBounceListener } from './bounce-listener.ts'

const mailbox = 'b-token1@bounces.example.com'
const longTimeout = { timeout: 20_000 }
const bounce = 'From: MAILER-DAEMON@example.net\r\nSubject: failed\r\n\r\n.It did not\r\narrive\r\n'

/** Starts a listener on a free port that accepts one address and records the emails. */
async function start(change: Partial<BounceListenerOptions> = {}) {
  const mails: ReceivedEmail[] = []
  const logged: string[] = []
  const note = (_fields: unknown, text?: string) => void logged.push(text ?? '')
  const listener = await startBounceListener({
    host: '127.0.0.1',
    port: 0,
    domain: 'bounces.example.com',
    verify: (address) => address.startsWith('b-token'),
    onEmail: async (mail) => void mails.push(mail),
    log: { info: note, error: note } as BounceListenerOptions['log'],
    ...change,
  })
  const relay = openRelay(`smtp://127.0.0.1:${listener.port}`)
  return {
    ...listener,
    mails,
    logged,
    relay,
    async [Symbol.asyncDispose]() {
      await relay.close()
      await listener.close()
    },
  }
}

async function atData(port: number, to = mailbox) {
  const client = await dialSmtp(port)
  await client.say('EHLO x')
  await client.say('MAIL FROM:<>')
  await client.say(`RCPT TO:<${to}>`)
  expect(await client.say('DATA')).toMatch(/^354/)
  return client
}

test('passes on a complete email with its envelope', async () => {
  await using it = await start()
  expect(await it.relay.send({ envelope: { from: '', to: mailbox }, raw: bounce })).toMatchObject({ kind: 'accepted' })
  expect(await it.relay.send({ envelope: { from: 'd@example.net', to: mailbox }, raw: bounce })).toMatchObject({
    kind: 'accepted',
  })
  expect(it.mails).toEqual([
    { recipients: [mailbox], sender: '', raw: Buffer.from(bounce) },
    { recipients: [mailbox], sender: 'd@example.net', raw: Buffer.from(bounce) },
  ])
})

test('rejects any other recipient, so that nothing is relayed', async () => {
  await using it = await start({ verify: () => false })
  for (const to of ['postmaster@bounces.example.com', 'x@example.com', 'b-token1@bounces.example.com.evil.example'])
    expect(await it.relay.send({ envelope: { from: '', to }, raw: bounce })).toMatchObject({
      kind: 'refused',
      stage: 'recipient',
      replyCode: 550,
      status: '5.1.1',
    })
  expect(it.mails).toEqual([])
})

test('accepts the domain in any spelling and leaves out unknown recipients', async () => {
  await using it = await start({ domain: 'xn--bcher-kva.example' })
  using client = await dialSmtp(it.port)
  await client.say('EHLO x')
  await client.say('MAIL FROM:<>')
  expect(await client.say('RCPT TO:<b-token1@XN--BCHER-KVA.Example>')).toMatch(/^250/)
  expect(await client.say('RCPT TO:<b-token2@bücher.example>')).toMatch(/^250/)
  expect(await client.say('RCPT TO:<other@xn--bcher-kva.example>')).toMatch(/^550/)
  await client.say('DATA')
  expect(await client.say(`${bounce}.`)).toMatch(/^250/)
  expect(it.mails[0]!.recipients).toEqual(['b-token1@xn--bcher-kva.example', 'b-token2@xn--bcher-kva.example'])
})

test('does not offer authentication', async () => {
  await using it = await start()
  using client = await dialSmtp(it.port)
  expect(await client.say('EHLO x')).not.toMatch(/AUTH/)
  expect(await client.say('AUTH PLAIN AGEAYg==')).toMatch(/^5/)
})

/** An `onEmail` that reports when it was called and resolves on request. */
function gate() {
  let begin = () => {}
  let finish = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const onEmail = () => {
    begin()
    return finished
  }
  return { begun, finish, onEmail }
}

test('replies 250 only after the email was handled', async () => {
  const { begun, finish, onEmail } = gate()
  await using it = await start({ onEmail })
  using client = await atData(it.port)
  const order: string[] = []
  const answer = client.say(`${bounce}.`).then((reply) => order.push(reply))
  await begun
  expect(await Promise.race([answer, new Promise((resolve) => setImmediate(resolve, 'no answer yet'))])).toBe(
    'no answer yet',
  )
  order.push('finished')
  finish()
  await answer
  expect(order).toEqual(['finished', expect.stringMatching(/^250/)])
})

test('defers an email that cannot be handled, or not in time', async () => {
  await using failing = await start({ onEmail: () => Promise.reject(new Error('database away')) })
  expect(await failing.relay.send({ envelope: { from: '', to: mailbox }, raw: bounce })).toMatchObject({
    kind: 'deferred',
    replyCode: 451,
  })
  expect(failing.logged).toContain('Handling a bounce email failed')
  await using hanging = await start({ onEmail: () => new Promise(() => {}), limits: { handleMs: 30 } })
  expect(await hanging.relay.send({ envelope: { from: '', to: mailbox }, raw: bounce })).toMatchObject({
    kind: 'deferred',
    replyCode: 451,
  })
  await using unsure = await start({ verify: () => Promise.reject(new Error('database away')) })
  expect(await unsure.relay.send({ envelope: { from: '', to: mailbox }, raw: bounce })).toMatchObject({
    kind: 'deferred',
    stage: 'recipient',
    replyCode: 451,
  })
})

test('rejects an email above the size limit and keeps the connection open', async () => {
  await using it = await start({ limits: { emailBytesMax: 1000 } })
  using client = await dialSmtp(it.port)
  expect(await client.say('EHLO x')).toMatch(/SIZE 1000/)
  expect(await client.say('MAIL FROM:<> SIZE=1001')).toMatch(/^552 5\.3\.4/)
  await client.say('MAIL FROM:<>')
  await client.say(`RCPT TO:<${mailbox}>`)
  await client.say('DATA')
  client.socket.write(`${'x'.repeat(99)}\r\n`.repeat(50))
  expect(await client.say('.')).toMatch(/^552 5\.3\.4/)
  expect(await client.say('NOOP')).toMatch(/^250/)
  expect(it.mails).toEqual([])
})

test('defers emails that would exceed the memory limit together', async () => {
  await using it = await start({ limits: { heldBytesMax: 10_000 } })
  const large = `${'y'.repeat(98)}\r\n`.repeat(50)
  const kind = async () => (await it.relay.send({ envelope: { from: '', to: mailbox }, raw: large })).kind
  expect(await kind()).toBe('accepted')
  using slow = await atData(it.port)
  slow.socket.write(`${'x'.repeat(98)}\r\n`.repeat(80))
  await expect.poll(kind, longTimeout).toBe('deferred')
  expect(await slow.say('.')).toMatch(/^250/)
  expect(await kind()).toBe('accepted')
})

test('frees the memory of an email whose sender disconnects', async () => {
  await using it = await start({ limits: { heldBytesMax: 10_000 } })
  const large = `${'y'.repeat(98)}\r\n`.repeat(50)
  const kind = async () => (await it.relay.send({ envelope: { from: '', to: mailbox }, raw: large })).kind
  {
    using client = await atData(it.port)
    client.socket.write(`${'x'.repeat(98)}\r\n`.repeat(80))
    await expect.poll(kind, longTimeout).toBe('deferred')
  }
  it.mails.length = 0
  await expect.poll(kind, longTimeout).toBe('accepted')
  expect(it.mails.map((mail) => mail.raw.toString())).toEqual([large])
})

test('defers a client that exceeds its rate, and disconnects one that guesses recipients', async () => {
  await using it = await start({ limits: { stepsPerMinutePerAddress: 3 } })
  using client = await dialSmtp(it.port)
  await client.say('EHLO x')
  expect(await client.say('MAIL FROM:<>')).toMatch(/^250/)
  expect(await client.say('RCPT TO:<a@bounces.example.com>')).toMatch(/^550/)
  expect(await client.say('RCPT TO:<b@bounces.example.com>')).toMatch(/^550/)
  expect(await client.say('RCPT TO:<c@bounces.example.com>')).toMatch(/^421/)
  expect(await client.reply()).toBe('closed')
  expect(await it.relay.send({ envelope: { from: '', to: mailbox }, raw: bounce })).toMatchObject({
    kind: 'deferred',
    replyCode: 451,
  })
})

test('limits the rate of all clients together', async () => {
  await using it = await start({ limits: { emailsPerMinute: 2 } })
  const send = () => it.relay.send({ envelope: { from: '', to: mailbox }, raw: bounce })
  expect(await send()).toMatchObject({ kind: 'accepted' })
  expect(await send()).toMatchObject({ kind: 'accepted' })
  expect(await send()).toMatchObject({ kind: 'deferred', replyCode: 451 })
  expect(it.mails).toHaveLength(2)
})

test('limits connections, in total and per address', async () => {
  for (const limits of [{ connectionsMax: 2 }, { connectionsPerAddressMax: 2 }]) {
    await using it = await start({ limits })
    using first = await dialSmtp(it.port)
    using second = await dialSmtp(it.port)
    expect([first.greeting, second.greeting]).toEqual([expect.stringMatching(/^220/), expect.stringMatching(/^220/)])
    using third = await dialSmtp(it.port)
    expect(third.greeting).toMatch(/^421/)
    await second.say('QUIT')
    expect(await second.reply()).toBe('closed')
    await expect
      .poll(async () => {
        using again = await dialSmtp(it.port)
        return again.greeting
      }, longTimeout)
      .toMatch(/^220/)
  }
})

test('disconnects clients that are idle or exceed the session limit', async () => {
  for (const limits of [{ idleMs: 200 }, { sessionMs: 200 }]) {
    await using it = await start({ limits })
    using client = await dialSmtp(it.port)
    const said = [client.greeting]
    while (said.at(-1) !== 'closed') said.push(await client.reply())
    expect(said.at(-2)).toMatch(/^421/)
  }
})

test('offers STARTTLS only with a certificate', async () => {
  await using it = await start({ tls: localhost() })
  const relay = openRelay(`smtp://localhost:${it.port}?tls=required`, { ca: testCa() })
  expect(await relay.send({ envelope: { from: '', to: mailbox }, raw: bounce })).toMatchObject({ kind: 'accepted' })
  await relay.close()
  await using plain = await start()
  using client = await dialSmtp(plain.port)
  expect(await client.say('EHLO x')).not.toMatch(/STARTTLS/)
})

test('close waits for emails being received and disconnects all other clients', async () => {
  const { begun, finish, onEmail } = gate()
  const it = await start({ onEmail })
  using idle = await dialSmtp(it.port)
  using busy = await atData(it.port)
  const answer = busy.say(`${bounce}.`)
  await begun
  const closed = it.close()
  expect(await idle.reply()).toMatch(/^421/)
  finish()
  expect(await answer).toMatch(/^250/)
  busy.socket.end()
  await closed
  expect((await dialSmtp(it.port)).greeting).toBe('closed')
  await it.relay.close()
})

test('fails to start if the port is in use', async () => {
  await using it = await start()
  await expect(start({ port: it.port })).rejects.toThrow(/EADDRINUSE/)
})
