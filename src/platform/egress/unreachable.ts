/** Why a receiver could not be reached or did not respond properly, as shown in the delivery log. */
export class Unreachable extends Error {
  constructor(because: string) {
    super(because)
    this.name = 'Unreachable'
  }
}

export const privateAddressCode = 'PRIVATE_ADDRESS'

/** The address is not public, so no connection was opened. */
export class PrivateAddress extends Unreachable {
  readonly code = privateAddressCode
}

const unknownAuthority = 'the certificate is not signed by a trusted authority'
const cutOff = 'closed the connection before responding'
const noRoute = 'cannot be reached over the network'
const lookupFailed = 'the name could not be resolved: its name server does not respond properly'

const reasonByCode: Partial<Record<string, string>> = {
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
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'sent a response of a different length than announced',
  ETIMEDOUT: noRoute,
  ENETUNREACH: noRoute,
  EHOSTUNREACH: noRoute,
  EADDRNOTAVAIL: noRoute,
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  CERT_REVOKED: 'the certificate has been revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is not valid for this name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `${unknownAuthority}, or an intermediate certificate is missing`,
  ERR_SSL_WRONG_VERSION_NUMBER: 'does not speak TLS on this port',
  UND_ERR_DESTROYED: 'was aborted because the service is stopping',
  UND_ERR_HEADERS_OVERFLOW: 'sent response headers that are too large',
}

const localResourceCodes = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])

/** Describes an error of the network, TLS or the HTTP parser. */
export function becauseOf(error: unknown): string {
  if (error instanceof Unreachable) return error.message
  // Of several failed addresses, the last error is reported.
  const last = error instanceof AggregateError ? error.errors.at(-1) : error
  const { code = '', syscall = '', message } = last as Error & { code?: string; syscall?: string }
  // The error came from the name server, not from the receiver.
  if (syscall.startsWith('query') && code !== 'ENOTFOUND' && code !== 'ENODATA') return lookupFailed
  if (code === 'UND_ERR_SOCKET' && /^bad (response|upgrade)$/.test(message))
    return 'sent an unexpected 100 or 101 response'
  const reason = reasonByCode[code]
  if (reason) return reason
  // An instance of a class of undici, which is not loaded where nothing is called.
  if ((last as Error).name === 'HTTPParserError') return 'did not respond with valid HTTP'
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') return `the TLS handshake failed (${code})`
  return `the connection failed (${code || 'unknown'})`
}

/** Returns true if this process had no resources to connect, which says nothing about the receiver. */
export function isLocalResourceError(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isLocalResourceError)
  return localResourceCodes.has((error as { code?: string }).code ?? '')
}

/** Returns whether the connection was lost, as when a receiver closes an idle one. */
export function isConnectionLoss(error: Error & { code?: string }): boolean {
  return error.code === 'ECONNRESET' || error.code === 'EPIPE' || error.code === 'UND_ERR_SOCKET'
}
