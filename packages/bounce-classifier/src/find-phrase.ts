import { type PhraseParts, type PhraseRule, parsePhrase } from './phrase-list.ts'
import { phraseRules } from './phrases.ts'
import { findEntry, isRecording } from './rule-usage.ts'

const textCharsMax = 8 * 1024
const gapCharsMax = 32
const lineCharsMax = 300
const localPartCharsMax = 128
const domainCharsMax = 255

export type PhraseMatch = { rule: PhraseRule; phrase: PhraseParts }

/** The first rule of the table with a phrase that occurs in the text. */
export function findPhrase(text: string): PhraseMatch | undefined {
  const searched = new SearchedText(text)
  let first: PhraseMatch | undefined
  for (const rule of phraseRules) {
    const phrase = findEntry(rule.phrases, (one) => searched.holds(one))
    if (phrase !== undefined) first ??= { rule, phrase: partsOf(phrase) }
    if (first && !isRecording()) break
  }
  return first
}

/** The line of the text in which the phrase occurs, together with the next line if the phrase is wrapped. */
export function quotePhrase(text: string, phrase: PhraseParts): string {
  const lines = linesOf(text)
  const single = lines.find((line) => new SearchedText(line).holdsParts(phrase))
  if (single !== undefined) return single.slice(0, lineCharsMax)
  for (let index = 0; index + 1 < lines.length; index += 1) {
    const pair = `${lines[index]} ${lines[index + 1]}`
    if (new SearchedText(pair).holdsParts(phrase)) return pair.slice(0, lineCharsMax)
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

/**
 * The first letters of the words of each part. Most phrases are excluded by them, which is several times as fast as searching
 * for them.
 */
const startLength = 3
const startsOf = (part: readonly string[]) => [...new Set(part.map((text) => text.slice(0, startLength)))]
const startsOfPhrases = new Map([...parts].map(([phrase, all]) => [phrase, all.map(startsOf)]))

const partsOf = (phrase: string): PhraseParts => parts.get(phrase) ?? parsePhrase(phrase)

// `blocked@example.com` does not mention a block, nor does the link to a page about spam mention spam. The host of a link
// remains, since links to blocklists are often the only explanation. Cisco writes "unknown address error" before any reply.
function normalize(text: string): string {
  const plain = text.slice(0, textCharsMax).toLowerCase().replace(/['’`]/g, '')
  const bare = plain
    .replace(/https?:\/\/([^\s/?#]{1,255})\S{0,2000}/g, ' $1 ')
    .replace(/\S+/g, withoutAddresses)
    .replaceAll('unknown address error', ' ')
  return ` ${bare.replace(/[\s_-]+/g, ' ')}`
}

/** Replaces addresses like `/\S{0,128}@[^\s:;,()]{1,255}/g` would, which needs 128 steps for each character. */
function withoutAddresses(word: string): string {
  if (!word.includes('@')) return word
  let rest = ''
  let from = 0
  for (let sign = word.indexOf('@'); sign >= 0; sign = word.indexOf('@', from)) {
    const start = Math.max(from, sign - localPartCharsMax)
    const end = start + localPartCharsMax
    // The last one in reach that a domain follows.
    let last = word.lastIndexOf('@', end)
    while (last >= sign && !isDomainChar(word[last + 1])) last = last === 0 ? -1 : word.lastIndexOf('@', last - 1)
    if (last < sign) {
      rest += word.slice(from, end + 1)
      from = end + 1
      continue
    }
    rest += `${word.slice(from, start)}@ `
    from = last + 1
    while (from - last <= domainCharsMax && isDomainChar(word[from])) from += 1
  }
  return rest + word.slice(from)
}

const isDomainChar = (char: string | undefined) => char !== undefined && !':;,()'.includes(char)

/** Steps of a search for each character of the text: several times as many as the longest bounces need. */
const stepsPerChar = 0.5
const stepsMin = 100

/** A text in the form in which phrases are searched in it. A hostile text that needs too many steps contains nothing more. */
class SearchedText {
  readonly #words: string
  #starts: Set<string> | undefined
  #stepsLeft: number

  constructor(text: string) {
    this.#words = normalize(text)
    this.#stepsLeft = stepsMin + stepsPerChar * this.#words.length
  }

  holds(phrase: string): boolean {
    const starts = startsOfPhrases.get(phrase)
    return (!starts || this.#mayHold(starts)) && this.holdsParts(partsOf(phrase))
  }

  holdsParts([first = [], ...rest]: PhraseParts): boolean {
    const words = this.#words
    return first.some((start) => {
      let at = indexOfWord(words, start, 0)
      while (at >= 0) {
        if (this.#follow(at + start.length, rest)) return true
        at = indexOfWord(words, start, at + 1)
      }
      return false
    })
  }

  #mayHold(parts: readonly (readonly string[])[]): boolean {
    this.#starts ??= wordStartsOf(this.#words)
    return parts.every((part) => part.some((start) => start.length < startLength || this.#starts!.has(start)))
  }

  #follow(from: number, [next, ...rest]: PhraseParts): boolean {
    if (!next) return true
    if (--this.#stepsLeft < 0) return false
    const words = this.#words
    return next.some((part) => {
      const near = words.slice(from - 1, from + gapCharsMax + part.length)
      // `nt found` is the end of any negation: "isn't found", "wasn't found".
      const at = part.startsWith(negation) ? near.indexOf(part, 1) : indexOfWord(near, part, 1)
      return at >= 0 && this.#follow(from - 1 + at + part.length, rest)
    })
  }
}

const negation = 'nt '

function wordStartsOf(words: string): Set<string> {
  const starts = new Set<string>()
  for (let at = 0; at < words.length; at++)
    if (!isWordChar(words.charCodeAt(at)) || !isWordChar(words.charCodeAt(at - 1)))
      starts.add(words.slice(at, at + startLength))
  if (words.includes(negation)) starts.add(negation)
  return starts
}

function indexOfWord(words: string, phrase: string, from: number): number {
  let at = words.indexOf(phrase, from)
  while (at > 0 && isWordChar(words.charCodeAt(at)) && isWordChar(words.charCodeAt(at - 1)))
    at = words.indexOf(phrase, at + 1)
  return at
}

const isWordChar = (code: number) => (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39)
