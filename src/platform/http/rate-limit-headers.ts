import type { FastifyReply } from 'fastify'
import type { RateLimit } from '../runtime/rate-limit.ts'
import type { RequestsInFlight } from './in-flight.ts'

/** Counts a request of this key. Throws `Refusal` if the key has used up its calls, or has too many in progress. */
export type LimitRequest = (key: string, reply: FastifyReply) => void

/**
 * Counts requests and adds the headers `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers) to the
 * response, also if the request is rejected: the quota per window, the remaining quota, and the seconds until all of it
 * is available again. `name` identifies the policy.
 */
export function createRequestLimit(limit: RateLimit, name: string, inFlight?: RequestsInFlight): LimitRequest {
  const limitRate = createRateLimit(limit, name)
  if (!inFlight) return limitRate
  return (key, reply) => {
    try {
      inFlight.begin(key, reply)
      limitRate(key, reply)
    } catch (error) {
      inFlight.refused(key, reply)
      throw error
    }
  }
}

function createRateLimit(limit: RateLimit, name: string): LimitRequest {
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
