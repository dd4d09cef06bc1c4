import { openSmtp, type SmtpConnection, type SmtpOptions } from './connection.ts'
import { toWireData, type WireData } from './data.ts'
import { Outage, type OutageLimits } from './outage.ts'
import type { Envelope, Mail, RelayState, SendOutcome, Transport } from './transport.ts'
import { parseSmtpUrl, type SmtpTarget } from './url.ts'

export type RelayLimits = OutageLimits & {
  /** Mails in our hands for each connection: one answered, one right behind it, the rest for large batches of records. */
  mailsPerSlot: number
  /** After this many mails a connection is closed in good order, since relays tire of long ones. */
  mailsPerConnection: number
  idleMs: number
  /** Short, since whoever sent the mails has waited for them before: what is still under way then hangs. */
  closeMs: number
}

export const relayLimits: RelayLimits = {
  mailsPerSlot: 50,
  mailsPerConnection: 1_000,
  idleMs: 30_000,
  firstWaitMs: 1_000,
  longestWaitMs: 60_000,
  closeMs: 1_000,
}

const connectionsDefault = 10

export type RelayOptions = SmtpOptions & {
  connections?: number
  relayLimits?: Partial<RelayLimits>
  /** Told whenever the relay goes down, is tried in vain, or comes back. */
  onState?: (state: RelayState) => void
}

/** The transport for SMTP_URL. Throws only when the URL cannot be used; connects when the first mail comes. */
export function openRelay(url: string, options: RelayOptions = {}): Transport {
  return new Relay(parseSmtpUrl(url), options)
}

type Item = {
  mail: Mail | (() => Mail)
  tries: number
  resolve: (outcome: SendOutcome) => void
  reject: (error: unknown) => void
}

/**
 * A pool of connections. When one cannot be opened, no other is tried until a wait is over, and then one alone. While
 * others still carry mail that only caps their number; with none left the relay is down, and mails come back
 * `unreachable` at once.
 */
class Relay implements Transport {
  readonly #target: SmtpTarget
  readonly #options: RelayOptions
  readonly #limits: RelayLimits
  readonly #connections: number
  readonly #outage: Outage
  #queue: Item[] = []
  #inHand = 0
  #live = new Set<SmtpConnection>()
  /** Those that may be given a mail now, and since when. */
  #free = new Map<SmtpConnection, number>()
  #opening = 0
  #idleTimer: NodeJS.Timeout | undefined
  #closed = false
  #onDrained: (() => void) | undefined
  #told: 'up' | Date = 'up'

  constructor(target: SmtpTarget, options: RelayOptions) {
    this.#target = target
    this.#options = options
    this.#limits = { ...relayLimits, ...options.relayLimits }
    this.#connections = options.connections ?? connectionsDefault
    this.#outage = new Outage(this.#limits, () => void this.#probe())
  }

  send(mail: Mail | (() => Mail)): Promise<SendOutcome> {
    if (this.#closed) return Promise.resolve(closing)
    const state = this.state()
    if (state.kind === 'down') return Promise.resolve(unreachable(state.because))
    if (this.capacity() <= 0) return Promise.resolve(full)
    this.#inHand++
    return new Promise((resolve, reject) => {
      this.#queue.push({ mail, tries: 0, resolve, reject })
      this.#pump()
    })
  }

  capacity(): number {
    if (this.#closed || this.state().kind === 'down') return 0
    return this.#connections * this.#limits.mailsPerSlot - this.#inHand
  }

  /** Down only when nothing is left that may still carry a mail. */
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
    this.#returnQueue(closing)
    if (this.#inHand > 0) await this.#drained()
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

  /** Hands queued mails on: to a connection at rest, else to a new one, else behind a mail that awaits its answer. */
  #pump(): void {
    while (this.#queue.length > 0) {
      const connection = this.#atRest() ?? (this.#openMore() ? undefined : this.#free.keys().next().value)
      const item = connection && this.#queue.shift()
      if (!item) return
      this.#give(connection, item)
    }
  }

  #atRest(): SmtpConnection | undefined {
    for (const connection of this.#free.keys()) if (connection.quiet) return connection
    return undefined
  }

  /** True when connections are on their way for mails that wait. */
  #openMore(): boolean {
    if (this.#outage.current) return false
    const room = this.#connections - this.#live.size - this.#opening
    const wanted = Math.min(room, this.#queue.length - this.#opening)
    for (let i = 0; i < wanted; i++) void this.#open()
    return this.#opening > 0
  }

  #give(connection: SmtpConnection, item: Item): void {
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
      this.#pump()
    })
  }

