// What of an email the preview shows, and what can be chosen in it.

/** The nth occurrence of a text, or of the value of an attribute, in the order of the email. */
export type Occurrence = { text: string; nth: number }
export type Picked = { text?: Occurrence; href?: Occurrence; src?: Occurrence }

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' }
export const decoded = (html: string) =>
  html.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi, (entity, decimal, hex, name) => {
    if (name) return entities[name.toLowerCase()] ?? entity
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : entity
  })

/** HTML without tags, as a browser shows it. */
export const shownText = (html: string) => withoutSpace(decoded(html))
export const withoutSpace = (text: string) => text.replace(/[\s\u00a0]+/g, ' ').trim()
