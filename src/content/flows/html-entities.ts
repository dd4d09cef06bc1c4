const special = /[&<>"']/
const every = /[&<>"']/g
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' }

/** Escapes text for HTML content and for quoted attributes. */
export function escapeHtml(text: string): string {
  return special.test(text) ? text.replace(every, (character) => entities[character]!) : text
}

const escaped = /&(?:amp|lt|gt|quot|#34|#39);/g
const characters: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#34;': '"',
  '&#39;': "'",
}

/** Like `escapeHtml`, but leaves text that is already escaped unchanged. */
export function escapeHtmlOnce(text: string): string {
  return escapeHtml(text.replace(escaped, (entity) => characters[entity]!))
}

const named = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }))
const reference = /&(?:#x([\da-f]{1,8});?|#(\d{1,8});?|([a-z][a-z\d]*)(;?=?))/gi

/**
 * Decodes the value of an attribute as browsers do. Returns undefined if it contains other named references than those
 * above, which are too rare in links to include a table.
 */
export function decodeEntities(value: string): string | undefined {
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
    const character = named.get(name)
    if (end?.startsWith(';') && character === undefined) isKnown = false
    if (character === undefined) return whole
    // Without a semicolon and before a `=`, it is a query parameter of that name.
    if (end === '=') return whole
    return end === ';=' ? `${character}=` : character
  })
  return isKnown ? decoded : undefined
}
