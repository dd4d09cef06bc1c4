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
