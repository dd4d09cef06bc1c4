import { readFileSync } from 'node:fs'
import { createServer as createHttpServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { withResolvers } from './with-resolvers.ts'

type Certificate =
  | 'webhook-receiver'
  | 'webhook-receiver-expired'
  | 'webhook-receiver-wrong-name'
  | 'webhook-receiver-unknown-ca'

const pem = (name: string) => readFileSync(new URL(`certificates/${name}.pem`, import.meta.url), 'utf8')
const identity = (certificate: Certificate) => ({ cert: pem(certificate), key: pem('webhook-receiver-key') })

/** The certificate authority of the receivers. */
export const receiverCa = pem('webhook-ca')

export type ReceivedPost = { path: string; headers: IncomingHttpHeaders; body: Buffer }
export type ReceiverOptions = { certificate?: Certificate; host?: string; port?: number; plain?: boolean }

/** A real HTTPS receiver that stores requests and counts connections. */
export async function startReceiver(
  answer: (response: ServerResponse, post: ReceivedPost) => unknown,
  { certificate = 'webhook-receiver', plain = false, ...where }: ReceiverOptions = {},
) {
  const posts: ReceivedPost[] = []
  const server = plain ? createHttpServer() : createHttpsServer(identity(certificate))
  server.on('request', async (request, response) => {
    const post = { path: request.url ?? '', headers: request.headers, body: await buffer(request) }
    posts.push(post)
    await answer(response, post)
  })
  return { posts, ...(await listening(server, plain ? 'http' : 'https', where)) }
}

/** A TLS receiver that writes arbitrary bytes after it has read the header section of a request (`arrived`). */
export async function startRawReceiver(answer: (socket: TLSSocket) => unknown, where: { host?: string } = {}) {
  const { promise: arrived, resolve: onArrival } = withResolvers()
  const server = createTlsServer(identity('webhook-receiver'), (socket) => {
    socket.on('error', () => {})
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (!text.includes('\r\n\r\n')) return
      text = ''
      onArrival()
      answer(socket)
    })
  })
  return { arrived, ...(await listening(server, 'https', where)) }
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** Starts a server and tracks its connections. */
export async function listening(server: Server, scheme: string, { host = '127.0.0.1', port: wanted = 0 } = {}) {
  const sockets = new Set<Socket>()
  const count = { connections: 0 }
  const { promise: closed, resolve: onClosed } = withResolvers()
  server.on('connection', (socket: Socket) => {
    count.connections++
    sockets.add(socket)
    socket
      .on('error', () => {})
      .on('close', () => {
        sockets.delete(socket)
        onClosed()
      })
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(wanted, host, resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    count,
    /** Resolves when a connection was closed. */
    closed,
    url: (name = 'localhost') => `${scheme}://${name}:${port}/hook?a=1`,
    /** Closes all open connections, like a receiver that closes idle ones. */
    closeConnections() {
      for (const socket of sockets) socket.destroy()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
