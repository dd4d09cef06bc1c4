import type { PhraseRule } from './phrase-list.ts'
import { phraseRules } from './phrase-rules.ts'

const textCharsMax = 8 * 1024
const gapCharsMax = 32

/** The first rule with a phrase that the text holds. */
export function findPhraseRule(text: string): PhraseRule | undefined {
  const words = normalize(text)
  return rules.find(({ phrases }) => phrases.some((parts) => holds(words, parts)))?.rule
}

const rules = phraseRules.map((rule) => ({ rule, phrases: rule.phrases.map((phrase) => phrase.split(' * ')) }))

// `blocked@example.com` says nothing of a block, and a link to a page about spam nothing of spam.
function normalize(text: string): string {
  const plain = text.slice(0, textCharsMax).toLowerCase().replace(/['’`]/g, '')
  const bare = plain.replace(/https?:\/\/\S{1,2000}/g, ' ').replace(/\S{0,128}@\S{1,255}/g, '@ ')
  return ` ${bare.replace(/[\s_-]+/g, ' ')}`
}

function holds(words: string, [first = '', ...rest]: string[]): boolean {
  let at = indexOfWord(words, first, 0)
  while (at >= 0) {
    if (follow(words, at + first.length, rest)) return true
    at = indexOfWord(words, first, at + 1)
  }
  return false
}

function follow(words: string, from: number, rest: string[]): boolean {
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
