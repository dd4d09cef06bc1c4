import type { SuppressionReason } from './suppressions.sql.ts'

// What other systems write beside an address. A word that is not here may mean anything, so where a mapping names the
// column its row is refused: it is better to be asked than to write to somebody who said no.
const words: [SuppressionReason | null, string[]][] = [
  ['unsubscribe', ['unsubscribed', 'unsubscribe', 'opted out', 'opt out', 'false', 'no', '0']],
  ['hard_bounce', ['bounced', 'bounce', 'hard bounce', 'hard bounced', 'cleaned']],
  ['complaint', ['complained', 'complaint', 'spam']],
  ['manual', ['suppressed', 'blocklisted', 'blacklisted', 'blocked']],
  [null, ['', 'subscribed', 'active', 'confirmed', 'enabled', 'opted in', 'opt in', 'true', 'yes', '1']],
]
const reasons = new Map(words.flatMap(([reason, texts]) => texts.map((text) => [text, reason] as const)))

/** Why the person gets no mail, null where nothing speaks against it; undefined when the word is not known. */
export const readStatus = (cell: string): SuppressionReason | null | undefined =>
  reasons.get(
    cell
      .trim()
      .toLowerCase()
      .replace(/[\s_-]+/g, ' '),
  )
