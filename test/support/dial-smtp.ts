import { connect, type Socket } from 'node:net'
import { connect as connectTls, TLSSocket } from 'node:tls'
import { testCa } from './certificates.ts'

/** Accepts a certificate for any name. */
const secured = (options: { socket: Socket } | { host: string; port: number }) =>
  connectTls({ ...options, ca: testCa(), servername: 'localhost', checkServerIdentity: () => undefined })

/** A client that sends the given lines and reads one reply for each. */
export async function dialSmtp(
  port: number,
  { tls = false, localAddress }: { tls?: boolean; localAddress?: string } = {},
) {
  let socket: Socket = tls
    ? secured({ host: '127.0.0.1', port })
    : connect({ port, host: '127.0.0.1', ...(localAddress && { localAddress }) })
  let text = ''
  let wake = () => {}
  let closed = false
  const listen = () => {
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      text += chunk
      wake()
    })
    socket.on('close', () => {
      closed = true
      wake()
    })
  }
  listen()
  /** Returns the next reply, or `closed`. */
  const reply = async () => {
    for (;;) {
      const whole = /^(?:\d{3}-.*\r\n)*\d{3} .*\r\n/.exec(text)?.[0]
      if (whole) {
        text = text.slice(whole.length)
        return whole.trimEnd()
      }
      if (closed) return 'closed'
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  const say = (line: string) => {
    socket.write(`${line}\r\n`)
    return reply()
  }
  const startTls = async () => {
    socket.removeAllListeners()
    socket = secured({ socket })
    listen()
    await new Promise<void>((resolve) => socket.once('secureConnect', resolve))
  }
  const greeting = await reply()
  return {
    greeting,
    say,
    reply,
    startTls,
    certificateName: () => (socket instanceof TLSSocket ? socket.getPeerCertificate().subject.CN : undefined),
    write: (data: string | Buffer) => socket.write(data),
    get socket() {
      return socket
    },
    [Symbol.dispose]: () => socket.destroy(),
  }
}
