import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { type buildConnector, Client } from 'undici'
import { type DialOptions, dial, type Opening } from './dial.ts'
import { Unreachable } from './unreachable.ts'

export type ConnectionLimits = {
  /** Idle connections kept for the next post: in total and per origin. */
  idleMax: number
  idlePerOriginMax: number
  /** How long a connection is kept idle. The receiver's Keep-Alive hint may shorten it. */
  idleMs: number
  /** Maximum age of a connection, so that the name is resolved and checked again. */
  ageMsMax: number
  /** How long TLS sessions are resumed after a full handshake. The next handshake verifies the certificate again. */
  sessionMsMax: number
}

export const defaultLimits: ConnectionLimits = {
  // As many as the deliveries in flight: a new https connection costs both sides milliseconds of CPU time.
  idleMax: 1_000,
  idlePerOriginMax: 16,
  idleMs: 10_000,
  ageMsMax: 60_000,
  sessionMsMax: 3_600_000,
}

const headerBytesMax = 16 * 1024
// Bytes received per exchange, including framing. Ends responses that are endless in ways that the parser skips.
const wireBytesMax = 256 * 1024

type Origin = {
  readonly url: string
  readonly open: Set<Connection>
  readonly idle: Connection[]
  /** The last TLS session. The next connection resumes it, which saves both sides the certificate verification. */
  session: Buffer | undefined
  /** When the certificate was last verified by a full handshake. */
  verifiedAtMs: number
}

/** A connection, used by one post at a time. */
export type Connection = {
  readonly origin: Origin
  readonly client: Client
  readonly openedAtMs: number
  idle: boolean
  /** True if a response was read over the current socket, so the receiver may have closed it since. */
  used: boolean
  dropped: boolean
  opening: Opening | undefined
  socket: Socket | undefined
  bytesAllowed: number
}

/**
 * Connections by origin. Each post in flight has its own connection, so none waits for a slow receiver. Callers limit
 * the number of posts in flight; idle connections are limited here.
 */
export function createConnections(options: DialOptions, limits: ConnectionLimits) {
  const origins = new Map<string, Origin>()
  let idleCount = 0

  /** Returns the most recently used connection, so that the others expire. */
  function take(url: string): Connection {
    const connection = origins.get(url)?.idle.pop()
    if (!connection) return open(url)
    idleCount--
    connection.idle = false
    if (connection.socket) connection.bytesAllowed = connection.socket.bytesRead + wireBytesMax
    return connection
  }

  function open(url: string): Connection {
    const origin = origins.get(url) ?? { url, open: new Set(), idle: [], session: undefined, verifiedAtMs: 0 }
    const client = new Client(url, {
      // The timeout of the post covers these two.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: headerBytesMax,
      keepAliveTimeout: limits.idleMs,
      keepAliveMaxTimeout: limits.idleMs,
      connect: (where, callback) =>
        connect(connection, where, { ...options, sessionMsMax: limits.sessionMsMax }, callback),
    })
    const connection: Connection = {
      origin,
      client,
      openedAtMs: performance.now(),
      idle: false,
      used: false,
      dropped: false,
      opening: undefined,
      socket: undefined,
      bytesAllowed: 0,
    }
    client.on('disconnect', () => {
      if (connection.idle) drop(connection)
    })
    origins.set(url, origin)
    origin.open.add(connection)
    return connection
  }

  /** Returns a connection to the pool after a complete response. */
  function release(connection: Connection): void {
    if (connection.dropped) return
    const { origin, openedAtMs } = connection
    const tooOld = performance.now() - openedAtMs > limits.ageMsMax
    if (tooOld || idleCount >= limits.idleMax || origin.idle.length >= limits.idlePerOriginMax) {
      drop(connection)
      return
    }
    idleCount++
    connection.used = true
    connection.idle = true
    origin.idle.push(connection)
  }

  /** Closes the connection immediately, in any state. */
  function drop(connection: Connection): void {
    if (connection.dropped) return
    connection.dropped = true
    const { origin } = connection
    if (connection.idle) {
      idleCount--
      connection.idle = false
      origin.idle.splice(origin.idle.indexOf(connection), 1)
    }
    origin.open.delete(connection)
    if (origin.open.size === 0) origins.delete(origin.url)
    connection.client.destroy(ignore)
    // The client does not know its socket until it is connected.
    connection.opening?.destroy()
  }

  function close(): void {
    for (const origin of origins.values()) for (const connection of origin.open) drop(connection)
  }

  return { take, open, release, drop, close }
}

export type Connections = ReturnType<typeof createConnections>

function connect(
  connection: Connection,
  { protocol, hostname, port }: buildConnector.Options,
  options: DialOptions & { sessionMsMax: number },
  callback: buildConnector.Callback,
): void {
  const target = { protocol, hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) }
  const onOpening = (opening: Opening) => {
    connection.opening = opening
    if (connection.dropped) opening.destroy()
  }
  const { origin } = connection
  const isFresh = performance.now() - origin.verifiedAtMs < options.sessionMsMax
  dial({ ...target, session: isFresh ? origin.session : undefined }, options, onOpening).then(
    (socket) => {
      if (socket instanceof TLSSocket && !socket.isSessionReused()) origin.verifiedAtMs = performance.now()
      socket.on('session', (session: Buffer) => {
        origin.session = session
      })
      callback(null, watched(connection, socket))
    },
    (error: Error) => callback(error, null),
  )
}

function watched(connection: Connection, socket: Socket): Socket {
  connection.socket = socket
  connection.used = false
  connection.bytesAllowed = socket.bytesRead + wireBytesMax
  socket.on('readable', () => {
    if (socket.bytesRead > connection.bytesAllowed) {
      socket.destroy(new Unreachable(`sent more than ${wireBytesMax / 1024} KiB without completing its response`))
    }
  })
  return socket
}

const ignore = () => {}
