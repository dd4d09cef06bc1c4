import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { domainToASCII } from 'node:url'

const submissionPort = 587
const submissionsPort = 465

/**
 * `problem` completes a sentence that starts with the name of the URL. It never contains the URL, which holds a
 * password.
 */
export class InvalidSmtpUrl extends Error {
  readonly problem: string

  constructor(problem: string) {
    super(`The SMTP URL ${problem}`)
    this.name = 'InvalidSmtpUrl'
    this.problem = problem
  }
}

/**
 * How to connect to a relay. TLS is `implicit` from the first byte, `required` by STARTTLS, `opportunistic` (used
 * when offered, certificate not checked) or `off`.
 */
export type SmtpTarget = {
  host: string
  port: number
  tls: 'implicit' | 'required' | 'opportunistic' | 'off'
  verifyCertificate: boolean
  credentials: { user: string; password: string } | null
  /** The name sent with EHLO. */
  clientName: string
}

/**
 * Parses `smtp://user:password@relay:587?tls=required`. If there is a password, TLS is required unless the relay is on
 * this machine or `tls=off` is set. Throws `InvalidSmtpUrl`.
 */
export function parseSmtpUrl(text: string): SmtpTarget {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw new InvalidSmtpUrl('is not a valid URL. Example: smtp://user:password@relay.example.com:587')
  }
  if (url.protocol !== 'smtp:' && url.protocol !== 'smtps:')
    throw new InvalidSmtpUrl(`must start with smtp:// or smtps://, not ${url.protocol}//`)
  const host = readHost(url)
  if ((url.pathname !== '' && url.pathname !== '/') || url.hash !== '')
    throw new InvalidSmtpUrl('must not have a path or a fragment. Write # ? / in a password as %23 %3F %2F.')
  const settings = readSettings(url.searchParams)
  const credentials = readCredentials(url)
  const implicit = url.protocol === 'smtps:'
  if (implicit && settings.tls) throw new InvalidSmtpUrl('must not combine smtps:// with tls=. Use smtp:// with tls=.')
  const byDefault = credentials && !isLoopback(host) ? 'required' : 'opportunistic'
  const tls = implicit ? 'implicit' : (settings.tls ?? byDefault)
  return {
    host,
    port: url.port === '' ? (implicit ? submissionsPort : submissionPort) : Number(url.port),
    tls,
    verifyCertificate: tls === 'implicit' || tls === 'required' ? settings.verify : false,
    credentials,
    clientName: settings.name ?? ownName(),
  }
}

function readHost(url: URL): string {
  const bare = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const host = isIP(bare) ? bare : domainToASCII(decoded(bare))
  if (host === '') throw new InvalidSmtpUrl('has no host.')
  if (url.port === '0') throw new InvalidSmtpUrl('must not use port 0. Common ports are 587, 465 and 25.')
  return host
}

function decoded(host: string): string {
  try {
    return decodeURIComponent(host)
  } catch {
    throw new InvalidSmtpUrl('has an invalid host: it must not contain %.')
  }
}

function readCredentials(url: URL): SmtpTarget['credentials'] {
  if (url.username === '' && url.password === '') return null
  if (url.username === '' || url.password === '')
    throw new InvalidSmtpUrl('must have both a user and a password, or neither.')
  try {
    const credentials = { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) }
    if (!`${credentials.user}${credentials.password}`.includes('\0')) return credentials
  } catch {}
  throw new InvalidSmtpUrl('has a user or password that cannot be decoded. Write % as %25.')
}

const settingNames = ['tls', 'tls_verify', 'name']

type Settings = { tls: 'required' | 'off' | null; verify: boolean; name: string | null }

function readSettings(params: URLSearchParams): Settings {
  for (const name of params.keys())
    if (!settingNames.includes(name))
      throw new InvalidSmtpUrl(`has an unknown parameter "${name}". Known parameters: ${settingNames.join(', ')}.`)
  const tls = params.get('tls')
  if (tls !== null && tls !== 'required' && tls !== 'off')
    throw new InvalidSmtpUrl(
      'has an invalid tls parameter. Use "required" or "off", or omit it to use TLS when offered.',
    )
  const verify = params.get('tls_verify') ?? 'true'
  if (verify !== 'true' && verify !== 'false')
    throw new InvalidSmtpUrl('has an invalid tls_verify parameter. Use true or false.')
  const name = params.get('name')
  if (name !== null && !isHostName(name))
    throw new InvalidSmtpUrl('has an invalid name parameter. It must be a host name.')
  return { tls, verify: verify === 'true', name }
}

const isHostName = (name: string) => /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(name)

function ownName(): string {
  const name = hostname()
  return isHostName(name) ? name : '[127.0.0.1]'
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
