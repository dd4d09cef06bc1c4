import { isIP } from 'node:net'
import { asciiDomain } from '../values/domain.ts'

// Each function parses the text of one kind of setting. It throws an `Error` with the problem.

export function text(value: string): string {
  return value
}

export function list(value: string): readonly string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)
}

export function flag(value: string): boolean {
  if (value === 'true' || value === '1') return true
  if (value === 'false' || value === '0') return false
  throw new Error(`must be true or false, not "${value}"`)
}

export function wholeNumber(min: number, max: number) {
  return (value: string): number => {
    const number = Number(value)
    if (!Number.isInteger(number) || number < min || number > max)
      throw new Error(`must be a whole number from ${min} to ${max}, not "${value}"`)
    return number
  }
}

export function seconds(value: string): readonly number[] {
  const parts = value.split(',').map((part) => part.trim())
  const numbers = parts.map(Number)
  if (parts.includes('') || numbers.length > 20 || numbers.some((number) => !(number >= 0 && number <= 604_800)))
    throw new Error(`must be up to 20 numbers of seconds separated by commas, not "${value}"`)
  return numbers
}

export function oneOf<const Values extends readonly string[]>(...values: Values) {
  return (value: string): Values[number] => {
    if (!values.includes(value)) throw new Error(`must be one of ${values.join(', ')}, not "${value}"`)
    return value
  }
}

function urlWith(schemes: string[], example: string) {
  return (value: string): URL => {
    if (!URL.canParse(value) || !schemes.includes(new URL(value).protocol))
      throw new Error(`must be a URL such as ${example}`)
    return new URL(value)
  }
}

export function httpUrl(value: string): string {
  return urlWith(['http:', 'https:'], 'https://mail.example.com')(value).href.replace(/\/+$/, '')
}

/** Paths are appended to BASE_URL, so it must not have a query or fragment. */
export function baseUrl(value: string): string {
  const url = httpUrl(value)
  const { username, password } = new URL(url)
  if (/[?#]/.test(url) || username || password)
    throw new Error('must not contain a query, a fragment, a user name or a password')
  return url
}

export function bucketName(value: string): string {
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(value))
    throw new Error(`must be the name of a bucket: 3 to 63 lowercase letters, digits, dots and hyphens, not "${value}"`)
  return value
}

/** Returns the domain as mail servers write it: lower-case ASCII without a trailing dot. */
export function domain(value: string): string {
  const domain = asciiDomain(value.replace(/\.$/, ''))
  const isName = domain?.includes('.') ? !/\.\d+$/.test(domain) : domain === 'localhost'
  if (domain === undefined || !isName) throw new Error(`must be a domain such as mail.example.com, not "${value}"`)
  return domain
}

/** Accepts `example.com` and `*.example.com`; each is normalized like `domain`. */
export function senderDomains(value: string): readonly string[] {
  return list(value).map((item) => (item.startsWith('*.') ? `*.${domain(item.slice(2))}` : domain(item)))
}

/** Addresses with or without a port. */
export function dnsServers(value: string): readonly string[] {
  const servers = list(value)
  for (const server of servers) {
    const host = /^\[(.*)\](?::\d+)?$/.exec(server)?.[1] ?? server.replace(/^([\d.]+):\d+$/, '$1')
    if (isIP(host) === 0) throw new Error('must be IP addresses, for example 127.0.0.1:5353')
  }
  return servers
}

export function smtpUrl(value: string): string {
  return urlWith(['smtp:', 'smtps:'], 'smtp://user:pass@relay.example.com:587')(value).href
}

/** The address of a person or a form: a URI, or an email address, which becomes a `mailto:` URI. */
export function contactUri(value: string): string {
  if (/^[^\s@:]+@[^\s@]+\.[^\s@]+$/.test(value)) return `mailto:${value}`
  if (/^(https:\/\/|mailto:|tel:)\S+$/.test(value)) return value
  throw new Error('must be an email address or a https URL, for example security@example.com')
}

const missingHost = /^(\w+:\/\/(?:[^/?#]*@)?)(?=[:/])/

/**
 * Like psql, accepts a URL whose host is given as a query parameter. WHATWG URLs cannot have a user or port
 * without a host, so a placeholder is inserted; the parameter takes precedence.
 */
export function databaseUrl(value: string): string {
  const host = new URLSearchParams(value.split('?')[1]).get('host')
  const url = host && !URL.canParse(value) ? value.replace(missingHost, '$1localhost') : value
  urlWith(['postgres:', 'postgresql:'], 'postgres://user:pass@host:5432/waxwing')(url)
  return url
}

export function secret(value: string): string {
  if (value.length < 32) throw new Error('must have at least 32 characters')
  return value
}

export function passphrase(value: string): string {
  if (value.length < 12) throw new Error('must have at least 12 characters')
  return value
}
