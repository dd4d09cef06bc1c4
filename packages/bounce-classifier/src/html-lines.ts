const tagCharsMax = 32
const blockTag = /^\/?(?:p|br|div|tr|td|th|li|ul|ol|h[1-6]|table|pre|blockquote|hr)\b/i
const silentTag = /^(?:style|script|head|title)\b/i

/** The words of an HTML notice, a line for each block. Takes one pass, also over hostile markup. */
export function htmlToLines(html: string): string {
  let lines = ''
  let silent = ''
  let at = 0
  while (at < html.length) {
    const open = html.indexOf('<', at)
    if (open < 0) break
    if (silent === '') lines += html.slice(at, open)
    const close = html.indexOf('>', open)
    if (close < 0) return decodeEntities(lines)
    const tag = html.slice(open + 1, Math.min(close, open + 1 + tagCharsMax)).toLowerCase()
    if (silent !== '') {
      if (tag.startsWith(`/${silent}`)) silent = ''
    } else {
      silent = silentTag.exec(tag)?.[0] ?? ''
      if (blockTag.test(tag)) lines += '\n'
    }
    at = close + 1
  }
  return decodeEntities(silent === '' ? lines + html.slice(at) : lines)
}

const entities: Record<string, string> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  '#39': "'",
  '#64': '@',
}

function decodeEntities(text: string): string {
  return text.replace(/&(#?\w{1,6});/g, (whole, name: string) => entities[name.toLowerCase()] ?? whole)
}
