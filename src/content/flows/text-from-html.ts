import { type Piece, piecesOf } from './liquid/liquid.ts'

export type HtmlToText = (html: string) => string

// Converting takes about 90 µs per kilobyte, and no one reads a text of this length to its end.
const htmlLengthMax = 100_000
// Nested elements take quadratic time: 20 ms for this many.
const tagsMax = 4_000
const depthMax = 200

/** Loaded on demand: the library takes 10 MB, and most flows need it only when they are saved. */
export async function loadHtmlToText(): Promise<HtmlToText> {
  const { compile } = await import('html-to-text')
  const keepCase = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } }))
  const skipped = [
    ...['head', 'style', 'script', 'title', 'template', 'div[data-preheader]'],
    // The preview of React Email.
    '[data-skip-in-text=true]',
  ].map((selector) => ({ selector, format: 'skip' }))
  const convert = compile({
    wordwrap: false,
    limits: { maxDepth: depthMax, ellipsis: '' },
    // Converts the whole document, because template tags may precede the body.
    baseElements: { selectors: [], returnDomByDefault: true },
    formatters: { alternative: (element, _walk, builder) => builder.addInline(element.attribs.alt ?? '') },
    selectors: [
      ...keepCase,
      ...skipped,
      { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
      { selector: 'img', format: 'alternative' },
      { selector: 'tr', format: 'block', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
      { selector: 'td', format: 'inlineSurround', options: { suffix: ' ' } },
      { selector: 'th', format: 'inlineSurround', options: { suffix: ' ' } },
      { selector: 'ul', options: { itemPrefix: '- ' } },
    ],
  })
  return (html) => tidy(convert(html.slice(0, endOfStart(html))))
}

/** Returns where the converted part ends. */
function endOfStart(html: string): number {
  let tag = html.indexOf('<')
  for (let tags = 0; tags < tagsMax && tag !== -1 && tag < htmlLengthMax; tags++) tag = html.indexOf('<', tag + 1)
  return tag === -1 ? htmlLengthMax : Math.min(tag, htmlLengthMax)
}

// Invisible characters that senders use to push the text after a preheader out of the preview.
const fillers = /(?:\u034f|[\u00a0\u00ad\u061c\u200b-\u200f\u2007\u2060\ufeff ]){4,}/g

/** Removes trailing whitespace, repeated blank lines and fillers that remain after parts of a text were removed. */
function tidy(text: string): string {
  // Line by line, because a regular expression for trailing spaces takes quadratic time.
  const lines = text
    .replace(fillers, ' ')
    .split('\n')
    .map((line) => line.trimEnd())
  return lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/**
 * Converts an HTML template, including its Liquid tags, to a text template, so that the text of an email takes only a
 * few microseconds (converting the rendered HTML takes 290 µs for 3.4 KB). Returns undefined if the result could differ
 * from converting the rendered HTML: if a tag is lost or moved, values contain HTML, numbered lists contain tags, or
 * whitespace is significant or removed by tags.
 */
export function textTemplateOf(html: string, htmlToText: HtmlToText): string | undefined {
  if (html.length > htmlLengthMax || /[\ue000\ue001]|<pre[\s>]/i.test(html) || hasVariableList(html)) return undefined
  const pieces = piecesOf(html)
  const tags = pieces.filter(({ kind }) => kind !== 'text')
  if (tags.some(changesText)) return undefined

  let index = 0
  const marked = pieces.map(({ kind, text }) => (kind === 'text' ? text : `\ue000${index++}\ue001`))
  const text = htmlToText(marked.join(''))
  const seen = [...text.matchAll(/\ue000(\d+)\ue001/g)].map(([, index]) => tags[Number(index)]!)
  const kept = seen.filter(isTag)
  const wanted = tags.filter(isTag)
  if (kept.length !== wanted.length || kept.some((tag, index) => tag !== wanted[index])) return undefined
  const tagAt = (index: string) => tags[Number(index)]!
  return text
    .replace(/^[ \t]*((?:\ue000\d+\ue001[ \t]*)+)\n/gm, (line, marks: string) => {
      // A line that consists of tags is not a line of the text.
      const areTags = [...marks.matchAll(/\d+/g)].every(([index]) => isTag(tagAt(index)))
      return areTags ? marks.trimEnd() : line
    })
    .replace(/\ue000(\d+)\ue001/g, (_, index: string) => sourceOf(tagAt(index)))
}

/** Whether there is a tag between the start of the first numbered list and the end of the last: it may change numbers. */
function hasVariableList(html: string): boolean {
  const start = html.search(/<ol[\s>]/i)
  if (start === -1) return false
  const end = html.toLowerCase().lastIndexOf('</ol')
  return html.slice(start, end > start ? end : undefined).includes('{%')
}

/** Removes the spaces that HTML would not show from a rendered derived template. */
export const tidyDerived = (text: string): string => tidy(text.replace(/(\S)[ \t]{2,}/g, '$1 '))

/** `raw` outputs HTML, which a text must not contain; `{{-` strips line breaks that only the text has. */
function changesText({ kind, text }: Piece): boolean {
  return /\|\s*raw\b/.test(text) || (kind === 'output' && (text.startsWith('{{-') || text.endsWith('-}}')))
}

const isTag = ({ kind }: Piece) => kind === 'tag'

const sourceOf = ({ text }: Piece) => text.replace(/^\{%-/, '{%').replace(/-%\}$/, '%}')
