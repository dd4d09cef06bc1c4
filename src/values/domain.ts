import { domainToASCII } from 'node:url'

const lengthMax = 253
const labelPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/** `domainToASCII` parses its input as part of a URL and would cut or decode these characters. */
const urlSyntax = /[\s\p{Cc}/\\?#%:@[\]]/u

/** Returns the labels of a domain in lower-case ASCII. Returns undefined if the text is not a valid domain. */
export function domainLabels(text: string): string[] | undefined {
  const domain = urlSyntax.test(text) ? '' : domainToASCII(text)
  const labels = domain.split('.')
  return domain.length <= lengthMax && labels.every((label) => labelPattern.test(label)) ? labels : undefined
}
