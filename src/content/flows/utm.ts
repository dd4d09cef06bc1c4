import { clickUrlBytesMax } from '../../platform/secrets/tokens.ts'
import { type FieldProblem, invalid } from '../../platform/values/errors.ts'

export const utmNames = ['source', 'medium', 'campaign', 'content'] as const

/** The campaign that the links of an email are marked with, for analytics on the site that they lead to. */
export type Utm = Record<(typeof utmNames)[number], string | null>

export const valueLengthMax = 100

/** Returns null if no value is set. Throws `Refusal` if a value is invalid. */
export function parseUtm(given: { [Name in keyof Utm]?: string | null } | null | undefined): Utm | null {
  if (!given) return null
  const textOf = (name: keyof Utm) => given[name]?.trim() || null
  const utm = {
    source: textOf('source'),
    medium: textOf('medium'),
    campaign: textOf('campaign'),
    content: textOf('content'),
  }
  for (const name of utmNames) {
    const problem = problemOf(utm[name] ?? '')
    if (problem) throw invalid({ path: `utm.${name}`, problem })
  }
  return utmNames.some((name) => utm[name] !== null) ? utm : null
}

function problemOf(value: string): FieldProblem['problem'] | undefined {
  if (/[{}]/.test(value)) return 'must not contain braces: it is the same in all emails'
  return /\p{C}/u.test(value) ? 'must not contain control characters' : undefined
}

/** Returns the parameters as they are added to links; an empty text if there are none. */
export const utmQueryOf = (utm: Utm | null): string =>
  utm === null
    ? ''
    : utmNames.flatMap((name) => (utm[name] === null ? [] : `utm_${name}=${encodeURIComponent(utm[name])}`)).join('&')

/** Returns those of the parameters that the link does not have. `url` is encoded. */
export function missingParameters(url: string, query: string): string {
  // A longer link could not be tracked.
  if (url.length + query.length >= clickUrlBytesMax) return ''
  if (!url.includes('utm_')) return query
  const [address] = url.split('#', 1)
  return query
    .split('&')
    .filter((parameter) => !hasParameter(address!, parameter.slice(0, parameter.indexOf('='))))
    .join('&')
}

const hasParameter = (address: string, name: string) => address.includes(`?${name}=`) || address.includes(`&${name}=`)

/** Returns the link with the parameters, before its fragment. */
export function withQuery(url: string, query: string | undefined): string {
  if (!query) return url
  const hash = url.indexOf('#')
  const address = hash === -1 ? url : url.slice(0, hash)
  const fragment = hash === -1 ? '' : url.slice(hash)
  const separator = !address.includes('?') ? '?' : /[?&]$/.test(address) ? '' : '&'
  return `${address}${separator}${query}${fragment}`
}
