import type { FastifyReply } from 'fastify'

/** Aborted when the client disconnects, also if it already has, and after the response. */
export function disconnectionOf(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  // It does not emit `close` again.
  if (reply.raw.destroyed) controller.abort()
  else reply.raw.once('close', () => controller.abort())
  return controller.signal
}
