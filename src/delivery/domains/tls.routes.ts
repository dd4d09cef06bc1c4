import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { answers, Nothing, ok } from '../../platform/http/envelope.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { TrackingHosts } from './tracking-hosts.ts'

const hostCharsMax = 300

/** Reverse proxies ask this before they request a certificate. Answered from memory, so it has no rate limit. */
export function tlsRoutes(hosts: TrackingHosts): FastifyPluginAsyncTypebox {
  return async (server) => {
    server.get('/tls/ask', {
      config: { permission: 'public' },
      schema: {
        tags: ['Health'],
        operationId: 'checkTlsHost',
        summary: 'Check whether a host needs a certificate',
        description:
          'For reverse proxies that request certificates on demand, such as `ask` of Caddy. 200 for the host of `BASE_URL` and for hosts of links that were found in DNS, else 404: also for more than 100 new hosts of an organization within a day. Needs no credential.',
        errors: { not_found: 'Links do not have this host.' },
        querystring: Type.Object({
          domain: Type.String({ minLength: 1, maxLength: hostCharsMax, description: 'The name of the host.' }),
        }),
        response: answers(Nothing),
      },
      handler: async (request) => {
        if (!(await hosts.needsCertificate(request.query.domain)))
          throw new Refusal('not_found', 'This host is not in use.')
        return ok(null)
      },
    })
  }
}
