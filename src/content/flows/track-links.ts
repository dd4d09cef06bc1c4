import { clickUrlBytesMax } from '../../platform/secrets/tokens.ts'
import { decodeEntities, escapeHtml } from './html-entities.ts'
import { type Attribute, visitTags } from './html-tags.ts'
import { missingParameters, withQuery } from './utm.ts'
import { parseWebAddress } from './web-address.ts'

export type Tracking = {
  /** Returns the URL that counts a click and redirects to `url` with `query`. Undefined: clicks are not tracked. */
  trackedUrl: ((url: string, query: string) => string) | undefined
  /** The URL of the image that counts an open. Undefined: opens are not tracked. */
  pixelUrl: string | undefined
  /** The link that is never tracked; undefined if the email has none. */
  unsubscribeUrl: string | undefined
  /** Parameters that are added to links, except to those at `baseUrl`. */
  utmQuery?: string
  baseUrl?: string
}

/** Signing a link takes about 20 microseconds on the main thread, for each recipient. */
export const linksMax = 1_000
/** Emails with more links are composed one in each turn of the event loop. */
export const linksOfOneTurn = 100
/** The shortest link: `<a href=//a>`. */
const linkLengthMin = 12

/** Whether composing this email may take milliseconds. Counts what looks like the start of a link. */
export function hasManyLinks(html: string): boolean {
  if (html.length < linksOfOneTurn * linkLengthMin) return false
  let links = 0
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at + 1))
    if ((html.charCodeAt(at + 1) | 32) === letterA && ++links > linksOfOneTurn) return true
  return false
}

const letterA = 97

/**
 * Replaces the first thousand http links of an email by `trackedUrl`, adds parameters to them, and appends the tracking
 * pixel to its body. Links of other schemes or with `data-waxwing-track="off"`, and the content of comments, styles and
 * scripts, stay unchanged byte for byte.
 */
export function trackLinks(html: string, tracking: Tracking): string {
  const { trackedUrl = withQuery, pixelUrl, unsubscribeUrl, utmQuery = '', baseUrl = '' } = tracking
  const changesLinks = tracking.trackedUrl !== undefined || utmQuery !== ''
  if (!changesLinks && !pixelUrl) return html
  let tracked = ''
  let copied = 0
  let bodyEnd = -1
  let links = 0
  visitTags(html, {
    wants: (name) => name === 'a' || name === 'area' || name === '/body',
    visit: (name, start, attributes) => {
      if (name === '/body') {
        bodyEnd = tracked.length + start - copied
        return
      }
      const href = changesLinks ? trackableHref(attributes) : undefined
      const url = href && destinationOf(href.value)
      if (!url || url === unsubscribeUrl || ++links > linksMax) return
      const query = utmQuery === '' || isAt(baseUrl, url) ? '' : missingParameters(url, utmQuery)
      tracked += `${html.slice(copied, href.start)}"${escapeHtml(trackedUrl(url, query))}"`
      copied = href.end
    },
  })
  tracked += html.slice(copied)
  if (!pixelUrl) return tracked
  const pixel = `<img src="${escapeHtml(pixelUrl)}" width="1" height="1" alt="" style="border:0;width:1px;height:1px">`
  return bodyEnd === -1 ? tracked + pixel : tracked.slice(0, bodyEnd) + pixel + tracked.slice(bodyEnd)
}

/** Whether the link leads to this installation. */
export const isAt = (baseUrl: string, url: string) =>
  url.startsWith(baseUrl) && (url.length === baseUrl.length || /[/?#]/.test(url[baseUrl.length]!))

function trackableHref(attributes: readonly Attribute[]): Attribute | undefined {
  // Browsers use the first of several attributes with the same name.
  const isOff =
    attributes
      .find(({ name }) => name === 'data-waxwing-track')
      ?.value.trim()
      .toLowerCase() === 'off'
  return isOff ? undefined : attributes.find(({ name }) => name === 'href')
}

const plainUrl = /^https?:\/\/[\w!#$%&'()*+,\-./:;=?@[\]~]+$/i

/** Returns the destination of a link as browsers resolve it, or undefined if the link should stay unchanged. */
function destinationOf(href: string): string | undefined {
  const decoded = href.includes('&') ? decodeEntities(href) : href
  if (decoded === undefined) return undefined
  const url = plainUrl.test(decoded) ? decoded : encodedUrl(decoded)
  return url !== undefined && url.length <= clickUrlBytesMax ? url : undefined
}

/** Encodes what a browser would encode, because the destination is returned as the Location of a redirect. */
function encodedUrl(text: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: browsers drop these, too
  const url = text.replace(/^[\u0000-\u0020]+|[\t\r\n]/g, '').trimEnd()
  return parseWebAddress(url)?.href
}
