import { errors } from 'undici'

/** Why a receiver could not be asked or did not answer properly, in words for the log of deliveries. */
export class Unreachable extends Error {
  constructor(because: string) {
    super(because)
    this.name = 'Unreachable'
  }
}

const unknownAuthority = 'the certificate is not signed by an authority we know'
const cutOff = 'closed the connection before it had answered'
const noRoute = 'cannot be reached over the network'
const lookupFailed = 'the name could not be looked up, its name server does not answer properly'

const wordsByCode: Partial<Record<string, string>> = {
  ENOTFOUND: 'the name does not resolve',
  ENODATA: 'the name does not resolve',
  EBADNAME: 'the name does not resolve',
  EAI_AGAIN: lookupFailed,
  ESERVFAIL: lookupFailed,
  EREFUSED: lookupFailed,
  ETIMEOUT: lookupFailed,
  EBADRESP: lookupFailed,
  EFORMERR: lookupFailed,
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: cutOff,
  EPIPE: cutOff,
  UND_ERR_SOCKET: cutOff,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'answered with another length than it announced',
  ETIMEDOUT: noRoute,
  ENETUNREACH: noRoute,
  EHOSTUNREACH: noRoute,
  EADDRNOTAVAIL: noRoute,
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  CERT_REVOKED: 'the certificate has been revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate was made for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `${unknownAuthority}, or an intermediate certificate is missing`,
  ERR_SSL_WRONG_VERSION_NUMBER: 'does not speak TLS on this port',
  UND_ERR_DESTROYED: 'was given up because the service is stopping',
  UND_ERR_HEADERS_OVERFLOW: 'answered with headers that are too large',
}

const lacks = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])

/** Words for whatever the network, TLS or the parser threw. */
export function becauseOf(error: unknown): string {
  if (error instanceof Unreachable) return error.message
  // Of several addresses that failed the last one speaks: the others were given up for it.
  const last = error instanceof AggregateError ? error.errors.at(-1) : error
  const { code = '', syscall = '', message } = last as Error & { code?: string; syscall?: string }
  // The name server, not the receiver, refused or hung up.
  if (syscall.startsWith('query') && code !== 'ENOTFOUND' && code !== 'ENODATA') return lookupFailed
  if (code === 'UND_ERR_SOCKET' && /^bad (response|upgrade)$/.test(message)) return 'answered 100 or 101 unasked'
  const words = wordsByCode[code]
  if (words) return words
  if (error instanceof errors.HTTPParserError) return 'did not answer with valid HTTP'
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') return `the TLS handshake failed (${code})`
  return `the connection failed (${code || 'unknown'})`
}

/** Nothing was left to connect with: the receiver has no part in that. */
export function isLackOfOurs(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isLackOfOurs)
  return lacks.has((error as { code?: string }).code ?? '')
}

/** The connection was lost, as happens when a receiver closes one that lay idle. */
export function isConnectionLoss(error: Error & { code?: string }): boolean {
  return error.code === 'ECONNRESET' || error.code === 'EPIPE' || error.code === 'UND_ERR_SOCKET'
}
