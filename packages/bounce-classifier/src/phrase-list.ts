import type { BounceReason } from './reasons.ts'

export type PhraseRule = {
  reason: BounceReason
  phrases: readonly string[]
  /** The result of a directory lookup, which needs no other sign that the address is meant. */
  sure?: boolean
  /** Says so little that any status about something else than the address wins. */
  vague?: boolean
  /** The state is expected to end, so that no status makes it hard. */
  temporary?: boolean
  /** The public documentation or source code that lists these wordings. Left out for wordings from general experience. */
  source?: string
}

/**
 * Words that mail systems use with the same meaning. `{who}` in a phrase matches any word of its class. `@` is an
 * address.
 */
const wordClasses = {
  who: '@|user|recipient|mailbox|mail box|account|address|addressee|alias|customer|subscriber|e mail|email',
  box: 'mailbox|mail box|inbox|mbox|maildir|mailfolder|mail folder|account|user|recipient|mail spool|storage|disk',
  mail: 'message|mail|email|e mail',
  missing:
    'unknown|not known|not found|not be found|nt be found|nt found|not find|not exist|nt exist|no longer|invalid|not valid|not recognized|not recognised|not present|not listed|nonexist|non exist|deleted|removed|terminated|not a valid|not registered|misspelled|incorrect',
  closed: 'disabled|inactive|deactivated|discontinued|closed|expired|not active|nt active|not activated',
  paused: 'suspended|locked|frozen|on hold|temporarily|currently',
} as const

/**
 * Phrases between commas, in lower case, without apostrophes, with single spaces for any run of blanks, `-` and `_`.
 * A phrase is found at the start of a word. ` * ` matches up to 32 characters. `|` separates alternatives, within parentheses
 * or else between two ` * `. `{who}` matches any word of a class.
 */
export function phraseList(text: string): readonly string[] {
  return text
    .split(',')
    .map((phrase) => phrase.replace(/\s+/g, ' ').trim())
    .filter((phrase) => phrase !== '')
}

/** A parsed phrase: the alternatives of each part. */
export type PhraseParts = readonly (readonly string[])[]

export function parsePhrase(phrase: string): PhraseParts {
  return phrase.split(' * ').map((part) => expandGroups(`(${part})`))
}

/** `no such (user|{who})` becomes one text for each alternative. */
function expandGroups(part: string): string[] {
  const group = /\{(\w+)\}|\(([^(){}]*)\)/.exec(part)
  if (!group) return [part]
  const [written, className, alternatives] = group
  const replace = (text: string) => part.slice(0, group.index) + text + part.slice(group.index + written.length)
  if (className !== undefined) return expandGroups(replace(`(${wordClasses[className as keyof typeof wordClasses]})`))
  return alternatives!.split('|').flatMap((text) => expandGroups(replace(text)))
}
