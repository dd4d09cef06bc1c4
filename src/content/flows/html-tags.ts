// Finds the tags of an HTML document as browsers do, with the tokenizer of the HTML standard reduced to what matters
// here: comments, raw text elements, and attributes with and without quotes. A single pass from left to right.

export type Attribute = { name: string; start: number; end: number; value: string }
/** `visit` gets the tag name in lower case (`/body` for an end tag). The attributes are valid during the call. */
export type TagVisitor = {
  wants(name: string): boolean
  visit(name: string, start: number, attributes: readonly Attribute[], end: number): void
  /** Called for declarations and comments, the content of raw text elements, and what extends to the end of the document. */
  skip?: (start: number, end: number) => void
}

export const rawTextElements = new Set('script style textarea title xmp iframe noembed noframes plaintext'.split(' '))

const isSpace = (code: number) => code === 32 || (code >= 9 && code <= 13)
const isLetter = (code: number) => (code | 32) >= 97 && (code | 32) <= 122
const slash = 47
const greater = 62
const equals = 61

/** Returns false if a tag, a comment or a raw text element extends to the end of the document. */
export function visitTags(html: string, visitor: TagVisitor): boolean {
  let at = html.indexOf('<')
  while (at !== -1) {
    const end = visitTag(html, at, visitor)
    if (end === -1) {
      visitor.skip?.(at, html.length)
      return false
    }
    at = html.indexOf('<', end)
  }
  return true
}

/** Returns where the tag that starts here ends, or -1 if it extends to the end of the document. */
function visitTag(html: string, start: number, visitor: TagVisitor): number {
  const next = html[start + 1]
  if (next === '!' || next === '?') return skipped(visitor, start, endOfDeclaration(html, start))
  const nameStart = next === '/' ? start + 2 : start + 1
  if (!isLetter(html.charCodeAt(nameStart))) return start + 1

  let nameEnd = nameStart + 1
  while (nameEnd < html.length && !isNameEnd(html.charCodeAt(nameEnd))) nameEnd++
  const name = html.slice(next === '/' ? start + 1 : nameStart, nameEnd).toLowerCase()
  const attributes: Attribute[] | undefined = visitor.wants(name) ? [] : undefined
  const end = readAttributes(html, nameEnd, attributes)
  if (end === -1) return -1
  if (attributes) visitor.visit(name, start, attributes, end)
  return rawTextElements.has(name) ? skipped(visitor, end, endOfRawText(html, name, end)) : end
}

function skipped(visitor: TagVisitor, start: number, end: number): number {
  if (end !== -1) visitor.skip?.(start, end)
  return end
}

const isNameEnd = (code: number) => isSpace(code) || code === slash || code === greater

function readAttributes(html: string, from: number, attributes: Attribute[] | undefined): number {
  let at = from
  while (at < html.length) {
    const code = html.charCodeAt(at)
    if (code === greater) return at + 1
    if (isSpace(code) || code === slash) at++
    else at = readAttribute(html, at, attributes)
  }
  return -1
}

function readAttribute(html: string, start: number, attributes: Attribute[] | undefined): number {
  let nameEnd = start + 1
  while (nameEnd < html.length && html.charCodeAt(nameEnd) !== equals && !isNameEnd(html.charCodeAt(nameEnd))) nameEnd++
  let at = skipSpace(html, nameEnd)
  if (html.charCodeAt(at) !== equals) {
    attributes?.push({ name: html.slice(start, nameEnd).toLowerCase(), start: nameEnd, end: nameEnd, value: '' })
    return nameEnd
  }
  at = skipSpace(html, at + 1)
  const quote = html[at]
  const isQuoted = quote === '"' || quote === "'"
  let end = at
  if (isQuoted) end = after(html, quote, at + 1)
  else while (end < html.length && !isSpace(html.charCodeAt(end)) && html.charCodeAt(end) !== greater) end++
  if (end === -1) return html.length
  const value = isQuoted ? html.slice(at + 1, end - 1) : html.slice(at, end)
  attributes?.push({ name: html.slice(start, nameEnd).toLowerCase(), start: at, end, value })
  return end
}

function skipSpace(html: string, from: number): number {
  let at = from
  while (isSpace(html.charCodeAt(at))) at++
  return at
}

function after(html: string, text: string, from: number): number {
  const at = html.indexOf(text, from)
  return at === -1 ? -1 : at + text.length
}

/** Returns the end of a comment, also a conditional one, of a doctype, of `<?xml>`, or of Outlook's `<![endif]>`. */
function endOfDeclaration(html: string, start: number): number {
  if (!html.startsWith('<!--', start)) return after(html, '>', start)
  if (html.startsWith('<!-->', start)) return start + 5
  return after(html, '-->', start + 4 - (html[start + 4] === '-' ? 1 : 0))
}

function endOfRawText(html: string, name: string, from: number): number {
  const closing = new RegExp(`</${name}[\\s/>]`, 'gi')
  closing.lastIndex = from
  return closing.exec(html)?.index ?? -1
}
