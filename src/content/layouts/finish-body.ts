import type { ClickedLink, EmailTokens } from '../../platform/secrets/tokens.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { visitTags } from '../flows/html-tags.ts'
import { linksOfOneTurn, trackLinks } from '../flows/track-links.ts'
import { withUnsubscribeLine } from '../flows/unsubscribe-line.ts'
import { readImageAddress } from '../images/address.ts'

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

/** The attributes that load images. Texts and links stay as they were written. */
export const loadingAttributes = new Set(['src', 'srcset', 'background', 'style'])
/** In the address of an image, after that of an installation. */
const mark = '/i/'
const baseLengthMax = 300

/**
 * Lets readers load the images of the gallery from `baseUrl`, whatever the address of the installation was when they were
 * inserted. Those of other organizations stay unchanged, because the host of an organization does not serve them.
 */
export function loadImagesAt(html: string, organizationId: OrganizationId, baseUrl: string): string {
  const own = `${baseUrl}${mark}`
  if (!hasOthers(html, own)) return html
  let changed = ''
  let copied = 0
  visitTags(html, {
    wants: () => true,
    visit: (_tag, _start, attributes) => {
      for (const { name, value, start, end } of attributes) {
        if (!loadingAttributes.has(name) || !value.includes(mark)) continue
        const text = html.slice(start, end)
        for (const at of marksIn(text)) {
          const base = baseBefore(text, at)
          if (base === undefined || base === baseUrl || !isImageOf(organizationId, text, at)) continue
          changed += html.slice(copied, start + at - base.length) + baseUrl
          copied = start + at
        }
      }
    },
  })
  return changed + html.slice(copied)
}

function* marksIn(text: string): Iterable<number> {
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) yield at
}

/** Whether there may be images of the gallery at another address. Nearly always not. */
function hasOthers(html: string, own: string): boolean {
  for (const at of marksIn(html))
    if (!html.startsWith(own, at + mark.length - own.length) && fileAt(html, at) !== undefined) return true
  return false
}

/** Returns the address before a mark, if it is one. */
function baseBefore(text: string, at: number): string | undefined {
  const before = text.slice(Math.max(0, at - baseLengthMax), at)
  return /^https?:\/\/[^\s"'<>()\\,]+$/.exec(before.slice(before.lastIndexOf('http')))?.[0]
}

const fileAt = (text: string, at: number) => /^[\w-]{64}\.[a-z]+/.exec(text.slice(at + mark.length, at + 80))?.[0]

const isImageOf = (organizationId: OrganizationId, text: string, at: number) =>
  readImageAddress(fileAt(text, at) ?? '')?.organizationId === organizationId
