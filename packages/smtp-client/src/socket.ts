import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { SmtpTarget } from './url.ts'

/** Thrown if a connection cannot be opened. */
export class RelayFault extends Error {
  /** The error code of the network or TLS, if it failed there: `ECONNREFUSED`, `CERT_HAS_EXPIRED`, `ETIMEDOUT`. */
  readonly code: string | undefined
  /** The code of the reply that rejected us. */
  readonly replyCode: number | undefined

  constructor(
    message: string,
    { code, replyCode }: { code?: string | undefined; replyCode?: number | undefined } = {},
  ) {
    super(message)
    this.code = code
    this.replyCode = replyCode
  }
}

export type ResolvedAddress = { address: string; family: 4 | 6 }

/** What a server presented for the encryption of a connection. */
export type TlsFacts = { protocol: string; subject: string; issuer: string; expiresAt: Date | undefined }

/** Per address, if there are several. */
const attemptMsMin = 500

/** Connects to one of the addresses if they are given, and otherwise resolves the name. Throws `RelayFault`. */
export async function openSocket(
  target: SmtpTarget,
  timeoutMs: number,
  addresses: ResolvedAddress[] | undefined,
): Promise<Socket> {
  const { host, port } = target
  const socket = connectTcp({
    host,
    port,
    ...(addresses && {
      lookup: (_name, _options, callback) => callback(null, addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: Math.max(Math.floor(timeoutMs / 3), attemptMsMin),
    }),
  })
  await opened(socket, 'connect', target, timeoutMs)
  // Otherwise Nagle's algorithm delays the end of an email until its beginning is acknowledged.
  socket.setNoDelay(true)
  return socket
}

/** Starts TLS on an open connection. Throws `RelayFault`. */
export async function secureSocket(
  plain: Socket,
  target: SmtpTarget,
  timeoutMs: number,
  ca: string | undefined,
): Promise<TLSSocket> {
  const socket = connectTls({
    socket: plain,
    host: target.host,
    rejectUnauthorized: target.verifyCertificate,
    ...(isIP(target.host) ? {} : { servername: target.host }),
    ...(ca === undefined ? {} : { ca }),
  })
  await opened(socket, 'secureConnect', target, timeoutMs)
  return socket
}

export function tlsFactsOf(socket: TLSSocket): TlsFacts {
  const { subject, issuer, valid_to: end } = socket.getPeerCertificate()
  const expiresAt = new Date(end)
  return {
    protocol: socket.getProtocol() ?? 'TLS',
    subject: textOf(subject?.CN),
    issuer: textOf(issuer?.O ?? issuer?.CN),
    expiresAt: Number.isNaN(expiresAt.getTime()) ? undefined : expiresAt,
  }
}

/** Certificates are written by the server, and may repeat a name. */
const textOf = (value: string | string[] | undefined) => String(Array.isArray(value) ? value[0] : (value ?? ''))

/** Waits until the socket is ready. Destroys it and throws `RelayFault` if it fails or takes too long. */
function opened(socket: Socket, event: string, target: SmtpTarget, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const ready = () => settle()
    const failed = (error: Error) => settle(faultOf(error, target))
    const closed = () => settle(new RelayFault(`${addressOf(target)} closed the connection`, { code: 'ECONNRESET' }))
    const timer = setTimeout(() => settle(timeoutOf(target, timeoutMs)), timeoutMs)
    const settle = (fault?: RelayFault) => {
      clearTimeout(timer)
      socket.off(event, ready).off('error', failed).off('close', closed)
      if (!fault) return resolve()
      socket.on('error', () => {})
      socket.destroy()
      reject(fault)
    }
    socket.once(event, ready).once('error', failed).once('close', closed)
  })
}

export const timeoutOf = (target: SmtpTarget, ms: number) =>
  new RelayFault(`${addressOf(target)} did not answer within ${Math.round(ms) / 1000} s`, { code: 'ETIMEDOUT' })

export const addressOf = (target: SmtpTarget) =>
  target.host.includes(':') ? `[${target.host}]:${target.port}` : `${target.host}:${target.port}`

export function faultOf(error: NodeJS.ErrnoException, target: SmtpTarget): RelayFault {
  // A name with several addresses fails with one error for each; the first is reported.
  const cause = error instanceof AggregateError ? (error.errors[0] as NodeJS.ErrnoException) : error
  return new RelayFault(describe(cause, target), { code: cause.code })
}

function describe(cause: NodeJS.ErrnoException, target: SmtpTarget): string {
  switch (cause.code) {
    case 'ECONNREFUSED':
      return `${addressOf(target)} refused the connection`
    case 'ECONNRESET':
    case 'EPIPE':
      return `${addressOf(target)} reset the connection`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name ${target.host} was not found`
    default:
      return `${addressOf(target)} cannot be used: ${cause.message}`
  }
}
