import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext } from 'node:tls'
import { hostOf } from '../values/domain.ts'
import type { Resolve, ResolvedAddress } from './resolve.ts'
import { becauseOf, isLocalResourceError, PrivateAddress, Unreachable } from './unreachable.ts'

// How many addresses of a name are tried.
const addressesTriedMax = 4
// Minimum time per address, even if several share the timeout of one post.
const attemptMsMin = 500

export type DialOptions = {
  resolve: Resolve
  /** Returns whether an address that a name resolves to may be connected to. */
  isAllowed: (address: string) => boolean
  secureContext: SecureContext
  /** Per address, if there are several; the last one may use the remaining time. */
  attemptMs: number
  /** An egress proxy. It resolves names, so the proxy must reject private addresses. */
  proxy: URL | undefined
}

export type Target = { protocol: string; hostname: string; port: number; session?: Buffer | undefined }
/** A connection that is being opened and can be aborted. */
export type Opening = { destroy(): unknown }

/**
 * Opens a connection to the target. Everything opened on the way is passed to `onOpening` first, so that the caller can
 * abort it at any time. Throws `PrivateAddress` if an address is not allowed.
 */
export async function dial(target: Target, options: DialOptions, onOpening: (opening: Opening) => void) {
  const literal = isIP(target.hostname) !== 0
  if (literal && !options.isAllowed(target.hostname)) {
    throw new PrivateAddress(`${target.hostname} is not a public address`)
  }
  if (options.proxy) {
    const tunnel = await openTunnel(options.proxy, target, onOpening)
    return open(target, options, onOpening, { socket: tunnel })
  }
  if (literal) return open(target, options, onOpening, {})
  const addresses = await checkedAddresses(target.hostname, options)
  return open(target, options, onOpening, { lookup: answering(addresses) })
}

/** Rejects the name if any of its addresses is not allowed: it may be an attempt to hide one among others. */
export async function checkedAddresses(
  name: string,
  { resolve, isAllowed }: Pick<DialOptions, 'resolve' | 'isAllowed'>,
): Promise<ResolvedAddress[]> {
  const addresses = await resolve(name)
  for (const { address } of addresses) {
    if (!isAllowed(address)) throw new PrivateAddress(`resolves to the non-public address ${address}`)
  }
  return addresses.slice(0, addressesTriedMax)
}

/** The name is not resolved again: the connection goes to an address that was checked. */
function answering(addresses: ResolvedAddress[]): LookupFunction {
  return (_name, _options, callback) => callback(null, addresses)
}

type Route = { lookup?: LookupFunction; socket?: Socket }

async function open(
  { protocol, hostname, port, session }: Target,
  { secureContext, attemptMs }: DialOptions,
  onOpening: (opening: Opening) => void,
  route: Route,
): Promise<Socket> {
  if (protocol === 'http:' && route.socket) return route.socket
  const where = {
    host: hostname,
    port,
    autoSelectFamily: true, // tries the addresses one after the other
    autoSelectFamilyAttemptTimeout: Math.max(attemptMs, attemptMsMin),
    ...route,
  }
  const socket =
    protocol === 'http:'
      ? connectTcp(where)
      : connectTls({
          ...where,
          servername: isIP(hostname) ? '' : hostname,
          secureContext,
          // Explicit, so that no environment variable can disable it.
          rejectUnauthorized: true,
          ALPNProtocols: ['http/1.1'],
          ...(session && { session }),
        })
  onOpening(socket)
  socket.setNoDelay(true)
  await ready(socket, protocol === 'http:' ? 'connect' : 'secureConnect')
  return socket
}

function ready(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve)
    // Stays attached, so that an error before the next listener is attached is not thrown.
    socket.on('error', reject)
    socket.once('close', () => reject(new Unreachable('closed the connection before responding')))
  })
}

function openTunnel(proxy: URL, { hostname, port }: Target, onOpening: (opening: Opening) => void): Promise<Socket> {
  const path = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  const request = (proxy.protocol === 'https:' ? httpsRequest : httpRequest)({
    method: 'CONNECT',
    host: hostOf(proxy),
    port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
    path,
    agent: false,
    headers: {
      host: path,
      ...(user !== ':' && { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` }),
    },
  })
  onOpening(request)
  return new Promise((resolve, reject) => {
    request.once('connect', (answer, socket) => {
      socket.on('error', () => {}) // The user of the socket notices that it is closed.
      if (answer.statusCode === 200) return resolve(socket as Socket)
      socket.destroy()
      reject(new Unreachable(`the egress proxy answered ${answer.statusCode} instead of connecting`))
    })
    request.once('error', (error) =>
      reject(isLocalResourceError(error) ? error : new Unreachable(`the egress proxy failed: ${becauseOf(error)}`)),
    )
    request.end()
  })
}
