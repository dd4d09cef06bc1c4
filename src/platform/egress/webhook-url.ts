import { isIP } from 'node:net'
import { hostOf } from '../values/domain.ts'
import { isLongerThan } from '../values/text.ts'
import { isPublicAddress } from './addresses.ts'

const urlLengthMax = 2048

/** Suffixes of names that only resolve within private networks (RFC 6761, 6762, 8375 and ICANN). */
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
 * Returns the URL as it is stored, or its problem. This avoids webhooks that can never work; deliveries to private
 * networks are prevented by checking each address when connecting.
 */
export function checkWebhookUrl(text: string, { allowPrivate }: { allowPrivate: boolean }): CheckedUrl {
  if (isLongerThan(text, urlLengthMax)) return { problem: tooLong }
  const url = parse(text)
  if (!url) return { problem: 'must be a URL such as https://example.com/webhooks' }
  const problem = problemOf(url, allowPrivate)
  if (problem) return { problem }
  url.hash = '' // a bare "#" is all that can be left of it
  return url.href.length > urlLengthMax ? { problem: tooLong } : { url: url.href }
}

const tooLong = `must have at most ${urlLengthMax} characters`

/** The parser also normalizes disguised hosts: percent-encoding, full-width letters, unusual numbers. */
function parse(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  // "example.com." is the same host; certificates and the list above have no trailing dot.
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1)
  return url
}

function problemOf(url: URL, allowPrivate: boolean): string | undefined {
  const host = hostOf(url)
  const hostProblem = allowPrivate ? undefined : problemOfHost(host)
  // For a private host, explain how to allow it instead of asking for https.
  const mayBeHttp = allowPrivate || hostProblem !== undefined
  if (url.protocol !== 'https:' && !(mayBeHttp && url.protocol === 'http:'))
    return mayBeHttp ? 'must start with https:// or http://' : 'must start with https://'
  if (url.username || url.password) return 'must not contain a user name or password'
  if (url.hash) return 'must not contain a fragment (#…), which is never sent to a server'
  if (url.port === '0') return 'must not use port 0'
  if (host.split('.').includes('')) return 'must not have an empty label in its host name'
  return hostProblem
}

const forDevelopment = 'for development, start Waxwing with EGRESS_ALLOW_PRIVATE=true'

/** Returns why a host cannot be reached from the internet, as far as its name shows. */
export function problemOfHost(host: string): string | undefined {
  const must = 'must be reachable from the internet'
  if (isIP(host)) return isPublicAddress(host) ? undefined : `${must}; ${host} is not (${forDevelopment})`
  const isPrivate = privateEndings.some((ending) => host === ending || host.endsWith(`.${ending}`))
  if (isPrivate || !host.includes('.')) return `${must}; "${host}" names a private host (${forDevelopment})`
  return undefined
}
