import { findAddresses, recipientsMax } from './addresses.ts'
import { findReplyCode, findStatus } from './codes.ts'
import { findPhrase } from './find-phrase.ts'
import { anyPattern } from './rule-usage.ts'

const addressesPerLineMax = 5
const leadCharsMax = 300
const segmentCharsMax = 8 * 1024

/** The lines of a notice about one recipient: from its address to the next one. */
export type Failure = { recipient: string; text: string }

/** `own` are addresses that are not recipients: reader and writer of the report, sender of the returned message. */
export function findFailures(words: string, own: ReadonlySet<string>): Failure[] {
  return withoutAsides(segments(words, own))
}

// The text before a recipient: nothing, a quoted command or reply, or words that announce an address.
const anchors = [
  /^[\s*<"'>•·-]{0,20}(?:mailto:)?$/,
  /^[\s>*"'-]{0,20}[^\s@]{1,128}@\S{1,255} <$/,
  /\brcpt to: ?<?$/i,
  /^\s*(?:<<< ?)?[45]\d\d[ -](?:[245]\.\d{1,3}\.\d{1,3} )?<?$/,
  /^[\s[]{0,20}(?:\w{1,20}: \w{1,20}, )?(?:final |original |failed |recipients?'? )?(?:recipient|address|addressed to|user|mailbox|收件人)(?: address)?(?:\(s\)|s|es)?\s{0,8}[:：=]\s{0,20}["'<]{0,2}(?:rfc822; ?<?)?$/i,
  /\b(?:deliver|delivered|delivery|delivering|send|sent|sending|reach|message|mail|addressed)\b.{0,60}\b(?:to|for|recipients?|addresse?s?|user|reach)\b[^a-z]{0,10}["'<]{0,2}$/i,
  /\b(?:unknown|invalid|no such|nonexistent|undeliverable)\b.{0,30}[:\s]\s?["'<]{0,2}$/i,
  /\b(?:exceeds|full|quota|size|limit)\b[^:]{0,40}: ["'<]{0,2}$/i,
  /\b(?:mailbox|user|recipient|account|address|list)\s{1,4}["'<]{0,2}$/i,
]

function segments(words: string, own: ReadonlySet<string>): Failure[] {
  const texts = new Map<string, string>()
  let current: string | null = null
  for (const line of words.split('\n')) {
    const named = namedIn(line, own)
    if (named && (texts.size < recipientsMax || texts.has(named))) current = named
    if (!current) continue
    const text = texts.get(current) ?? ''
    if (text.length < segmentCharsMax) texts.set(current, `${text}${line}\n`)
    if (closing.test(line)) current = null
  }
  return [...texts].map(([recipient, text]) => ({ recipient, text }))
}

// The last line that sendmail writes about a recipient in its transcript.
const closing = /^[45]\d\d (?:[45]\.\d{1,3}\.\d{1,3} )?<[^<>]{1,320}>\.\.\. /

function namedIn(line: string, own: ReadonlySet<string>): string | null {
  if (!line.includes('@')) return null
  const lower = line.toLowerCase()
  for (const address of findAddresses(line).slice(0, addressesPerLineMax)) {
    const at = lower.indexOf(address)
    const before = line.slice(0, Math.max(0, at)).slice(-leadCharsMax)
    if (own.has(address) || isAside(before) || isDisplayName(address, lower.slice(at + address.length))) continue
    if (anyPattern(anchors, before)) return address
  }
  return null
}

const isAside = (before: string) => aside.test(before)
const aside =
  /\b(?:contact|help|support|assistance|questions?|postmaster,|abuse|please (?:send|mail|write)|write to|sender:?|from:?|on behalf of|administrator|envelope-from)\b.{0,80}$/i

/** `ada@example.com <ada@example.org>`: the first is a display name. */
function isDisplayName(address: string, after: string): boolean {
  const real = /^"? ?<([^<>\s]{1,320})>/.exec(after)?.[1]
  return real?.includes('@') === true && real !== address
}

/** Addresses without a reason are dropped if they follow a recipient with one, since they are only mentioned. */
function withoutAsides(failures: Failure[]): Failure[] {
  const first = failures.findIndex(({ text }) => saysSomething(text))
  return first < 0 ? failures : failures.filter(({ text }, index) => index <= first || saysSomething(text))
}

/** Returns true if a text contains a code or a phrase that can decide a verdict. */
export function saysSomething(text: string): boolean {
  return findReplyCode(text) !== null || findStatus(text) !== null || findPhrase(text) !== undefined
}

/** Addresses in notices of unknown form. An address that is mentioned as a contact or a sender is ignored everywhere. */
export function findMentioned(words: string, own: ReadonlySet<string>): string[] {
  const asides = new Set(own)
  const mentioned = new Set<string>()
  for (const line of words.split('\n')) {
    const lower = line.toLowerCase()
    for (const address of findAddresses(line).slice(0, addressesPerLineMax)) {
      if (isAside(line.slice(0, Math.max(0, lower.indexOf(address))).slice(-leadCharsMax))) asides.add(address)
      mentioned.add(address)
    }
  }
  return [...mentioned].filter((address) => !asides.has(address))
}
