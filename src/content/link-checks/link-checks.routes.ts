import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { organizationIdOf } from '../../accounts/accounts.ts'
import { answers, Named, ok, oneOf } from '../../platform/http/envelope.ts'
import { largeBodyBytesMax } from '../../platform/http/policies.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { type LinkChecker, linkStatuses, linksMax } from './link-checker.ts'

const urlLengthMax = 4_000

const LinksIn = Named('LinksToCheck', {
  urls: Type.Array(Type.String({ maxLength: urlLengthMax }), {
    minItems: 1,
    maxItems: linksMax,
    description: 'Addresses with http or https.',
  }),
})
const LinkOut = Named('CheckedLink', {
  url: Type.String(),
  status: oneOf(...linkStatuses),
  detail: Type.String({ description: 'The reason as a sentence.' }),
})

export function linkCheckRoutes({ linkChecker }: { linkChecker: LinkChecker }): FastifyPluginAsyncTypebox {
  return async (api) => {
    tagRoutes(api, 'Flows')
    api.post('/flows/check-links', {
      config: { permission: 'flows:read' },
      bodyLimit: largeBodyBytesMax,
      schema: {
        operationId: 'checkLinks',
        summary: 'Check whether links can be reached',
        description:
          'Opens each address once, follows up to four redirects, and reads the start of the response. `broken`: it does not respond, or with an error. `unclear`: the site may reject programs. `skipped`: not checked. Only public addresses and the usual ports are opened. Take the addresses from `links` of a preview or of the check of a broadcast.',
        errors: { rate_limited: 'The organization has checked 100 links within a minute, or two checks are running.' },
        body: LinksIn,
        response: answers(Type.Array(LinkOut)),
      },
      handler: async (request) => ok(await linkChecker.check(organizationIdOf(request), request.body.urls)),
    })
  }
}
