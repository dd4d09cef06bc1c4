import type { onRequestHookHandler } from 'fastify'
import type { Server } from './server.ts'

/** Nothing here is for search engines: links in emails, a sign-in page and the documentation of one installation. */
const robotsTxt = 'User-agent: *\nDisallow: /\n'

/** Registers /robots.txt (RFC 9309), the same for all host names, so also for those of tracking links. */
export function registerRobotsTxt(server: Server, onRequest: onRequestHookHandler): void {
  server.get('/robots.txt', {
    onRequest,
    schema: { hide: true },
    config: { permission: 'public', onTrackingHosts: true },
    handler: async (_request, reply) =>
      reply.header('cache-control', 'public, max-age=86400').type('text/plain; charset=utf-8').send(robotsTxt),
  })
}
