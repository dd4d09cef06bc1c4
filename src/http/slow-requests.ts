import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Server } from './server.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body may take as long as the whole request, as uploads do. */
    slowBody?: boolean
  }
}

/**
 * Closes connections whose request body does not arrive in time, whether or not the request was answered already.
 * Node.js has one time limit for all requests, and that one must fit uploads. Costs one map entry per connection, none
 * per request: a body that is incomplete at two sweeps in a row has had at least one whole interval.
 */
export function closeSlowRequests(server: Server, withinMs: number): void {
  const receiving = new Map<Socket, IncomingMessage>()
  let seenBefore = new Set<IncomingMessage>()
  server.addHook('onRequest', (request: FastifyRequest, _reply, done) => {
    const { raw } = request
    const hasBody = raw.headers['content-length'] !== undefined || raw.headers['transfer-encoding'] !== undefined
    if (hasBody && request.routeOptions.config.slowBody !== true) receiving.set(raw.socket, raw)
    done()
  })
  const sweep = setInterval(() => {
    const seen = new Set<IncomingMessage>()
    for (const [socket, request] of receiving) {
      if (request.complete || socket.destroyed) receiving.delete(socket)
      else if (seenBefore.has(request)) {
        receiving.delete(socket)
        socket.destroy()
      } else seen.add(request)
    }
    seenBefore = seen
  }, withinMs / 2)
  sweep.unref()
  server.addHook('onClose', async () => clearInterval(sweep))
}
