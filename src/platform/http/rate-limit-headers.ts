import type { FastifyReply } from 'fastify'
import type { RateLimit } from '../runtime/rate-limit.ts'

/** Counts a request of this key. Throws `Refusal` if the key has used up its calls. */
export type LimitRequest = (key: string, reply: FastifyReply) => void

/**
 * Counts requests and adds the headers `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers) to the
 * response, also if the request is rejected: the quota per window, the remaining quota, and the seconds until all of it
 * is available again. `name` identifies the policy.
 */
export function createRequestLimit(limit: RateLimit, name: string): LimitRequest {
  const { policy } = limit
  if (!policy) return () => {}
  const policyText = `"${name}";q=${policy.quota};w=${policy.windowSeconds}`
  const prefix = `"${name}";r=`
  return (key, reply) => {
    try {
      limit.take(key)
    } finally {
      const { remaining, resetSeconds } = limit.stateOf(key)
      reply.header('ratelimit-policy', policyText)
      reply.header('ratelimit', `${prefix}${remaining};t=${resetSeconds}`)
    }
  }
}
