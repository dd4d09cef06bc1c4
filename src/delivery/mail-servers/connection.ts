import { InvalidSmtpUrl, isLoopback, parseSmtpUrl, type SmtpTarget } from '@waxwing/smtp-client'
import { invalid } from '../../platform/values/errors.ts'
import type { Security } from './mail-server.ts'

/** How a mail server is connected to: its URL in parts. */
export type Connection = {
  host: string
  port: number
  security: Security
  username: string | null
  password: string | null
  verifiesCertificate: boolean
  /** The name sent with EHLO, if it is not that of this machine. */
  clientName: string | null
}

const securityOf: Record<SmtpTarget['tls'], Security> = {
  implicit: 'tls',
  required: 'starttls',
  opportunistic: 'opportunistic',
  off: 'none',
}

/** Throws `Refusal` if the URL is invalid. */
export function readUrl(url: string): Connection {
  try {
    const { host, port, tls, credentials } = parseSmtpUrl(url)
    const parameters = new URL(url).searchParams
    return {
      host: host.replace(/\.$/, '').toLowerCase(),
      port,
      security: securityOf[tls],
      username: credentials?.user ?? null,
      password: credentials?.password ?? null,
      verifiesCertificate: parameters.get('tls_verify') !== 'false',
      clientName: parameters.get('name'),
    }
  } catch (error) {
    if (error instanceof InvalidSmtpUrl) throw invalid({ path: 'url', problem: error.problem })
    throw error
  }
}

/** The ports on which TLS starts with the first byte. */
const tlsPorts = [465, 2465]

/** The usual one for the port. Credentials are not sent without encryption, except to this machine. */
export function usualSecurity(host: string, port: number, hasCredentials: boolean): Security {
  if (tlsPorts.includes(port)) return 'tls'
  return hasCredentials && !isLoopback(host) ? 'starttls' : 'opportunistic'
}

/** Throws `Refusal` if one of the parts cannot be used. The password is part of the URL only if there is one. */
export function writeUrl(connection: Connection): string {
  const { host, port, security, username, password, verifiesCertificate, clientName } = connection
  const parameters = new URLSearchParams({
    ...(security === 'starttls' && { tls: 'required' }),
    ...(security === 'none' && { tls: 'off' }),
    ...(!verifiesCertificate && { tls_verify: 'false' }),
    ...(clientName !== null && { name: clientName }),
  })
  const credentials =
    username === null || password === null ? '' : `${encodeURIComponent(username)}:${encodeURIComponent(password)}@`
  const address = host.includes(':') ? `[${host}]` : host
  const query = parameters.size > 0 ? `?${parameters}` : ''
  const url = `${security === 'tls' ? 'smtps' : 'smtp'}://${credentials}${address}:${port}${query}`
  readUrl(url)
  return url
}
