import { once } from 'node:events'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'

const greetingWithinMs = 5_000

/** A listener on all addresses is asked on the local one. */
export const reachable = (host: string) => (host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host)

/** Returns the first line of an SMTP server. Throws if none answers. The certificate is not checked. */
export async function readGreeting(host: string, port: number, { tls = false } = {}): Promise<string> {
  const socket = tls ? connectTls({ host, port, rejectUnauthorized: false }) : connect({ host, port })
  try {
    const [data] = await once(socket, 'data', { signal: AbortSignal.timeout(greetingWithinMs) })
    return String(data)
  } finally {
    socket.destroy()
  }
}
