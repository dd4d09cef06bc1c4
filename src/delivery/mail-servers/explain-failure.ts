import type { Unreachable } from '@waxwing/smtp-client'
import { privateAddressCode } from '../../platform/egress/unreachable.ts'
import { findPreset } from './presets.ts'
import type { Target } from './settings.ts'

/** A failed connection in sentences: what happened, and what to do. */
export function explain(failure: Unreachable, target: Target): string {
  return `${sentence(reasonOf(failure, target))} ${adviceOn(failure, target)}`.trim()
}

/** Names of hosts keep their case. */
const sentence = (text: string) =>
  `${text.replace(/^[a-z]+(?= )/, (word) => `${word[0]!.toUpperCase()}${word.slice(1)}`)}${/[.!?…)]$/.test(text) ? '' : '.'}`

/** Some reasons name SMTP_URL, which is not what the mail server was set up with. */
function reasonOf({ step, code, replyCode, reason }: Unreachable, { connection }: Target): string {
  const isOurs = code === undefined && replyCode === undefined
  if (step === 'tls' && isOurs && reason.includes('does not support STARTTLS'))
    return `${connection.host} does not offer STARTTLS on port ${connection.port}`
  if (step === 'auth' && isOurs && reason.includes('without encryption'))
    return 'The connection is not encrypted, so the credentials were not sent'
  if (step === 'auth' && isOurs && reason.includes('neither AUTH PLAIN'))
    return `${connection.host} does not offer to sign in with a password (AUTH PLAIN or LOGIN)`
  return reason
}

function adviceOn(failure: Unreachable, target: Target): string {
  switch (failure.step) {
    case 'resolve':
      return failure.code === privateAddressCode
        ? 'Use a mail server that is reachable from the internet.'
        : 'Check the spelling of the host.'
    case 'connect':
      return adviceOnConnecting(failure)
    case 'tls':
      return adviceOnTls(failure, target)
    case 'greeting':
      return adviceOnGreeting(failure, target)
    case 'ehlo':
      return failure.replyCode === undefined
        ? 'Check host and port, and try again.'
        : 'The mail server does not accept the name of this machine. Ask its administrator, or use a URL with ?name=.'
    case 'auth':
      return adviceOnSigningIn(failure, target)
  }
}

function adviceOnConnecting({ code }: Unreachable): string {
  if (code === 'ECONNREFUSED') return 'No mail server listens on this port. Most providers use port 587, 465 or 2525.'
  if (code === 'ECONNRESET') return 'A firewall may be in between. Try port 587, 465 or 2525.'
  return 'Check the host, and try port 587, 465 or 2525: many hosting companies block port 25.'
}

const unknownAuthority =
  'Waxwing does not know the authority that signed the certificate. Use a certificate of a public authority.'

const adviceByTlsCode: Partial<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'The administrator of the mail server has to renew its certificate.',
  CERT_NOT_YET_VALID: 'Check the clock of the mail server and of this machine.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Enter a host that is named in the certificate.',
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
}

function adviceOnTls({ code = '', replyCode }: Unreachable, { connection }: Target): string {
  const known = adviceByTlsCode[code]
  if (known) return known
  if (connection.security === 'tls')
    return 'The mail server may not expect TLS from the start on this port. Choose STARTTLS, or port 465.'
  if (replyCode !== undefined) return 'Try again later, or choose TLS with port 465.'
  return 'Choose TLS with port 465, if the mail server supports it.'
}

function adviceOnGreeting({ replyCode, reason }: Unreachable, { connection }: Target): string {
  if (replyCode !== undefined)
    return 'The mail server does not accept connections from this machine at the moment: it may be busy, or block its address.'
  if (reason.includes('does not speak SMTP'))
    return 'Something other than a mail server answers on this port. Check host and port.'
  return connection.security === 'tls'
    ? 'Check host and port, and try again.'
    : 'The mail server may expect TLS from the start on this port. Choose TLS, or port 587.'
}

const temporaryCodes = [421, 432, 451, 454]

function adviceOnSigningIn({ replyCode, reason }: Unreachable, { connection, oauth, preset }: Target): string {
  if (replyCode === undefined) {
    if (reason.includes('invalid_grant'))
      return 'The refresh token is not valid any more. Grant access again, and enter the new one.'
    if (/invalid_client|unauthorized_client/.test(reason)) return 'Check the client id and the client secret.'
    if (reason.startsWith('No access token')) return 'Check the token URL, the client and the scope.'
    if (reason.includes('XOAUTH2')) return 'Use a password instead of OAuth 2.'
    return connection.security === 'tls' || connection.security === 'starttls'
      ? 'Remove the user name if the mail server accepts email without signing in.'
      : 'Choose STARTTLS or TLS: most mail servers offer to sign in only with encryption.'
  }
  if (temporaryCodes.includes(replyCode)) return 'Try again in a few minutes.'
  if (replyCode === 530 || replyCode === 538) return 'Choose STARTTLS or TLS: the mail server wants encryption first.'
  if (oauth)
    return 'Check that the user name is the mailbox that has granted access, that the scope permits sending, and that SMTP is enabled for the mailbox.'
  const known = findPreset(preset)
  if (known) return `Check the user name and the password. ${known.note}`
  return 'Check the user name and the password. Many providers need an app password or an API key instead of the password of the account.'
}
