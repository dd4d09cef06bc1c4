import { escapeHtml } from './html-entities.ts'
import { visitTags } from './html-tags.ts'

/**
 * Adds a visible unsubscribe link to a marketing email. A part that contains the link already stays unchanged. Checks the
 * rendered email, not the template, because a template may show the link under a condition only.
 */
export function withUnsubscribeLine<Bodies extends { html: string | null; text: string | null }>(
  body: Bodies,
  url: string,
): Bodies {
  const html = body.html === null ? null : htmlWithLine(body.html, url)
  const text = body.text === null ? null : textWithLine(body.text, url)
  return { ...body, html, text }
}

function htmlWithLine(html: string, url: string): string {
  const address = escapeHtml(url)
  if (html.includes(address) || html.includes(url)) return html
  const line = `<p style="margin:24px 0 0;font:12px/18px sans-serif;color:#666;text-align:center"><a href="${address}" style="color:#666">Unsubscribe</a></p>`
  const end = endOfBody(html)
  return html.slice(0, end) + line + html.slice(end)
}

function endOfBody(html: string): number {
  let end = html.length
  visitTags(html, {
    wants: (name) => name === '/body',
    visit: (_, start) => {
      end = start
    },
  })
  return end
}

function textWithLine(text: string, url: string): string {
  return text.includes(url) ? text : `${text.trimEnd()}\n\n--\nUnsubscribe: ${url}\n`
}
