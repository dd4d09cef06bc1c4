import { domainToASCII } from 'node:url'
import { parseEmail } from '../../platform/values/email.ts'

/** Returns a part of an address as it is stored: in lower case, with its domain in ASCII. */
export const storedText = (text: string): string => (text.includes('@') ? addressKey(text) : asciiDomain(text))

/** Returns the address as it is stored: with its domain in ASCII. */
export function addressKey(word: string): string {
  const email = parseEmail(word)
  if (email.ok) return email.key
  const at = word.lastIndexOf('@')
  return word.slice(0, at + 1).toLowerCase() + asciiDomain(word.slice(at + 1))
}

/**
 * Returns a part of a domain as it is stored, or the text unchanged if it cannot be a domain. Labels must be complete
 * to be found.
 */
export function asciiDomain(text: string): string {
  const isAscii = /^[\0-\x7f]*$/.test(text)
  return (!isAscii && domainToASCII(text)) || text.toLowerCase()
}
