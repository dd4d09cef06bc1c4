import { openSmtp, type SmtpConnection, type SmtpOptions } from './connection.ts'
import { toWireData, type WireData } from './data.ts'
import { Outage } from './outage.ts'
import { type RelayLimits, relayLimits } from './relay-limits.ts'
import type { Envelope, Mail, RelayState, SendOptions, SendOutcome, Transport } from './transport.ts'
import { parseSmtpUrl, type SmtpTarget } from './url.ts'

const connectionsDefault = 10

export type RelayOptions = SmtpOptions & {
  connections?: number
  relayLimits?: Partial<RelayLimits>
  /** Called when the relay goes down, after each failed attempt, and when it is back. */
  onState?: (state: RelayState) => void
}

/**
 * Opens a pool for an SMTP URL. Connects when the first email is sent. Throws `InvalidSmtpUrl` if the URL is invalid.
 */
export function openRelay(url: string, options: RelayOptions = {}): Transport {
  return new Relay(parseSmtpUrl(url), options)
}

type Item = {
  mail: Mail | (() => Mail | undefined)
  bulk: boolean
  tries: number
  resolve: (outcome: SendOutcome) => void
  reject: (error: unknown) => void
}

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
  #queue: Item[] = []
  /** Emails that wait until the queue is empty. */
  #bulkQueue: Item[] = []
  #inFlight = 0
  #bulkInFlight = 0
  #live = new Set<SmtpConnection>()
  /** Connections that can accept an email, and since when. */
  #free = new Map<SmtpConnection, number>()
  #opening = 0
  #idleTimer: NodeJS.Timeout | undefined
  /** Stalled connections when they were last counted; at most as many as the pool may have in total. */
  #stalled = 0
  #stallTimer: NodeJS.Timeout | undefined
  #closed = false
  #onDrained: (() => void) | undefined
  #reported: 'up' | Date = 'up'

  constructor(target: SmtpTarget, options: RelayOptions) {
    this.#target = target
    this.#options = options
    this.#limits = { ...relayLimits, ...options.relayLimits }
    this.#connections = options.connections ?? connectionsDefault
    this.#capacity = this.#connections * this.#limits.mailsPerSlot
    this.#outage = new Outage(this.#limits, () => void this.#probe())
  }

  send(mail: Mail | (() => Mail | undefined), { bulk = false }: SendOptions = {}): Promise<SendOutcome> {
    if (this.#closed) return Promise.resolve(closing)
    const state = this.state()
    if (state.kind === 'down') return Promise.resolve(unreachable(state.reason))
    if (this.capacity({ bulk }) <= 0) return Promise.resolve(full)
    if (bulk) this.#bulkInFlight++
    else this.#inFlight++
    return new Promise((resolve, reject) => {
      this.#queueOf(bulk).push({ mail, bulk, tries: 0, resolve, reject })
      this.#pump()
    })
  }

  resize(connections: number): void {
    this.#connections = connections
    for (const connection of this.#free.keys()) this.#retireSurplus(connection)
    this.#pump()
  }

  #queueOf(bulk: boolean): Item[] {
    return bulk ? this.#bulkQueue : this.#queue
  }

  get #waiting(): number {
    return this.#queue.length + this.#bulkQueue.length
  }

  capacity({ bulk = false }: SendOptions = {}): number {
    if (this.#closed || this.state().kind === 'down') return 0
    return this.#capacity - (bulk ? this.#bulkInFlight : this.#inFlight)
  }

  /** The relay is down only if no connection is open or being opened. */
  state(): RelayState {
    const outage = this.#outage.current
    return outage && this.#live.size + this.#opening === 0 ? { kind: 'down', ...outage } : { kind: 'up' }
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
    this.#returnQueue(closing)
    if (this.#inFlight + this.#bulkInFlight > 0) await this.#drained()
    for (const connection of this.#live) this.#retire(connection)
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#limits.closeMs)
      this.#onDrained = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Assigns queued emails: to an idle connection, else to a new one, else to one that is waiting for a reply. */
  #pump(): void {
    while (this.#waiting > 0) {
      const connection = this.#idleConnection() ?? (this.#openMore() ? undefined : this.#free.keys().next().value)
      const item = connection && (this.#queue.shift() ?? this.#bulkQueue.shift())
      if (!item) {
        this.#watchForStalls()
        return
      }
      this.#assign(connection, item)
    }
  }

  #idleConnection(): SmtpConnection | undefined {
    for (const connection of this.#free.keys()) if (connection.quiet) return connection
    return undefined
  }

  /** Returns true if connections are being opened for queued emails. */
  #openMore(): boolean {
    if (this.#outage.current) return false
    const wanted = Math.min(this.#room(), this.#waiting - this.#opening)
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
      this.#pump()
    }, this.#limits.stalledMs).unref()
  }

  #assign(connection: SmtpConnection, item: Item): void {
    const written = this.#write(item)
    if (!written) return
    this.#free.delete(connection)
    const fresh = connection.carried === 0
    let freed = false
    const onFree = () => {
      freed = true
      this.#release(connection)
    }
    void connection.send(written.envelope, written.data, onFree).then((outcome) => {
      if (!freed) this.#release(connection)
      this.#settle(item, outcome, fresh)
      if (this.#isSpent(connection) && connection.quiet) this.#retire(connection)
      else this.#retireSurplus(connection)
      this.#pump()
    })
  }

  #write(item: Item): { envelope: Envelope; data: WireData } | undefined {
    try {
      const mail = typeof item.mail === 'function' ? item.mail() : item.mail
      if (mail) return { envelope: mail.envelope, data: toWireData(mail.raw) }
      this.#resolve(item, { kind: 'withdrawn' })
      return undefined
    } catch (error) {
      this.#leave(item)
      item.reject(error)
      return undefined
    }
  }

  #settle(item: Item, outcome: SendOutcome, fresh: boolean): void {
    const untouched = outcome.kind === 'unreachable' || (outcome.kind === 'interrupted' && !outcome.maybeSent)
    // The relay closed an old connection before the email was processed: retry on another one.
    if (untouched && !fresh && ++item.tries <= staleTriesMax && !this.#closed) {
      this.#queueOf(item.bulk).unshift(item)
      this.#returnQueueIfDown()
      return
    }
    if (outcome.kind === 'unreachable') this.#outage.noteFirst(outcome.reason)
    else if (outcome.kind !== 'interrupted') this.#outage.mailAccepted()
    this.#resolve(item, outcome)
    this.#returnQueueIfDown()
  }

  #resolve(item: Item, outcome: SendOutcome): void {
    this.#leave(item)
    item.resolve(outcome)
  }

  #leave({ bulk }: Item): void {
    if (bulk) this.#bulkInFlight--
    else this.#inFlight--
    if (this.#inFlight + this.#bulkInFlight === 0) this.#onDrained?.()
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
    this.#returnQueueIfDown()
  }

  #returnQueueIfDown(): void {
    const state = this.state()
    if (state.kind === 'up') return
    this.#returnQueue(unreachable(state.reason))
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

  #returnQueue(outcome: SendOutcome): void {
    const queue = [...this.#queue, ...this.#bulkQueue]
    this.#queue = []
    this.#bulkQueue = []
    for (const item of queue) this.#resolve(item, outcome)
  }
}

const staleTriesMax = 3
const unreachable = (reason: string): SendOutcome => ({ kind: 'unreachable', reason })
const closing = unreachable('the service is shutting down')
const full = unreachable('too many emails are in flight')
