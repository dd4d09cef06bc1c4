import { join } from 'node:path'
import type { Transport } from '@waxwing/smtp-client'
import { type Counter, Gauge, type Registry } from 'prom-client'
import { programFolder } from '../config/package-root.ts'
import { allConnections, busyShare, type ConnectionPart, idleShare } from '../config/sending-processes.ts'
import type { Hints } from '../queue/hints.ts'
import type { JobKind } from '../queue/queue.ts'
import type { Log } from '../runtime/log.ts'
import type { FromSendingProcess, SendingStart, ToSendingProcess } from './protocol.ts'
import { Supervisor } from './supervisor.ts'

const programFile = join(programFolder, 'sending-process.js')

/** How often the service looks for emails that wait for a connection. Those that it sees twice in a row wait too long. */
const lookEveryMs = 250
/** After this time without any, the sending processes get the connections back. */
const busyMs = 5_000

/** The mail servers of the service. */
type Servers = {
  /** Whether any organization may send now, through SMTP_URL or a mail server. */
  isOpen(): boolean
  /** Whether emails wait for a connection. */
  readonly areWaiting: boolean
  /** Resolves when surplus connections are closed. */
  useConnections(part: ConnectionPart): Promise<void>
}

export type SendingProcessesOptions = {
  count: number
  /** Jobs of these kinds start the processes. They get the hints for them. */
  kinds: readonly JobKind[]
  start: Omit<SendingStart, 'isPaused' | 'isDistributed' | 'baseUrl' | 'connectionPart'>
  isDistributed: () => boolean
  isPaused: () => boolean
  baseUrl: () => string
  hints: Hints
  relay: Transport
  servers: Servers
  metrics: Registry
  log: Log
  file?: string
}

/**
 * Child processes that send broadcasts, so that requests and other emails do not wait for composing, signing and SMTP. They are
 * started when there is a broadcast, and end after a minute without one. They have most of the connections to the mail servers,
 * until other email waits for one. Jobs and their leases in the database remain the truth, so a process can be killed at any moment.
 */
export class SendingProcesses {
  readonly #options: SendingProcessesOptions
  readonly #supervisor: Supervisor<ToSendingProcess>
  readonly #memoryBytes = new Map<number, number>()
  #unlisten: (() => void)[] = []
  #isPaused = false
  #baseUrl = ''
  #ownShare = idleShare
  #wasWaiting = false
  #busyUntil = 0
  /** Sending processes that may still use connections which this process wants. */
  #unanswered = 0
  #looking: NodeJS.Timeout | undefined

  constructor(options: SendingProcessesOptions) {
    this.#options = options
    const { count, log } = options
    this.#supervisor = new Supervisor({
      file: options.file ?? programFile,
      count,
      log,
      firstMessage: (index) => this.#firstMessage(index),
      onMessage: (index, message) => this.#received(index, message as FromSendingProcess),
      onChange: () => void this.#useConnections(),
    })
    this.#measure()
  }

  /** Warnings for the operator. */
  get problems(): string[] {
    return this.#supervisor.isFailing ? ['Sending processes keep failing: see the log.'] : []
  }

  start(): void {
    const { hints, kinds } = this.#options
    this.#unlisten = kinds.map((kind) =>
      hints.forward(kind, (hint) => {
        if (hint.event !== 'changed' && this.#isOpen) this.#supervisor.start()
        this.#supervisor.send({ kind: 'hint', hint })
      }),
    )
  }

  /** Must be called regularly. */
  pauseIfPaused(): void {
    const isPaused = this.#options.isPaused()
    if (isPaused !== this.#isPaused) this.#supervisor.send({ kind: 'paused', isPaused })
    this.#isPaused = isPaused
  }

  /** Must be called after a change. */
  passOnBaseUrl(): void {
    const baseUrl = this.#options.baseUrl()
    if (baseUrl !== this.#baseUrl) this.#supervisor.send({ kind: 'baseUrl', baseUrl })
    this.#baseUrl = baseUrl
  }

  async stop(): Promise<void> {
    for (const unlisten of this.#unlisten) unlisten()
    clearInterval(this.#looking)
    await this.#supervisor.stop({ kind: 'stop' })
  }

  /** While nothing can be sent, the processes would only wait. */
  get #isOpen(): boolean {
    return !this.#options.isPaused() && this.#options.servers.isOpen()
  }

  /** The part of this process, or of a sending process. */
  #partOf(index?: number): ConnectionPart {
    return { processes: this.#options.count, ownShare: this.#ownShare, ...(index === undefined ? {} : { index }) }
  }

  async #useConnections(): Promise<void> {
    const isShared = this.#supervisor.running > 0
    if (isShared) this.#looking ??= setInterval(() => void this.#look(), lookEveryMs).unref()
    else {
      clearInterval(this.#looking)
      this.#looking = undefined
      this.#ownShare = idleShare
    }
    await this.#options.servers.useConnections(isShared ? this.#partOf() : allConnections)
  }

  /** Divides the connections by demand. A process closes its surplus ones before another opens more. */
  async #look(): Promise<void> {
    const { areWaiting } = this.#options.servers
    if (areWaiting && this.#wasWaiting) this.#busyUntil = performance.now() + busyMs
    this.#wasWaiting = areWaiting
    const ownShare = performance.now() < this.#busyUntil ? busyShare : idleShare
    if (ownShare === this.#ownShare) return
    const isMore = ownShare > this.#ownShare
    this.#ownShare = ownShare
    this.#unanswered = this.#supervisor.running
    if (!isMore) await this.#useConnections()
    this.#supervisor.send({ kind: 'connections', ownShare: this.#ownShare })
  }

  #firstMessage(index: number): ToSendingProcess {
    const { start, isDistributed, isPaused, baseUrl } = this.#options
    return {
      kind: 'start',
      ...start,
      connectionPart: this.#partOf(index),
      isDistributed: isDistributed(),
      isPaused: isPaused(),
      baseUrl: baseUrl(),
    }
  }

  #received(index: number, message: FromSendingProcess): void {
    const { relay, metrics } = this.#options
    switch (message.kind) {
      case 'relayDown':
        // So that the outage is reported, and ends for all processes when this one can connect.
        void relay.check()
        return
      case 'connectionsUsed':
        if (message.ownShare === this.#ownShare && --this.#unanswered <= 0) void this.#useConnections()
        return
      case 'counted':
        this.#memoryBytes.set(index, message.memoryBytes)
        for (const { name, labels, by } of message.counts)
          (metrics.getSingleMetric(name) as Counter | undefined)?.inc(labels, by)
    }
  }

  #measure(): void {
    const { metrics } = this.#options
    const running = () => this.#supervisor.running
    const memoryBytes = () => [...this.#memoryBytes.values()].reduce((sum, bytes) => sum + bytes, 0)
    new Gauge({
      name: 'waxwing_sending_processes',
      help: 'Child processes that send broadcasts. They run while there is a broadcast.',
      registers: [metrics],
      collect() {
        this.set(running())
      },
    })
    new Gauge({
      name: 'waxwing_sending_processes_resident_memory_bytes',
      help: 'Resident memory of these processes.',
      registers: [metrics],
      collect() {
        this.set(running() > 0 ? memoryBytes() : 0)
      },
    })
  }
}
