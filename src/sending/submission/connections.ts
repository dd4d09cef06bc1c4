import type { Socket } from 'node:net'
import type { Stage } from '../../platform/runtime/stage.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { canonicalAddress, clientNetwork } from '../../platform/values/client-address.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
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
  receiving: Receiving | undefined
}

/** An email that is being received. */
type Receiving = {
  organizationId: OrganizationId
  /** When the last part of it arrived. */
  progressAt: number
  /** Ends the transaction. */
  close: () => void
  release: () => void
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
  readonly #receiving: Stage

  constructor(limits: SubmissionLimits, stages: StageRegistry) {
    this.#limits = limits
    this.#receiving = stages.stage('submitted emails', 'client', {
      perOrganization: limits.transactionsPerOrganizationMax,
      overall: limits.transactionsMax,
      waitingPerOrganization: 0,
      waitMs: 0,
    })
  }

  get size(): number {
    return this.#open.size
  }

  /**
   * Returns false if the connection is refused. Where a limit is reached, the oldest connection that has not signed in is
   * closed instead, so that clients that never do cannot keep others out.
   */
  admit(socket: Socket): boolean {
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
      ...{ transactionTimer: undefined, receiving: undefined },
    }
    this.#open.set(key, connection)
    this.#anonymous.add(connection)
    // smtp-server removes this listener when it starts TLS. From then on it reports the end of the session (`closed`).
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
    return this.#receiving.usedBy(organizationId) < this.#limits.transactionsPerOrganizationMax
  }

  /** Starts the time limit of a transaction, which begins with MAIL. */
  beginTransaction(endpoint: Endpoint, onTooLong: () => void): void {
    const connection = this.#open.get(keyOf(endpoint))
    if (!connection) return
    clearTimeout(connection.transactionTimer)
    connection.transactionTimer = setTimeout(onTooLong, this.#limits.transactionMs).unref()
  }

  /**
   * Returns undefined if too many emails are being received. `close` ends the transaction if its place is needed for an
   * organization with fewer of them.
   */
  beginReceiving(endpoint: Endpoint, close: () => void): Receiving | undefined {
    const connection = this.#open.get(keyOf(endpoint))
    const organizationId = connection?.organizationId
    if (!connection || !organizationId || !this.mayReceive(organizationId)) return undefined
    const acquire = () => this.#receiving.tryAcquire(organizationId)
    const release = acquire() ?? (this.#closeSlowest(organizationId) ? acquire() : undefined)
    if (!release) return undefined
    connection.receiving = { organizationId, progressAt: performance.now(), close, release }
    return connection.receiving
  }

  /** Returns false if no organization has at least two emails more than this one. */
  #closeSlowest(organizationId: OrganizationId): boolean {
    const used = (id: OrganizationId) => this.#receiving.usedBy(id)
    let slowest: Receiving | undefined
    for (const { receiving } of this.#open.values()) {
      if (!receiving) continue
      const more = slowest ? used(receiving.organizationId) - used(slowest.organizationId) : 1
      if (more > 0 || (more === 0 && receiving.progressAt < slowest!.progressAt)) slowest = receiving
    }
    if (!slowest || used(slowest.organizationId) < used(organizationId) + 2) return false
    slowest.release()
    slowest.close()
    return true
  }

  endTransaction(endpoint: Endpoint): void {
    const connection = this.#open.get(keyOf(endpoint))
    if (connection) this.#endTransaction(connection)
  }

  closed(endpoint: Endpoint): void {
    this.#remove(keyOf(endpoint))
  }

  destroyAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy()
  }

  /** Closes the oldest such connection that has not signed in. Returns false if there is none. */
  #closeAnonymous(matches: (connection: Connection) => boolean = () => true): boolean {
    for (const connection of this.#anonymous) {
      if (!matches(connection)) continue
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
    connection.receiving?.release()
    connection.receiving = undefined
  }

  #count(isCounted: (connection: Connection) => boolean): number {
    let count = 0
    for (const connection of this.#open.values()) if (isCounted(connection)) count++
    return count
  }
}
