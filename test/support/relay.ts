import type { AddressInfo, Socket } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { afterAll } from 'vitest'

export type ReceivedEmail = { sender: string; recipient: string; raw: string; mail: Email }

/** An SMTP reply other than 250. */
type Reply = { code: number; text: string }

export type TestRelay = AsyncDisposable & {
  url: string
  port: number
  mails: ReceivedEmail[]
  /** Emails of the service about notices, which most tests are not about. */
  alerts: ReceivedEmail[]
  /** The replies to a sender, a recipient and the complete email; undefined means 250. */
  onSender: (address: string) => Reply | undefined
  onRecipient: (address: string) => Reply | undefined | Promise<Reply | undefined>
  onData: (mail: ReceivedEmail) => Reply | undefined | Promise<Reply | undefined>
  /** Breaks all open connections. */
  dropConnections(): void
  stop(): Promise<void>
}

const refusal = ({ code, text }: Reply) => Object.assign(new Error(text), { responseCode: code })

/** A real SMTP server that stores received emails, parsed unless disabled. */
export async function startRelay({ port = 0, parse = true } = {}): Promise<TestRelay> {
  const mails: ReceivedEmail[] = []
  const alerts: ReceivedEmail[] = []
  const nothing = () => undefined
  const relay: Pick<TestRelay, 'onSender' | 'onRecipient' | 'onData'> = {
    onSender: nothing,
    onRecipient: nothing,
    onData: nothing,
  }
  const server = new SMTPServer({
    authOptional: true,
    // Connections that the service keeps open would delay the end of a test by 30 seconds.
    closeTimeout: 50,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onMailFrom: ({ address }, _session, done) => {
      const reply = relay.onSender(address)
      done(reply && refusal(reply))
    },
    onRcptTo: async ({ address }, _session, done) => {
      const reply = await relay.onRecipient(address)
      done(reply && refusal(reply))
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        const raw = Buffer.concat(chunks).toString()
        const { mailFrom, rcptTo } = session.envelope
        const sender = mailFrom ? mailFrom.address : ''
        const received = { sender, recipient: rcptTo[0]!.address, raw, mail: await PostalMime.parse(parse ? raw : '') }
        const reply = await relay.onData(received)
        if (!reply) (raw.includes('\r\nX-Waxwing-Mail: notice\r\n') ? alerts : mails).push(received)
        done(reply && refusal(reply), undefined)
      })
    },
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const at = (server.server.address() as AddressInfo).port
  const stop = () => new Promise<void>((resolve) => server.close(resolve))
  const dropConnections = () => {
    for (const connection of server.connections as Set<{ close(): void; _socket: Socket }>) connection._socket.destroy()
  }
  return Object.assign(relay, {
    mails,
    alerts,
    dropConnections,
    port: at,
    url: `smtp://127.0.0.1:${at}`,
    stop,
    [Symbol.asyncDispose]: stop,
  })
}

/**
 * Starts a relay for all tests of a file, which stops after the last one. The returned function returns it without the
 * emails and handlers of earlier tests. Call it at the top of the file.
 */
export async function startSharedRelay(): Promise<{ url: string; reset(): TestRelay }> {
  const relay = await startRelay()
  afterAll(() => relay[Symbol.asyncDispose]())
  const { onSender, onRecipient, onData } = relay
  const reset = () => {
    relay.mails.length = relay.alerts.length = 0
    return Object.assign(relay, { onSender, onRecipient, onData })
  }
  return { url: relay.url, reset }
}
