import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { withQuery } from '../../content/content.ts'
import type { ClickedLink, MailIds, TokenPurpose, Tokens } from '../../platform/secrets/tokens.ts'
import type { AddressPolicy } from './address-policy.ts'
import { HitEvents } from './hit.ts'
import type { HitLimit } from './hit-limit.ts'
import type { Hits } from './hits.ts'
import type { PageSender } from './page.ts'
import { unknownLinkPage } from './pages.ts'
import { verifyToken } from './verify-token.ts'

export type TrackingParts = {
  tokens: Tokens
  hits: Hits
  hitLimit: HitLimit
  addresses: AddressPolicy
  pages: PageSender
}

type WithToken = { Params: { token: string; destination?: string } }

/** A transparent GIF of one pixel, 43 bytes. */
const pixel = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64')

/**
 * The pixel and the links of emails. A GET request answered with 200 or 302 is recorded durably, up to the limit of its
 * message. HEAD requests, which scanners and previews use, record nothing, and neither do the links of test emails.
 */
export function trackingRoutes({ tokens, hits, hitLimit, addresses, pages }: TrackingParts): FastifyPluginAsync {
  const hitEvents = new HitEvents()
  const record = async (kind: 'open' | 'click', ids: MailIds & { url?: string }, request: FastifyRequest) => {
    if (!hitLimit.allows(ids.messageId)) return 'limited' as const
    const known = hits.isDatabaseDown ? false : addresses.keepsAddresses(ids.organizationId)
    const keepsAddress = typeof known === 'boolean' ? known : await known
    return hits.record({ event: hitEvents.create(kind, ids, request, keepsAddress) })
  }
  const sendPixel = (reply: FastifyReply, status: number) => reply.code(status).type('image/gif').send(pixel)
  // The destination was encoded as visible ASCII when it was signed.
  const redirect = (reply: FastifyReply, url: string, status = 302) => reply.code(status).header('location', url).send()

  const verify = <Purpose extends TokenPurpose>(purpose: Purpose, request: FastifyRequest<WithToken>) =>
    verifyToken(tokens, purpose, request.params.token, request)
  const openOf = (request: FastifyRequest<WithToken>) => verify('email', request) ?? verify('open', request)
  const testOpenOf = (request: FastifyRequest<WithToken>) =>
    verify('test_email', request) ?? verify('test_open', request)
  const clickOf = (request: FastifyRequest<WithToken>, isTest: boolean) => {
    const { destination } = request.params
    if (destination === undefined) return validClick(verify(isTest ? 'test_click' : 'click', request))
    const ids = verify(isTest ? 'test_email' : 'email', request)
    const link = ids && tokens.verifyDestination(ids, destination)
    return link && validClick({ ...ids, ...link })
  }

  const options = {
    exposeHeadRoute: false,
    schema: { hide: true },
    config: { permission: 'public', onTrackingHosts: true },
  } as const
  return async (server) => {
    server.get<WithToken>('/t/o/:token', options, async (request, reply) => {
      const ids = openOf(request)
      if (!ids) return sendPixel(reply, testOpenOf(request) ? 200 : 404)
      const outcome = await record('open', ids, request)
      return sendPixel(reply, outcome === 'lost' ? 503 : 200)
    })
    server.head<WithToken>('/t/o/:token', options, async (request, reply) =>
      sendPixel(reply, (openOf(request) ?? testOpenOf(request)) ? 200 : 404),
    )
    // The links of emails that are out already have one token.
    for (const path of ['/t/c/:token', '/t/c/:token/:destination']) {
      server.get<WithToken>(path, options, async (request, reply) => {
        const click = clickOf(request, false)
        const test = click ? undefined : clickOf(request, true)
        if (test) return redirect(reply, withQuery(test.url, test.query), 307)
        if (!click) return pages.send(reply, 404, unknownLinkPage)
        const outcome = await record('click', click, request)
        // The reader is redirected in any case, but a 302 would claim that the click was recorded.
        return redirect(reply, withQuery(click.url, click.query), outcome === 'lost' ? 307 : 302)
      })
      server.head<WithToken>(path, options, async (request, reply) => {
        const click = clickOf(request, false) ?? clickOf(request, true)
        return click ? redirect(reply, withQuery(click.url, click.query)) : pages.send(reply, 404, unknownLinkPage)
      })
    }
  }
}

/** Returns undefined if the URL is not valid in a Location header and as the link of an email. */
const validClick = (click: (MailIds & ClickedLink) | undefined) =>
  click && /^https?:\/\/[\x21-\x7e]+$/i.test(click.url) ? click : undefined
