import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RateLimit } from '../runtime/rate-limit.ts'
import { clientNetwork } from '../values/client-address.ts'
import { createRequestLimit } from './rate-limit-headers.ts'

/** Returns a hook that limits unauthenticated routes by client address (for IPv6, by /64 network). */
export function limitByAddress(limit: RateLimit) {
  const limitRequest = createRequestLimit(limit, 'address')
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    try {
      limitRequest(clientNetwork(request.ip), reply)
      done()
    } catch (error) {
      done(error as Error)
    }
  }
}
