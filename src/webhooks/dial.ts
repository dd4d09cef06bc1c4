import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext } from 'node:tls'
import type { Resolve, ResolvedAddress } from './resolve.ts'
import { becauseOf, isLackOfOurs, Unreachable } from './unreachable.ts'

// How many of a name's addresses are tried before giving up.
const addressesTriedMax = 4
// No address is given up earlier, even when several share the time of one post.
const attemptMsMin = 500

export type DialOptions = {
  resolve: Resolve
  /** Judges each address a name resolves to. */
  isAllowed: (address: string) => boolean
  secureContext: SecureContext
  /** For one of several addresses; the last may take what time is left. */
  attemptMs: number
  /** An egress proxy. It resolves names, so it is the proxy that must refuse private ones. */
  proxy: URL | undefined
}

export type Target = { protocol: string; hostname: string; port: number; session?: Buffer | undefined }
/** Something that is being opened and can be given up. */
export type Opening = { destroy(): unknown }

/**
 * A connection to the target, ready for a request. Whatever is opened on the way is told to `hold` first, so that the
 * caller can give it up at any moment.
 */
export async function dial(target: Target, options: DialOptions, hold: (opening: Opening) => void): Promise<Socket> {
  const literal = isIP(target.hostname) !== 0
  if (literal && !options.isAllowed(target.hostname)) {
    throw new Unreachable(`${target.hostname} is not a public address`)
  }
  if (options.proxy) {
    const tunnel = await openTunnel(options.proxy, target, hold)
    return open(target, options, hold, { socket: tunnel })
  }
  if (literal) return open(target, options, hold, {})
  const addresses = await checkedAddresses(target.hostname, options)
  return open(target, options, hold, { lookup: answering(addresses) })
}

/** One address that is not allowed condemns the name: it may be an attempt to slip one in among others. */
async function checkedAddresses(name: string, { resolve, isAllowed }: DialOptions): Promise<ResolvedAddress[]> {
  const addresses = await resolve(name)
  for (const { address } of addresses) {
    if (!isAllowed(address)) throw new Unreachable(`resolves to the non-public address ${address}`)
  }
  return addresses.slice(0, addressesTriedMax)
}

/** The name is not looked up a second time: the connection goes to an address that was checked. */
function answering(addresses: ResolvedAddress[]): LookupFunction {
  return (_name, _options, callback) => callback(null, addresses)
}

type Way = { lookup?: LookupFunction; socket?: Socket }

async function open(
  { protocol, hostname, port, session }: Target,
  { secureContext, attemptMs }: DialOptions,
  hold: (opening: Opening) => void,
  way: Way,
): Promise<Socket> {
  if (protocol === 'http:' && way.socket) return way.socket
  const where = {
    host: hostname,
    port,
    autoSelectFamily: true, // tries the addresses one after the other
    autoSelectFamilyAttemptTimeout: Math.max(attemptMs, attemptMsMin),
    ...way,
  }
  const socket =
    protocol === 'http:'
      ? connectTcp(where)
      : connectTls({
          ...where,
          servername: isIP(hostname) ? '' : hostname,
          secureContext,
          // Said here, so that no environment variable can switch it off.
          rejectUnauthorized: true,
          ALPNProtocols: ['http/1.1'],
          ...(session && { session }),
        })
  hold(socket)
  socket.setNoDelay(true)
  await ready(socket, protocol === 'http:' ? 'connect' : 'secureConnect')
  return socket
}

function ready(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve)
    // Stays on, so that an error between here and the next listener is not thrown.
    socket.on('error', reject)
    socket.once('close', () => reject(new Unreachable('closed the connection before it had answered')))
  })
}

function openTunnel(proxy: URL, { hostname, port }: Target, hold: (opening: Opening) => void): Promise<Socket> {
  const path = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  const request = (proxy.protocol === 'https:' ? httpsRequest : httpRequest)({
    method: 'CONNECT',
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
    path,
    agent: false,
    headers: {
      host: path,
      ...(user !== ':' && { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` }),
    },
  })
  hold(request)
  return new Promise((resolve, reject) => {
    request.once('connect', (answer, socket) => {
      socket.on('error', () => {}) // whoever uses it hears of it by its closing
      if (answer.statusCode === 200) return resolve(socket as Socket)
      socket.destroy()
      reject(new Unreachable(`the egress proxy answered ${answer.statusCode} instead of connecting`))
    })
    request.once('error', (error) =>
      reject(isLackOfOurs(error) ? error : new Unreachable(`the egress proxy failed: ${becauseOf(error)}`)),
    )
    request.end()
  })
}
