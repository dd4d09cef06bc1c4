import type { ClickedLink, EmailTokens } from '../../platform/secrets/tokens.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { linksOfOneTurn, trackLinks } from '../flows/track-links.ts'
import { withUnsubscribeLine } from '../flows/unsubscribe-line.ts'
import { loadImagesAt } from './images-at-host.ts'

/** The bodies of an email; one of them may be missing. */
export type EmailBody = { html: string | null; text: string | null }

/** What emails of a version have in common, apart from their template. */
export type Way = {
  organizationId: OrganizationId
  isMarketing: boolean
  tracksClicks: boolean
  tracksOpens: boolean
  utmQuery: string
  baseUrl: string
  /** Returns the token for a destination. */
  sign: (link: ClickedLink) => string
}

export const unsubscribeUrlOf = (baseUrl: string, { unsubscribe }: Pick<EmailTokens, 'unsubscribe'>) =>
  `${baseUrl}/u/${unsubscribe}`

/** Returns the bodies as they are sent, and whether composing such an email may take milliseconds. */
export function finishBody(body: EmailBody, way: Way, tokens: EmailTokens): EmailBody & { hasManyLinks: boolean } {
  const { html, text } = way.isMarketing ? withUnsubscribeLine(body, unsubscribeUrlOf(way.baseUrl, tokens)) : body
  if (html === null) return { html, text, hasManyLinks: false }
  const finished = finishHtml(html, way, tokens, way.tracksOpens)
  return { html: finished.html, text, hasManyLinks: finished.links > linksOfOneTurn }
}

/** Returns HTML with the links and images as they are sent, and the number of its tracked links. */
export function finishHtml(html: string, way: Way, tokens: EmailTokens, hasPixel: boolean) {
  const { organizationId, baseUrl, utmQuery, sign } = way
  let links = 0
  const trackedUrl = (url: string, query: string) => {
    links++
    return `${baseUrl}/t/c/${tokens.links}/${sign({ url, query })}`
  }
  const finished = trackLinks(loadImagesAt(html, organizationId, baseUrl), {
    trackedUrl: way.tracksClicks ? trackedUrl : undefined,
    pixelUrl: hasPixel ? `${baseUrl}/t/o/${tokens.links}` : undefined,
    unsubscribeUrl: unsubscribeUrlOf(baseUrl, tokens),
    utmQuery,
    baseUrl,
  })
  return { html: finished, links }
}
