import { type Liquid, Tokenizer, type TopLevelToken, TypeGuards } from 'liquidjs'

export type HtmlToText = (html: string) => string

// Converting takes about 90 µs a kilobyte, and whoever reads a text of this length has stopped long before.
const htmlLengthMax = 100_000
// Elements within elements take time by the square of their number: 20 ms for these.
const tagsMax = 4_000
const depthMax = 200

/** Loaded on demand: it takes 10 MB, and most flows need it once, when they are saved. */
export async function loadHtmlToText(): Promise<HtmlToText> {
  const { compile } = await import('html-to-text')
  const keepCase = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } }))
  const skipped = ['head', 'style', 'script', 'title', 'template'].map((selector) => ({ selector, format: 'skip' }))
  const convert = compile({
    wordwrap: false,
    limits: { maxDepth: depthMax, ellipsis: '' },
    // The whole document: tags of the template may stand before the body.
    baseElements: { selectors: [], returnDomByDefault: true },
    formatters: {
      alternative: (element, _walk, builder) => builder.addInline(element.attribs.alt ?? ''),
    },
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

/** Where the part that is converted ends. */
function endOfStart(html: string): number {
  let tag = html.indexOf('<')
  for (let tags = 0; tags < tagsMax && tag !== -1 && tag < htmlLengthMax; tags++) tag = html.indexOf('<', tag + 1)
  return tag === -1 ? htmlLengthMax : Math.min(tag, htmlLengthMax)
}

// Invisible characters by which senders push the text after a preheader out of the preview.
const fillers = /(?:\u034f|[\u00a0\u00ad\u061c\u200b-\u200d\u2007\u2060\ufeff ]){4,}/g

/** What leaving out parts of a text leaves behind: ends of lines, more than one empty line, fillers. */
export function tidy(text: string): string {
  // Line by line: an expression for spaces before a line's end takes time by the square of their number.
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
 * The text template that an HTML template amounts to, tags and all, so that the text of a mail costs no more than a few
 * microseconds (converting the finished HTML costs 290 µs for 3.4 KB). Undefined where that would not be the same as
 * converting the finished HTML: a tag that is lost or moved on the way, HTML that comes with the values, lists whose
 * numbers a loop would repeat, whitespace that means something or that tags take away.
 */
export function textTemplateOf(engine: Liquid, html: string, htmlToText: HtmlToText): string | undefined {
  if (html.length > htmlLengthMax || /[\ue000\ue001]/.test(html) || /<(?:ol|pre)[\s>]/i.test(html)) return undefined
  const tokens = new Tokenizer(html, engine.options.operators).readTopLevelTokens(engine.options)
  const tags = tokens.filter(TypeGuards.isDelimitedToken)
  if (tags.some(changesText)) return undefined

  let index = 0
  const marked = tokens.map((token) =>
    TypeGuards.isDelimitedToken(token) ? `\ue000${index++}\ue001` : token.getText(),
  )
  const text = htmlToText(marked.join(''))
  const seen = [...text.matchAll(/\ue000(\d+)\ue001/g)].map(([, index]) => tags[Number(index)]!)
  const kept = seen.filter(TypeGuards.isTagToken)
  const wanted = tags.filter(TypeGuards.isTagToken)
  if (kept.length !== wanted.length || kept.some((tag, index) => tag !== wanted[index])) return undefined
  const tagAt = (index: string) => tags[Number(index)]!
  return text
    .replace(/^[ \t]*((?:\ue000\d+\ue001[ \t]*)+)\n/gm, (line, marks: string) => {
      // A line of tags alone is no line of the text.
      const areTags = [...marks.matchAll(/\d+/g)].every(([index]) => TypeGuards.isTagToken(tagAt(index)))
      return areTags ? marks.trimEnd() : line
    })
    .replace(/\ue000(\d+)\ue001/g, (_, index: string) => sourceOf(tagAt(index)))
}

/** What a derived template renders to, with the spaces that HTML would not show taken out. */
export const tidyDerived = (text: string): string => tidy(text.replace(/(\S)[ \t]{2,}/g, '$1 '))

/** `raw` shows HTML that a text must not show; `{{-` takes away line breaks that only the text has. */
function changesText(tag: TopLevelToken): boolean {
  const source = tag.getText()
  return (
    /\|\s*raw\b/.test(source) || (TypeGuards.isOutputToken(tag) && (source.startsWith('{{-') || source.endsWith('-}}')))
  )
}

const sourceOf = (tag: TopLevelToken) => tag.getText().replace(/^\{%-/, '{%').replace(/-%\}$/, '%}')
