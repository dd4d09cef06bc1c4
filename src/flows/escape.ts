const special = /[&<>"']/
const every = /[&<>"']/g
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' }

/** Text made safe to stand in HTML, between tags as well as in a quoted attribute. */
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

/** As `escapeHtml`, but what was escaped already stays as it is. */
export function escapeHtmlOnce(text: string): string {
  return escapeHtml(text.replace(escaped, (entity) => characters[entity]!))
}
