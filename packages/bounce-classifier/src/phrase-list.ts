import type { BounceReason } from './reasons.ts'

export type PhraseRule = {
  reason: BounceReason
  phrases: readonly string[]
  /** Said by whoever looked the address up: needs no other sign that the address is meant. */
  sure?: boolean
}

/**
 * Phrases between commas, in lower case, without apostrophes, with single spaces for any run of blanks, `-` and `_`.
 * A phrase is found at the start of a word; ` * ` stands for a few words, `@` for an address.
 */
export function phraseList(text: string): readonly string[] {
  return text
    .split(',')
    .map((phrase) => phrase.replace(/\s+/g, ' ').trim())
    .filter((phrase) => phrase !== '')
}
