import type { PhraseRule } from './phrase-list.ts'
import { phraseRules } from './phrases.ts'

const textCharsMax = 8 * 1024
const gapCharsMax = 32
const lineCharsMax = 300

export type PhraseMatch = { rule: PhraseRule; phrase: readonly string[] }

/** The first rule of the table with a phrase that occurs in the text. */
export function findPhrase(text: string): PhraseMatch | undefined {
  const words = normalize(text)
  for (const { rule, phrases } of rules) {
    const phrase = phrases.find((parts) => holds(words, parts))
    if (phrase) return { rule, phrase }
  }
  return undefined
}

/** The line of the text in which the phrase occurs, together with the next line if the phrase is wrapped. */
export function quotePhrase(text: string, phrase: readonly string[]): string {
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

const rules = phraseRules.map((rule) => ({ rule, phrases: rule.phrases.map((phrase) => phrase.split(' * ')) }))

// `blocked@example.com` does not mention a block, nor does the link to a page about spam mention spam.
function normalize(text: string): string {
  const plain = text.slice(0, textCharsMax).toLowerCase().replace(/['’`]/g, '')
  const bare = plain.replace(/https?:\/\/\S{1,2000}/g, ' ').replace(/\S{0,128}@\S{1,255}/g, '@ ')
  const hosts = bare.replace(/[\w.-]{1,128}\.[a-z]{2,24}(?= (?:does not|doesnt) exist)/g, 'domain')
  return ` ${hosts.replace(/[\s_-]+/g, ' ')}`
}

function holds(words: string, [first = '', ...rest]: readonly string[]): boolean {
  let at = indexOfWord(words, first, 0)
  while (at >= 0) {
    if (follow(words, at + first.length, rest)) return true
    at = indexOfWord(words, first, at + 1)
  }
  return false
}

function follow(words: string, from: number, rest: readonly string[]): boolean {
  let end = from
  for (const part of rest) {
    const at = words.slice(end, end + gapCharsMax + part.length).indexOf(part)
    if (at < 0) return false
    end += at + part.length
  }
  return true
}

function indexOfWord(words: string, phrase: string, from: number): number {
  let at = words.indexOf(phrase, from)
  while (at > 0 && isWordChar(words.charCodeAt(at)) && isWordChar(words.charCodeAt(at - 1)))
    at = words.indexOf(phrase, at + 1)
  return at
}

const isWordChar = (code: number) => (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39)
