import { randomUUID } from 'node:crypto'
import { escapeHtml, trackLinks } from '../../content/content.ts'

/**
 * Adds `data-waxwing-link` with a number to the links of an email that are tracked, and returns their destinations in this
 * order. Found by tracking them, so that they are exactly those whose clicks are recorded.
 */
export function markLinks(html: string, unsubscribeUrl: string): { html: string; urls: string[] } {
  const urls: string[] = []
  // Nobody can write such a link.
  const start = `link:${randomUUID()}:`
  const trackedUrl = (url: string) => `${start}${urls.push(url) - 1}`
  const tracked = trackLinks(html, { trackedUrl, pixelUrl: undefined, unsubscribeUrl })
  const marked = tracked.replaceAll(
    new RegExp(`"${start}(\\d+)"`, 'g'),
    (_, number: string) => `"${escapeHtml(urls[Number(number)]!)}" data-waxwing-link="${number}"`,
  )
  return { html: marked, urls }
}
