import { domainToASCII } from 'node:url'

const lengthMax = 253
const name = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/**
 * Nearly every domain. The conversion, which takes a microsecond, would not change it: it converts only non-ASCII
 * characters and upper case, validates Punycode, and rewrites IPv4 addresses, whose last part starts with a digit.
 */
const isPlain = (text: string) => name.test(text) && !text.includes('xn--') && /(?:^|\.)[a-z][^.]*$/.test(text)
/** `domainToASCII` parses its input as part of a URL and would cut or decode these characters. */
const urlSyntax = /[\s\p{Cc}/\\?#%:@[\]]/u

/** Returns a domain in lower-case ASCII, or undefined if the text is not a valid domain. */
export function asciiDomain(text: string): string | undefined {
  if (text.length > lengthMax) return undefined
  if (isPlain(text)) return text
  const domain = urlSyntax.test(text) ? '' : domainToASCII(text)
  return domain.length <= lengthMax && name.test(domain) ? domain : undefined
}

/** Returns the host of a URL, without the brackets around an IPv6 address. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1')

/** Returns the part of an email address after the @. */
export const domainOfAddress = (address: string): string => address.slice(address.lastIndexOf('@') + 1)
