import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { findBrandValues } from '../../content/content.ts'
import { type Db, isConnectionFault } from '../../platform/db/db.ts'
import { basePathOf } from '../../platform/http/base-path.ts'
import { within } from '../../platform/runtime/within.ts'
import type { MailIds, TokenPurpose, Tokens } from '../../platform/secrets/tokens.ts'
import { newId, type OrganizationId } from '../../platform/values/ids.ts'
import type { AddressPolicy } from './address-policy.ts'
import type { Hits } from './hits.ts'
import type { Page, PageSender } from './page.ts'
import {
  askPage,
  goneContactPage,
  type Paths,
  subscribedAgainPage,
  testEmailPage,
  unavailablePage,
  unknownLinkPage,
  unsubscribedPage,
} from './pages.ts'
import { findRecipient, type Recipient } from './tracking.sql.ts'
import { undoUnsubscription } from './unsubscribe.ts'
import { verifyToken } from './verify-token.ts'

export type UnsubscribeParts = {
  db: Db
  baseUrl: () => string
  tokens: Tokens
  hits: Hits
  addresses: AddressPolicy
  pages: PageSender
  recipientNamesMsMax: number
}

type WithToken = { Params: { token: string }; Body: unknown }

const bodyBytesMax = 16_384
const retryAfterSeconds = 5

/**
 * The unsubscribe page. GET and HEAD only show it, since scanners follow links. POST unsubscribes, by the button of the
 * page or, with RFC 8058, by that of the mail app. Further POST requests have no effect.
 */
export function unsubscribeRoutes({
  db,
  baseUrl,
  tokens,
  hits,
  addresses,
  pages,
  recipientNamesMsMax,
}: UnsubscribeParts): FastifyPluginAsync {
  const pathsOf = (token: string): Paths => {
    const unsubscribe = `${basePathOf(baseUrl())}/u/${token}`
    return { unsubscribe, undo: `${unsubscribe}/undo` }
  }

  /** Returns undefined if the database is unavailable; the page then shows no names. */
  const recipientOf = async ({ organizationId, contactId }: MailIds): Promise<Recipient | undefined> => {
    if (hits.isDatabaseDown) return undefined
    return within(recipientNamesMsMax, findRecipient(db, organizationId, contactId).catch(undefinedIfDown))
  }
  const brandOf = (organizationId: OrganizationId) =>
    hits.isDatabaseDown
      ? undefined
      : within(recipientNamesMsMax, findBrandValues(db, organizationId, baseUrl()).catch(undefinedIfDown))
  const show = async (reply: FastifyReply, ids: MailIds, pageFor: (recipient: Recipient | undefined) => Page) => {
    const [found, brand] = await Promise.all([recipientOf(ids), brandOf(ids.organizationId)])
    const recipient = found && { ...found, organizationName: brand?.name ?? found.organizationName }
    const isGone = recipient !== undefined && recipient.email === null
    return pages.send(reply, 200, isGone ? goneContactPage(recipient) : pageFor(recipient), recipient && brand)
  }
  const unavailable = (reply: FastifyReply) =>
    pages.send(reply.header('retry-after', retryAfterSeconds), 503, unavailablePage)

  const verify = <Purpose extends TokenPurpose>(purpose: Purpose, request: FastifyRequest<WithToken>) =>
    verifyToken(tokens, purpose, request.params.token, request)

  const sendUnknown = (request: FastifyRequest<WithToken>, reply: FastifyReply) =>
    (verify('test_unsubscribe_link', request) ?? verify('test_unsubscribe', request))
      ? pages.send(reply, 200, testEmailPage)
      : pages.send(reply, 404, unknownLinkPage)

  return async (server) => {
    acceptAnyBody(server)
    const options = {
      bodyLimit: bodyBytesMax,
      schema: { hide: true },
      config: { permission: 'public', onTrackingHosts: true },
    } as const

    server.get<WithToken>('/u/:token', options, async (request, reply) => {
      const { token } = request.params
      const ids = verify('unsubscribe_link', request) ?? verify('unsubscribe', request)
      if (!ids) return sendUnknown(request, reply)
      return show(reply, ids, (recipient) => {
        const page = recipient?.subscription === 'unsubscribed' ? unsubscribedPage : askPage
        return page(recipient, pathsOf(token))
      })
    })

    server.post<WithToken>('/u/:token', options, async (request, reply) => {
      const { token } = request.params
      const ids = verify('unsubscribe_link', request) ?? verify('unsubscribe', request)
      if (!ids) return sendUnknown(request, reply)
      const method = isOneClick(request) ? 'one_click' : 'page'
      const keepsAddress = !hits.isDatabaseDown && (await addresses.keepsAddresses(ids.organizationId))
      const ip = keepsAddress ? { ip: request.ip } : {}
      const unsubscription = { ...ids, id: newId('evt'), method, occurredAt: new Date(), ...ip } as const
      const outcome = await hits.record({ unsubscription })
      if (outcome === 'lost') return unavailable(reply)
      return show(reply, ids, (recipient) => unsubscribedPage(recipient, pathsOf(token)))
    })

    server.post<WithToken>('/u/:token/undo', options, async (request, reply) => {
      const { token } = request.params
      const ids = verify('unsubscribe_link', request) ?? verify('unsubscribe', request)
      if (!ids) return sendUnknown(request, reply)
      if (hits.isDatabaseDown) return unavailable(reply)
      try {
        await undoUnsubscription(db, ids, request.ip)
      } catch (error) {
        if (!isConnectionFault(error)) throw error
        return unavailable(reply)
      }
      return show(reply, ids, (recipient) => subscribedAgainPage(recipient, pathsOf(token)))
    })
  }
}

function undefinedIfDown(error: unknown): undefined {
  if (!isConnectionFault(error)) throw error
}

/** Accepts any content type, since clients encode the one-click body differently. Only the token matters. */
function acceptAnyBody(server: Parameters<FastifyPluginAsync>[0]): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
}

const urlencodedOneClick = /(?:^|&)List-Unsubscribe=One-Click(?:&|\s|$)/i
const multipartOneClick = /name="?List-Unsubscribe"?[^\r\n]*\r?\n(?:[^\r\n]+\r?\n)*\r?\nOne-Click\r?\n/i

function isOneClick({ body }: FastifyRequest): boolean {
  return typeof body === 'string' && (urlencodedOneClick.test(body) || multipartOneClick.test(body))
}
