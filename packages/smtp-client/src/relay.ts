import { openSmtp, type SmtpConnection } from './connection.ts'
import { toWireData, type WireData } from './data.ts'
import { EmailQueue, type QueuedEmail } from './email-queue.ts'
import type { SmtpOptions } from './handshake.ts'
import { Outage } from './outage.ts'
import { type RelayLimits, relayLimits } from './relay-limits.ts'
import type { Envelope, MailSource, RelayState, SendOptions, SendOutcome, Transport } from './transport.ts'
import { parseSmtpUrl, type SmtpTarget } from './url.ts'

const connectionsDefault = 10

export type RelayOptions = SmtpOptions & {
  connections?: number
  relayLimits?: Partial<RelayLimits>
  /** Called when the relay goes down, after each failed attempt, and when it is back. */
  onState?: (state: RelayState) => void
  /** Called with the outcome of each email. */
  onOutcome?: (outcome: SendOutcome) => void
}

/**
 * Opens a pool for an SMTP URL. Connects when the first email is sent. Throws `InvalidSmtpUrl` if the URL is invalid.
 */
export function openRelay(url: string, options: RelayOptions = {}): Transport {
  return new Relay(parseSmtpUrl(url), options)
}

/** Asked for once per email, so it is not created each time. */
const up: RelayState = { kind: 'up' }

/**
 * A pool of connections. If one cannot be opened, a single connection is tried after a delay. Open connections continue
 * to be used during that time. If none is left, the relay is down and `send` returns `unreachable` immediately.
 */
class Relay implements Transport {
  readonly #target: SmtpTarget
  readonly #options: RelayOptions
  readonly #limits: RelayLimits
  readonly #capacity: number
  #connections: number
  readonly #outage: Outage
  readonly #emails = new EmailQueue()
  #live = new Set<SmtpConnection>()
  /** Connections that can accept an email, and since when. */
  #free = new Map<SmtpConnection, number>()
  /** Surplus connections, which get no further email and are closed after their last one. */
  #leaving = new Set<SmtpConnection>()
  #onFit: (() => void)[] = []
  #opening = 0
  #idleTimer: NodeJS.Timeout | undefined
  /** Stalled connections when they were last counted; at most as many as the pool may have in total. */
  #stalled = 0
  #stallTimer: NodeJS.Timeout | undefined
  /** Set while the relay has not replied on any connection for a long time, and no other may be opened. */
  #stuckSince: Date | undefined
  #closed = false
  #reported: 'up' | Date = 'up'

  constructor(target: SmtpTarget, options: RelayOptions) {
    this.#target = target
    this.#options = options
    this.#limits = { ...relayLimits, ...options.relayLimits }
    this.#connections = options.connections ?? connectionsDefault
    this.#capacity = this.#connections * this.#limits.mailsPerSlot
    this.#outage = new Outage(this.#limits, () => void this.#probe())
  }

