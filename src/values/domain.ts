import { domainToASCII } from 'node:url'

const lengthMax = 253
const labelPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/** `domainToASCII` reads its input as part of a URL: it would cut or decode these. */
const ofUrls = /[\s\p{Cc}/\\?#%:@[\]]/u

/** The labels of a domain in ASCII and in lower case; undefined for what has other characters, or is too long. */
export function domainLabels(text: string): string[] | undefined {
  const domain = ofUrls.test(text) ? '' : domainToASCII(text)
  const labels = domain.split('.')
  return domain.length <= lengthMax && labels.every((label) => labelPattern.test(label)) ? labels : undefined
}
