import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { connectToDatabase } from './database-socket.ts'

/** A proxy that terminates TLS for a database, on a port of 127.0.0.1. */
export async function startDatabaseTls(
  target: { host: string; port: number },
  certificate: { cert: string; key: string },
): Promise<AsyncDisposable & { port: number }> {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    sockets.add(near)
    near.on('error', () => {})
    // The first message of a client is its request for TLS.
    near.once('data', () => {
      near.write('S')
      const secure = new TLSSocket(near, { isServer: true, ...certificate })
      const far = connectToDatabase(target)
      sockets.add(far)
      for (const socket of [secure, far]) socket.on('error', () => {})
      secure.pipe(far).pipe(secure)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
