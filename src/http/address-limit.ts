import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RateLimit } from '../runtime/rate-limit.ts'
import { clientNetwork } from '../values/client-address.ts'

/** A hook that limits routes without a credential by the client's address (IPv6: by its /64 network). */
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
