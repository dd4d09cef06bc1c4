import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { domainToASCII } from 'node:url'
import { SetupFault } from '../errors.ts'

const submissionPort = 587
const submissionsPort = 465

/**
 * How a relay is spoken to. TLS is `implicit` from the first byte, `required` by STARTTLS, `opportunistic` (taken
 * when offered, certificate not checked) or `off`.
 */
export type SmtpTarget = {
  host: string
  port: number
  tls: 'implicit' | 'required' | 'opportunistic' | 'off'
  verifyCertificate: boolean
  credentials: { user: string; password: string } | null
  /** The name we give in EHLO. */
  clientName: string
}

/**
 * Reads `smtp://user:password@relay:587?tls=required`. A password is never sent in clear text to another machine
 * unless `tls=off` asks for it: given one, TLS is required unless the relay is on this machine.
 * Throws a SetupFault for whoever set it, which never repeats the URL, since that holds the password.
 */
export function parseSmtpUrl(text: string): SmtpTarget {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw new SetupFault('SMTP_URL cannot be read. It looks like smtp://user:password@relay.example.com:587')
  }
  if (url.protocol !== 'smtp:' && url.protocol !== 'smtps:')
    throw new SetupFault(`SMTP_URL must start with smtp:// or smtps://, not ${url.protocol}//`)
  const host = readHost(url)
  if ((url.pathname !== '' && url.pathname !== '/') || url.hash !== '')
    throw new SetupFault('SMTP_URL has something after the host. Write # ? / in a password as %23 %3F %2F.')
  const settings = readSettings(url.searchParams)
  const credentials = readCredentials(url)
  const implicit = url.protocol === 'smtps:'
  if (implicit && settings.tls) throw new SetupFault('SMTP_URL says smtps:// and tls=. Use smtp:// with tls=.')
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
  if (host === '') throw new SetupFault('SMTP_URL names no host.')
  if (url.port === '0') throw new SetupFault('SMTP_URL names port 0. Usual ones are 587, 465 and 25.')
  return host
}

function decoded(host: string): string {
  try {
    return decodeURIComponent(host)
  } catch {
    throw new SetupFault('The host of SMTP_URL cannot be read: there is a % in it.')
  }
}

function readCredentials(url: URL): SmtpTarget['credentials'] {
  if (url.username === '' && url.password === '') return null
  if (url.username === '' || url.password === '')
    throw new SetupFault('SMTP_URL needs both a user and a password, or neither.')
  try {
    const credentials = { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) }
    if (!`${credentials.user}${credentials.password}`.includes('\0')) return credentials
  } catch {}
  throw new SetupFault('The user or password of SMTP_URL cannot be read. Write a % in it as %25.')
}

const settingNames = ['tls', 'tls_verify', 'name']

type Settings = { tls: 'required' | 'off' | null; verify: boolean; name: string | null }

function readSettings(params: URLSearchParams): Settings {
  for (const name of params.keys())
    if (!settingNames.includes(name))
      throw new SetupFault(`SMTP_URL has an unknown setting "${name}". There are ${settingNames.join(', ')}.`)
  const tls = params.get('tls')
  if (tls !== null && tls !== 'required' && tls !== 'off')
    throw new SetupFault('tls= in SMTP_URL must be "required" or "off"; without it TLS is used when offered.')
  const verify = params.get('tls_verify') ?? 'true'
  if (verify !== 'true' && verify !== 'false') throw new SetupFault('tls_verify= in SMTP_URL must be true or false.')
  const name = params.get('name')
  if (name !== null && !isHostName(name)) throw new SetupFault('name= in SMTP_URL must be a host name.')
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