  #write(item: Item): { envelope: Envelope; data: WireData } | undefined {
    try {
      const { envelope, raw } = typeof item.mail === 'function' ? item.mail() : item.mail
      return { envelope, data: toWireData(raw) }
    } catch (error) {
      this.#letGo()
      item.reject(error)
      return undefined
    }
  }

  #settle(item: Item, outcome: SendOutcome, fresh: boolean): void {
    const untouched = outcome.kind === 'unreachable' || (outcome.kind === 'interrupted' && !outcome.maybeSent)
    // Relays close connections they are tired of. That says nothing about the mail that was next in line.
    if (untouched && !fresh && ++item.tries <= staleTriesMax && !this.#closed) {
      this.#queue.unshift(item)
      this.#returnQueueIfDown()
      return
    }
    if (outcome.kind === 'unreachable') this.#outage.noteFirst(outcome.because)
    else if (outcome.kind !== 'interrupted') this.#outage.mailPassed()
    this.#resolve(item, outcome)
    this.#returnQueueIfDown()
  }

  #resolve(item: Item, outcome: SendOutcome): void {
    this.#letGo()
    item.resolve(outcome)
  }

  #letGo(): void {
    this.#inHand--
    if (this.#inHand === 0) this.#onDrained?.()
  }

  #isSpent(connection: SmtpConnection): boolean {
    return connection.carried >= this.#limits.mailsPerConnection
  }

  #release(connection: SmtpConnection): void {
    // One that is spent takes no more; it is retired when its last mail is settled.
    if (connection.lost || this.#isSpent(connection)) return
    this.#free.set(connection, performance.now())
    this.#idleTimer ??= setTimeout(() => this.#retireIdle(), this.#limits.idleMs).unref()
    this.#pump()
  }

  /** One timer for all: a connection is closed after one to two times the limit. */
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
    this.#outage.noteFirst(opened.because)
    this.#returnQueueIfDown()
  }

  async #probe(): Promise<void> {
    if (this.#closed) return
    const opened = await openSmtp(this.#target, this.#options)
    if (opened.kind === 'open') {
      this.#outage.end()
      return this.#adopt(opened.connection)
    }
    this.#outage.note(opened.because)
    this.#returnQueueIfDown()
  }

  #adopt(connection: SmtpConnection): void {
    if (this.#closed || this.#live.size >= this.#connections) {
      connection.quit()
      return
    }
    this.#live.add(connection)
    connection.onLost(() => this.#forget(connection))
    this.#tell()
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
    this.#returnQueue(unreachable(state.because))
    this.#tell()
  }

  /** Each try in vain is told, being up only once. */
  #tell(): void {
    const state = this.state()
    const told = state.kind === 'up' ? 'up' : state.nextTryAt
    if (told === this.#told) return
    this.#told = told
    this.#options.onState?.(state)
  }

  #returnQueue(outcome: SendOutcome): void {
    const queue = this.#queue
    this.#queue = []
    for (const item of queue) this.#resolve(item, outcome)
  }
}

const staleTriesMax = 3
const unreachable = (because: string): SendOutcome => ({ kind: 'unreachable', because })
const closing = unreachable('the service is shutting down')
const full = unreachable('more mails were handed over than the connections take')
