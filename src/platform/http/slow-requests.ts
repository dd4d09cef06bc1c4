import { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { clientNetwork } from '../values/client-address.ts'

const sweepEveryMsMax = 1_000
/** Limit of slow request bodies per client address. Further connections are closed, newest first. */
const slowPerClientMax = 50

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How long the body may take, if longer than others, as uploads do. */
    bodyTimeoutMs?: number
  }
}

type Receiving = { request: FastifyRequest; reply: FastifyReply; firstSeenAt?: number }

/**
 * Closes connections whose request body does not arrive in time, whether or not the request was answered already, and
 * those of a client that has too many of them. Node.js has one time limit for all requests, and that one must fit
 * uploads. Only requests that are incomplete at a sweep cost anything beyond a lookup.
 */
export function closeSlowRequests(server: FastifyInstance, withinMs: number): void {
  // An entry per connection instead of one per request: V8 copies a map with many changes again and again, and requests
  // in the old copies were not released before the next major garbage collection.
  const connections = new Map<Socket, { receiving: Receiving | undefined }>()
  server.addHook('onRequest', (request, reply, done) => {
    const { headers, socket } = request.raw
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
    // Requests of the service to itself have no socket.
    if (hasBody && socket instanceof Socket) {
      const connection = connections.get(socket)
      if (connection) connection.receiving = { request, reply }
      else connections.set(socket, { receiving: { request, reply } })
    }
    done()
  })
  // Otherwise every connection would keep its last request in memory.
  server.addHook('onResponse', (request, _reply, done) => {
    const connection = connections.get(request.raw.socket)
    if (connection?.receiving?.request === request && request.raw.complete) connection.receiving = undefined
    done()
  })
  const sweep = setInterval(
    () => {
      const now = performance.now()
      const slowOf = new Map<string, number>()
      for (const [socket, connection] of connections) {
        if (socket.destroyed) {
          connections.delete(socket)
          continue
        }
        if (connection.receiving?.request.raw.complete) connection.receiving = undefined
        const { receiving } = connection
        if (!receiving) continue
        const seenBefore = receiving.firstSeenAt !== undefined
        receiving.firstSeenAt ??= now
        if (!seenBefore || now - receiving.firstSeenAt < ownTimeoutMsOf(receiving)) continue
        const client = clientNetwork(receiving.request.ip)
        const slow = (slowOf.get(client) ?? 0) + 1
        slowOf.set(client, slow)
        if (slow <= slowPerClientMax && now - receiving.firstSeenAt < withinMs) continue
        connections.delete(socket)
        socket.destroy()
      }
    },
    Math.min(sweepEveryMsMax, withinMs / 2),
  )
  sweep.unref()
  server.addHook('onClose', async () => clearInterval(sweep))
}

/** That of uploads, unless they were rejected: the rest of their body is not read then. */
const ownTimeoutMsOf = ({ request, reply }: Receiving) =>
  reply.raw.writableEnded ? 0 : (request.routeOptions.config.bodyTimeoutMs ?? 0)
