import { escapeHtml } from '../flows/escape.ts'
import { type Attribute, visitTags } from '../flows/html-tags.ts'
import { clickUrlBytesMax } from '../secrets/tokens.ts'

export type Tracking = {
  /** Returns the URL that counts a click and redirects to `url`. */
  trackedUrl: (url: string) => string
  /** The URL of the image that counts an open. */
  pixelUrl: string
  /** The link that is never tracked; undefined if the email has none. */
  unsubscribeUrl: string | undefined
}

/**
 * Replaces the http links of an email by `trackedUrl` and appends the tracking pixel to its body. Links of other
 * schemes or with `data-waxwing-track="off"`, and the content of comments, styles and scripts, stay unchanged byte for
 * byte.
 */
export function trackLinks(html: string, { trackedUrl, pixelUrl, unsubscribeUrl }: Tracking): string {
  let tracked = ''
  let copied = 0
  let bodyEnd = -1
  visitTags(html, {
    wants: (name) => name === 'a' || name === 'area' || name === '/body',
    visit: (name, start, attributes) => {
      if (name === '/body') {
        bodyEnd = tracked.length + start - copied
        return
      }
      const href = trackableHref(attributes)
      const url = href && destinationOf(href.value)
      if (!url || url === unsubscribeUrl) return
      tracked += `${html.slice(copied, href.start)}"${escapeHtml(trackedUrl(url))}"`
      copied = href.end
    },
  })
  tracked += html.slice(copied)
  const pixel = `<img src="${escapeHtml(pixelUrl)}" width="1" height="1" alt="" style="border:0;width:1px;height:1px">`
  return bodyEnd === -1 ? tracked + pixel : tracked.slice(0, bodyEnd) + pixel + tracked.slice(bodyEnd)
}

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
  return /^https?:\/\//i.test(url) && URL.canParse(url) ? new URL(url).href : undefined
}

const characters = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }))
const reference = /&(?:#x([\da-f]{1,8});?|#(\d{1,8});?|([a-z][a-z\d]*)(;?=?))/gi

/** Returns undefined for unknown named references; such links are too rare to include a table. */
function decodeEntities(value: string): string | undefined {
  if (!/&(?!amp;)/.test(value)) return value.replaceAll('&amp;', '&')
  let isKnown = true
  const decoded = value.replace(reference, (whole, hex?: string, decimal?: string, name?: string, end?: string) => {
    if (name === undefined) {
      const code = hex ? Number.parseInt(hex, 16) : Number(decimal)
      // Browsers map these codes through special tables.
      if (code < 32 || (code > 126 && code < 160) || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff)
        isKnown = false
      return isKnown ? String.fromCodePoint(code) : whole
    }
    const character = characters.get(name)
    if (end?.startsWith(';') && character === undefined) isKnown = false
    if (character === undefined) return whole
    // Without a semicolon and before a `=`, it is a query parameter of that name.
    if (end === '=') return whole
    return end === ';=' ? `${character}=` : character
  })
  return isKnown ? decoded : undefined
}
