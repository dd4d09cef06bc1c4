import { isIP } from 'node:net'
import { isLongerThan } from '../values/text.ts'
import { isPublicAddress } from './addresses.ts'

const urlLengthMax = 2048

/** Endings of names that are only ever resolved inside somebody's own network (RFC 6761, 6762, 8375 and ICANN). */
const privateEndings = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'home.arpa',
  'lan',
]

export type CheckedUrl = { url: string } | { problem: string }

/**
 * The URL of a webhook as it is stored, or what is wrong with it. This spares people a webhook that can never work;
 * what keeps deliveries out of private networks is the check of each address at connect time.
 */
export function checkWebhookUrl(text: string, { allowPrivate }: { allowPrivate: boolean }): CheckedUrl {
  if (isLongerThan(text, urlLengthMax)) return { problem: tooLong }
  const url = parse(text)
  if (!url) return { problem: 'is not a URL; write it like https://example.com/webhooks' }
  const problem = problemOf(url, allowPrivate)
  if (problem) return { problem }
  url.hash = '' // a bare "#" is all that can be left of it
  return url.href.length > urlLengthMax ? { problem: tooLong } : { url: url.href }
}

const tooLong = `must not be longer than ${urlLengthMax} characters`

/** The parser also undoes every disguise of a host: percent-encoding, full-width letters, octal, hex and short numbers. */
function parse(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  // "example.com." is the same host; certificates and the list above name it without the dot.
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1)
  return url
}

function problemOf(url: URL, allowPrivate: boolean): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const problemOfPlace = allowPrivate ? undefined : problemOfHost(host)
  // Whoever tries an endpoint of their own machine is told how, not that it should begin with https.
  const mayBeHttp = allowPrivate || problemOfPlace !== undefined
  if (url.protocol !== 'https:' && !(mayBeHttp && url.protocol === 'http:'))
    return mayBeHttp ? 'must start with https:// or http://' : 'must start with https://'
  if (url.username || url.password) return 'must not carry a user name or password'
  if (url.hash) return 'must not have a fragment (#…), which is never sent to a server'
  if (url.port === '0') return 'must not name port 0'
  if (host.split('.').includes('')) return 'has a host name with an empty part'
  return problemOfPlace
}

const forDevelopment = 'for development, start Waxwing with WEBHOOK_ALLOW_PRIVATE=true'

function problemOfHost(host: string): string | undefined {
  const must = 'must be reachable from the internet'
  if (isIP(host)) return isPublicAddress(host) ? undefined : `${must}; ${host} is not (${forDevelopment})`
  const isPrivate = privateEndings.some((ending) => host === ending || host.endsWith(`.${ending}`))
  if (isPrivate || !host.includes('.')) return `${must}; "${host}" names a private host (${forDevelopment})`
  return undefined
}