  send(mail: MailSource, { bulk = false }: SendOptions = {}): Promise<SendOutcome> {
    if (this.#closed) return Promise.resolve(closing)
    const state = this.state()
    if (state.kind === 'down') return Promise.resolve(unreachable(state.reason))
    if (this.capacity({ bulk }) <= 0) return Promise.resolve(full)
    const outcome = this.#emails.add(mail, bulk)
    this.#pump()
    return outcome
  }

  resize(connections: number): Promise<void> {
    this.#connections = connections
    for (const connection of this.#free.keys()) this.#retireSurplus(connection)
    this.#pump()
    return new Promise((resolve) => {
      this.#onFit.push(resolve)
      this.#reportFit()
    })
  }

  capacity({ bulk = false }: SendOptions = {}): number {
    if (this.#closed || this.state().kind === 'down') return 0
    return this.#capacity - this.#emails.inFlight({ bulk })
  }

  /** No more connections are open than there may be. */
  #reportFit(): void {
    if (this.#room() >= 0) for (const resolve of this.#onFit.splice(0)) resolve()
  }

  get waiting(): number {
    return this.#emails.waiting
  }

  /** The relay is down only if no connection is open or being opened, or if it has not replied on any for a long time. */
  state(): RelayState {
    if (this.#stuckSince) {
      const nextTryAt = new Date(Date.now() + this.#limits.stalledMs)
      return { kind: 'down', since: this.#stuckSince, reason: this.#stuckReason, nextTryAt }
    }
    const outage = this.#outage.current
    return outage && this.#live.size + this.#opening === 0 ? { kind: 'down', ...outage } : up
  }

  async check(): Promise<RelayState> {
    await this.#probe()
    return this.state()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#outage.end()
    clearTimeout(this.#idleTimer)
    clearTimeout(this.#stallTimer)
    this.#emails.resolveWaiting(closing)
    await this.#emails.empty(this.#limits.closeMs)
    for (const connection of this.#live) this.#retire(connection)
  }

  /** Assigns queued emails: to an idle connection, else to a new one, else to one that is waiting for a reply. */
  #pump(): void {
    while (this.#emails.waiting > 0) {
      const connection = this.#idleConnection() ?? (this.#openMore() ? undefined : this.#free.keys().next().value)
      const email = connection && this.#emails.next()
      if (!email) {
        this.#watchForStalls()
        return
      }
      this.#assign(connection, email)
    }
  }

  #idleConnection(): SmtpConnection | undefined {
    for (const connection of this.#free.keys()) if (connection.quiet) return connection
    return undefined
  }

  /** Returns true if connections are being opened for queued emails. */
  #openMore(): boolean {
    if (this.#outage.current) return false
    const wanted = Math.min(this.#room(), this.#emails.waiting - this.#opening)
    for (let i = 0; i < wanted; i++) void this.#open()
    return this.#opening > 0
  }

  #room(): number {
    return this.#connections + this.#stalled - this.#live.size - this.#opening
  }

  /** While emails wait for a connection, the stalled ones are counted now and then. */
  #watchForStalls(): void {
    this.#stallTimer ??= setTimeout(() => {
      this.#stallTimer = undefined
      const { stalledMs } = this.#limits
      const stalled = [...this.#live].filter((connection) => connection.silentMs >= stalledMs).length
      this.#stalled = Math.min(stalled, this.#connections)
      // All that the pool may open are stalled: further emails would only wait.
      const isStuck = stalled > 0 && stalled === this.#live.size && this.#room() <= 0
      if (isStuck) {
        this.#stuckSince ??= new Date(Date.now() - stalledMs)
        this.#watchForStalls()
        this.#returnQueueIfDown()
      } else this.#unstick()
      this.#pump()
    }, this.#limits.stalledMs).unref()
  }

  /** The relay has replied, or one of the connections is gone. */
  #unstick(): void {
    if (!this.#stuckSince) return
    this.#stuckSince = undefined
    this.#report()
  }

  get #stuckReason(): string {
    return `${this.#target.host}:${this.#target.port} has not replied for ${this.#limits.stalledMs / 1000} seconds`
  }

  /** Each email releases its connection exactly once; otherwise two would share it, and get the replies of each other. */
  #assign(connection: SmtpConnection, email: QueuedEmail): void {
    const written = this.#write(email)
    if (!written) return
    this.#free.delete(connection)
    const fresh = connection.carried === 0
    let released = false
    const release = () => {
      if (released) return
      released = true
      this.#release(connection)
    }
    const settled = (settle: () => void) => {
      this.#unstick()
      release()
      settle()
      const isLast = this.#isSpent(connection) || this.#leaving.has(connection)
      if (isLast && connection.quiet) this.#retire(connection)
      else this.#retireSurplus(connection)
      this.#pump()
    }
    connection.send(written.envelope, written.data, release).then(
      (outcome) => settled(() => this.#settle(email, outcome, fresh)),
      (error) => settled(() => this.#emails.reject(email, error)),
    )
  }

  #write(email: QueuedEmail): { envelope: Envelope; data: WireData } | undefined {
    try {
      const mail = typeof email.mail === 'function' ? email.mail() : email.mail
      if (!('skip' in mail)) return { envelope: mail.envelope, data: toWireData(mail.raw) }
      this.#emails.resolve(email, { kind: 'withdrawn', skip: mail.skip })
      return undefined
    } catch (error) {
      this.#emails.reject(email, error)
      return undefined
    }
  }

  #settle(email: QueuedEmail, outcome: SendOutcome, fresh: boolean): void {
    const untouched = outcome.kind === 'unreachable' || (outcome.kind === 'interrupted' && !outcome.maybeSent)
    // The relay closed an old connection before the email was processed: retry on another one.
    if (untouched && !fresh && ++email.tries <= staleTriesMax && !this.#closed) {
      this.#emails.putBack(email)
      this.#returnQueueIfDown()
      return
    }
    if (outcome.kind === 'unreachable') this.#outage.noteFirst(outcome.reason)
    else if (outcome.kind !== 'interrupted') this.#outage.mailAccepted()
    this.#options.onOutcome?.(outcome)
    this.#emails.resolve(email, outcome)
    this.#returnQueueIfDown()
  }

  #isSpent(connection: SmtpConnection): boolean {
    return connection.carried >= this.#limits.mailsPerConnection
  }

  /** Closes an idle connection if there are too many. */
  #retireSurplus(connection: SmtpConnection): void {
    if (this.#room() < 0 && connection.quiet && this.#free.has(connection)) this.#retire(connection)
  }

  #release(connection: SmtpConnection): void {
    // A connection that reached its limit is closed when its last email is settled.
    if (connection.lost || this.#isSpent(connection)) return
    // While emails wait, a connection has its next one before the reply to the last, so it is never idle.
    if (!connection.quiet && this.#leaving.size < -this.#room()) this.#leaving.add(connection)
    if (this.#leaving.has(connection)) return
    this.#free.set(connection, performance.now())
    this.#idleTimer ??= setTimeout(() => this.#retireIdle(), this.#limits.idleMs).unref()
    this.#pump()
  }

  /** One timer for all connections, so each is closed after one to two times the limit. */
  #retireIdle(): void {
    this.#idleTimer = undefined
    const since = performance.now() - this.#limits.idleMs
    for (const [connection, freeSince] of this.#free)
      if (connection.quiet && freeSince <= since) this.#retire(connection)
    if (this.#free.size > 0) this.#idleTimer = setTimeout(() => this.#retireIdle(), this.#limits.idleMs).unref()
  }

  async #open(): Promise<void> {
    this.#opening++
    const opened = await openSmtp(this.#target, this.#options)
    this.#opening--
    this.#reportFit()
    if (opened.kind === 'open') return this.#adopt(opened.connection)
    this.#outage.noteFirst(opened.reason)
    this.#returnQueueIfDown()
  }

  async #probe(): Promise<void> {
    if (this.#closed) return
    const opened = await openSmtp(this.#target, this.#options)
    if (opened.kind === 'open') {
      this.#outage.end()
      return this.#adopt(opened.connection)
    }
    this.#outage.note(opened.reason)
    this.#returnQueueIfDown()
  }

  #adopt(connection: SmtpConnection): void {
    if (this.#closed || this.#room() <= 0) {
      connection.quit()
      return
    }
    this.#live.add(connection)
    connection.onLost(() => this.#forget(connection))
    this.#report()
    this.#release(connection)
  }

  #retire(connection: SmtpConnection): void {
    if (connection.quiet) connection.quit()
    else connection.abandon('the connection was closed')
    this.#forget(connection)
  }

  #forget(connection: SmtpConnection): void {
    this.#live.delete(connection)
    this.#free.delete(connection)
    this.#leaving.delete(connection)
    this.#reportFit()
    this.#unstick()
    this.#returnQueueIfDown()
  }

  #returnQueueIfDown(): void {
    const state = this.state()
    if (state.kind === 'up') return
    this.#emails.resolveWaiting(unreachable(state.reason))
    this.#report()
  }

  /** Reports every failed attempt, but recovery only once. */
  #report(): void {
    const state = this.state()
    const report = state.kind === 'up' ? 'up' : state.nextTryAt
    if (report === this.#reported) return
    this.#reported = report
    this.#options.onState?.(state)
  }
}

const staleTriesMax = 3
const unreachable = (reason: string): SendOutcome => ({ kind: 'unreachable', reason })
const closing = unreachable('the service is shutting down')
const full = unreachable('too many emails are in flight')
