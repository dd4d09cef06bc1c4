import { escapeHtml } from '../flows/escape.ts'
import { visitTags } from '../flows/html-tags.ts'

/**
 * Gives a marketing mail a way out that people can see. A part whose template shows the address already stays as it is:
 * what counts is the finished mail, since a template may show it under a condition only.
 */
export function withUnsubscribeLine<Bodies extends { html: string; text: string }>(mail: Bodies, url: string): Bodies {
  return { ...mail, html: htmlWithLine(mail.html, url), text: textWithLine(mail.text, url) }
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
