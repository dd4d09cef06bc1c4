import type { SuppressionReason } from '../contacts/eligibility.ts'

// Status values of other systems. An unknown value may mean anything, so its row is rejected if a mapping names the
// column, rather than emailing someone who may have opted out.
const words: [SuppressionReason | null, string[]][] = [
  ['unsubscribe', ['unsubscribed', 'unsubscribe', 'opted out', 'opt out', 'false', 'no', '0']],
  ['hard_bounce', ['bounced', 'bounce', 'hard bounce', 'hard bounced', 'cleaned']],
  ['complaint', ['complained', 'complaint', 'spam']],
  ['manual', ['suppressed', 'blocklisted', 'blacklisted', 'blocked']],
  [null, ['', 'subscribed', 'active', 'confirmed', 'enabled', 'opted in', 'opt in', 'true', 'yes', '1']],
]
const reasons = new Map(words.flatMap(([reason, texts]) => texts.map((text) => [text, reason] as const)))

/** Returns the reason to suppress the address, null if there is none, or undefined if the value is unknown. */
export const readStatus = (cell: string): SuppressionReason | null | undefined =>
  reasons.get(
    cell
      .trim()
      .toLowerCase()
      .replace(/[\s_-]+/g, ' '),
  )
