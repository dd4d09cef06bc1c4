import { type PhraseParts, type PhraseRule, parsePhrase } from './phrase-list.ts'
import { phraseRules } from './phrases.ts'
import { findEntry, isRecording } from './rule-usage.ts'

const textCharsMax = 8 * 1024
const gapCharsMax = 32
const lineCharsMax = 300

export type PhraseMatch = { rule: PhraseRule; phrase: PhraseParts }

/** The first rule of the table with a phrase that occurs in the text. */
export function findPhrase(text: string): PhraseMatch | undefined {
  const words = normalize(text)
  let first: PhraseMatch | undefined
  for (const rule of phraseRules) {
    const phrase = findEntry(rule.phrases, (one) => holds(words, partsOf(one)))
    if (phrase !== undefined) first ??= { rule, phrase: partsOf(phrase) }
    if (first && !isRecording()) break
  }
  return first
}

/** The line of the text in which the phrase occurs, together with the next line if the phrase is wrapped. */
export function quotePhrase(text: string, phrase: PhraseParts): string {
  const lines = linesOf(text)
  const single = lines.find((line) => holds(normalize(line), phrase))
  if (single !== undefined) return single.slice(0, lineCharsMax)
  for (let index = 0; index + 1 < lines.length; index += 1) {
    const pair = `${lines[index]} ${lines[index + 1]}`
    if (holds(normalize(pair), phrase)) return pair.slice(0, lineCharsMax)
  }
  return lines.join(' ').slice(0, lineCharsMax)
}

/** The first line that contains the code, or null. */
export function quoteCode(text: string, code: string): string | null {
  return (
    linesOf(text)
      .find((line) => line.includes(code))
      ?.slice(0, lineCharsMax) ?? null
  )
}

function linesOf(text: string): string[] {
  const lines = text.slice(0, textCharsMax).split('\n')
  return lines.map((line) => line.replace(/\s+/g, ' ').trim()).filter((line) => line !== '')
}

const parts = new Map(phraseRules.flatMap(({ phrases }) => phrases.map((phrase) => [phrase, parsePhrase(phrase)])))

const partsOf = (phrase: string): PhraseParts => parts.get(phrase) ?? parsePhrase(phrase)

// `blocked@example.com` does not mention a block, nor does the link to a page about spam mention spam. The host of a link
// remains, since links to blocklists are often the only explanation. Cisco writes "unknown address error" before any reply.
function normalize(text: string): string {
  const plain = text.slice(0, textCharsMax).toLowerCase().replace(/['’`]/g, '')
  const bare = plain
    .replace(/https?:\/\/([^\s/?#]{1,255})\S{0,2000}/g, ' $1 ')
    .replace(/\S{0,128}@[^\s:;,()]{1,255}/g, '@ ')
    .replaceAll('unknown address error', ' ')
  return ` ${bare.replace(/[\s_-]+/g, ' ')}`
}

function holds(words: string, [first = [], ...rest]: PhraseParts): boolean {
  return first.some((start) => {
    let at = indexOfWord(words, start, 0)
    while (at >= 0) {
      if (follow(words, at + start.length, rest)) return true
      at = indexOfWord(words, start, at + 1)
    }
    return false
  })
}

function follow(words: string, from: number, [next, ...rest]: PhraseParts): boolean {
  if (!next) return true
  return next.some((part) => {
    const near = words.slice(from - 1, from + gapCharsMax + part.length)
    // `nt found` is the end of any negation: "isn't found", "wasn't found".
    const at = part.startsWith('nt ') ? near.indexOf(part, 1) : indexOfWord(near, part, 1)
    return at >= 0 && follow(words, from - 1 + at + part.length, rest)
  })
}

function indexOfWord(words: string, phrase: string, from: number): number {
  let at = words.indexOf(phrase, from)
  while (at > 0 && isWordChar(words.charCodeAt(at)) && isWordChar(words.charCodeAt(at - 1)))
    at = words.indexOf(phrase, at + 1)
  return at
}

const isWordChar = (code: number) => (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39)
