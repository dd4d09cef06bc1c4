import type { Socket } from 'node:net'
import { canonicalAddress, clientNetwork } from '../values/client-address.ts'
import type { OrganizationId } from '../values/ids.ts'
import type { SubmissionLimits } from './limits.ts'

/** What identifies a connection, both to the socket and to the session of smtp-server. */
type Endpoint = { remoteAddress?: string | undefined; remotePort?: number | undefined; localPort?: number | undefined }

type Connection = {
  key: string
  socket: Socket
  network: string
  organizationId: OrganizationId | undefined
  signInTimer: NodeJS.Timeout
  transactionTimer: NodeJS.Timeout | undefined
  isReceiving: boolean
}

/** The socket and the session write an IPv6 address differently. Clients of one network may use the same port. */
const keyOf = ({ remoteAddress = '', remotePort, localPort }: Endpoint) =>
  `${canonicalAddress(remoteAddress)} ${remotePort} ${localPort}`

/** Enforces the limits on connections and on emails that are being received, by client address and by organization. */
export class Connections {
  readonly #limits: SubmissionLimits
  readonly #open = new Map<string, Connection>()
  /** Connections that have not signed in, the oldest first. */
  readonly #anonymous = new Set<Connection>()
  #receiving = 0

  constructor(limits: SubmissionLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#open.size
  }

  /**
   * Returns false if the connection is refused. Where a limit is reached, the oldest connection that has not signed in is
   * closed instead, so that clients that never do cannot keep others out.
   */
  enter(socket: Socket): boolean {
    const { connectionsMax, connectionsPerAddressMax, anonymousConnectionsMax, signInMs } = this.#limits
    const key = keyOf(socket)
    const network = clientNetwork(socket.remoteAddress ?? '')
    const isSame = (other: Connection) => other.network === network
    if (this.#count(isSame) >= connectionsPerAddressMax && !this.#closeAnonymous(isSame)) return false
    if (this.#open.size >= connectionsMax && !this.#closeAnonymous()) return false
    if (this.#anonymous.size >= anonymousConnectionsMax) this.#closeAnonymous()
    const signInTimer = setTimeout(() => socket.destroy(), signInMs).unref()
    const connection: Connection = {
      ...{ key, socket, network, organizationId: undefined, signInTimer },
      ...{ transactionTimer: undefined, isReceiving: false },
    }
    this.#open.set(key, connection)
    this.#anonymous.add(connection)
    // smtp-server removes this listener when it starts TLS. From then on it reports the end of the session (`leave`).
    socket.once('close', () => this.#remove(key))
    return true
  }

  /** Returns false if the organization has too many connections. */
  signIn(endpoint: Endpoint, organizationId: OrganizationId): boolean {
    const connection = this.#open.get(keyOf(endpoint))
    const isSame = (other: Connection) => other.organizationId === organizationId
    if (!connection || this.#count(isSame) >= this.#limits.connectionsPerOrganizationMax) return false
    clearTimeout(connection.signInTimer)
    connection.organizationId = organizationId
    this.#anonymous.delete(connection)
    return true
  }

  /** Returns true if one more email of this organization may be received now. */
  mayReceive(organizationId: OrganizationId): boolean {
    const { transactionsMax, transactionsPerOrganizationMax } = this.#limits
    if (this.#receiving >= transactionsMax) return false
    const isSame = (other: Connection) => other.isReceiving && other.organizationId === organizationId
    return this.#count(isSame) < transactionsPerOrganizationMax
  }

  /** Starts the time limit of a transaction, which begins with MAIL. */
  beginTransaction(endpoint: Endpoint, onTooLong: () => void): void {
    const connection = this.#open.get(keyOf(endpoint))
    if (!connection) return
    clearTimeout(connection.transactionTimer)
    connection.transactionTimer = setTimeout(onTooLong, this.#limits.transactionMs).unref()
  }

  /** Returns false if too many emails are being received. */
  beginReceiving(endpoint: Endpoint): boolean {
    const connection = this.#open.get(keyOf(endpoint))
    if (!connection?.organizationId || !this.mayReceive(connection.organizationId)) return false
    connection.isReceiving = true
    this.#receiving++
    return true
  }

  endTransaction(endpoint: Endpoint): void {
    const connection = this.#open.get(keyOf(endpoint))
    if (connection) this.#endTransaction(connection)
  }

  isReceiving(endpoint: Endpoint): boolean {
    return this.#open.get(keyOf(endpoint))?.isReceiving ?? false
  }

  leave(endpoint: Endpoint): void {
    this.#remove(keyOf(endpoint))
  }

  destroyAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy()
  }

  /** Closes the oldest such connection that has not signed in. Returns false if there is none. */
  #closeAnonymous(isMeant: (connection: Connection) => boolean = () => true): boolean {
    for (const connection of this.#anonymous) {
      if (!isMeant(connection)) continue
      connection.socket.destroy()
      this.#remove(connection.key)
      return true
    }
    return false
  }

  #remove(key: string): void {
    const connection = this.#open.get(key)
    if (!connection) return
    this.#open.delete(key)
    this.#anonymous.delete(connection)
    clearTimeout(connection.signInTimer)
    this.#endTransaction(connection)
  }

  #endTransaction(connection: Connection): void {
    clearTimeout(connection.transactionTimer)
    if (connection.isReceiving) this.#receiving--
    connection.isReceiving = false
  }

  #count(isCounted: (connection: Connection) => boolean): number {
    let count = 0
    for (const connection of this.#open.values()) if (isCounted(connection)) count++
    return count
  }
}
