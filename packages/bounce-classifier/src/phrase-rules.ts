import { addressRules, lookupRules } from './address-phrases.ts'
import type { PhraseRule } from './phrase-list.ts'
import { mailboxRules, otherRules, senderRules } from './sender-phrases.ts'

/**
 * What mail systems write. The first rule that matches decides, so what blames the mailbox's state, the sender or the
 * content stands before what blames the address: a wrong "hard" loses a reader, a wrong "soft" costs one more mail.
 */
export const phraseRules: readonly PhraseRule[] = [
  ...lookupRules,
  ...mailboxRules,
  ...senderRules,
  ...addressRules,
  ...otherRules,
]
