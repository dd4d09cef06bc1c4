import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RateLimit } from '../runtime/rate-limit.ts'
import { clientNetwork } from '../values/client-address.ts'

/** Returns a hook that limits unauthenticated routes by client address (for IPv6, by /64 network). */
export const limitByAddress =
  (limit: RateLimit) =>
  (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
    try {
      limit.take(clientNetwork(request.ip))
      done()
    } catch (error) {
      done(error as Error)
    }
  }
