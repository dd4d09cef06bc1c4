import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Log } from '../runtime/log.ts'
import { type OrganizationId, toText } from '../values/ids.ts'

/** Probes and scrapes: logged only if they fail. */
const quietRoutes = new Set(['/health', '/ready', '/metrics'])

export type AccessLogOptions = {
  log: Log
  /** Returns the organization of the API key or session of a request, if it has one. */
  organizationOf: (request: FastifyRequest) => OrganizationId | undefined
}

/** Logs one line per request, with its route. Path and query may contain tokens and addresses. */
export function logRequests(server: FastifyInstance, { log, organizationOf }: AccessLogOptions): void {
  if (!log.isLevelEnabled('info')) return
  server.addHook('onResponse', (request, reply, done) => {
    const { url: route } = request.routeOptions
    if (reply.statusCode >= 400 || !quietRoutes.has(route ?? '')) {
      const organizationId = organizationOf(request)
      log.info(
        {
          requestId: request.id,
          method: request.method,
          route,
          status: reply.statusCode,
          ms: Math.round(reply.elapsedTime),
          organizationId: organizationId && toText('org', organizationId),
        },
        'request',
      )
    }
    done()
  })
}
