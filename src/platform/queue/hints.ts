import { randomUUID } from 'node:crypto'
import type { Db } from '../db/db.ts'
import { DueLanes } from './due-lanes.ts'
import { Enqueued, type EnqueuedJob, type JobKind, LanesChanged } from './queue.ts'

/** Wakes a worker. */
export type Listener = {
  /** The process has just committed these jobs. Returns those whose lanes this worker does not hold. */
  offered?(jobs: readonly EnqueuedJob[]): readonly EnqueuedJob[]
  /** Another process has enqueued jobs. */
  enqueued?(): void
  /** Lanes that no worker holds are due. */
  due?(): void
  /** The settings of a lane changed, or jobs in it became due. */
  changed?(lane: string): void
}

/** What a listener is called for, for a worker in another process. */
export type Hint = { kind: JobKind; event: 'enqueued' | 'due' } | { kind: JobKind; event: 'changed'; lane: string }

type Notification = { from: string; kind: JobKind; lane?: string }

const channel = 'waxwing_jobs'
/** NOTIFY takes a lock shared by all commits, so a busy process sends at most one per interval. */
const notifyEveryMs = 10

/**
 * Wakes workers when there are jobs for them: those of this process when the jobs are committed, those of other processes
 * through NOTIFY. Notifications may be lost: due lanes are also polled (`DueLanes`), so a notification only reduces latency.
 */
export class Hints {
  readonly #db: Db
  readonly #self = randomUUID()
  readonly #listeners = new Map<JobKind, Set<Listener>>()
  readonly #pending = new Set<string>()
  readonly #due: DueLanes | undefined
  #timer: NodeJS.Timeout | undefined
  #stopListening: () => Promise<void> = async () => {}

  /** With `areForwarded`, another process calls `receive`, so that this one need not listen and poll. */
  constructor(db: Db, { areForwarded = false } = {}) {
    this.#db = db
    this.#due = areForwarded ? undefined : new DueLanes(db, (kind) => this.#call(kind, (listener) => listener.due?.()))
    db.onAnnouncement((announced) => {
      if (announced instanceof Enqueued) for (const [kind, jobs] of announced.byKind) this.#offer(kind, jobs)
      if (announced instanceof LanesChanged) for (const lane of announced.lanes) this.#changed(announced.kind, lane)
    })
  }

  async start(): Promise<void> {
    if (!this.#due) return
    const listening = await this.#db.listen(channel, (payload) => {
      const { from, kind, lane } = JSON.parse(payload) as Notification
      if (from === this.#self) return
      if (lane === undefined) this.#call(kind, (listener) => listener.enqueued?.())
      else this.#wakeAfterChange(kind, lane)
    })
    this.#stopListening = listening.stop
    this.#due.isNotified = listening.isActive
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#stopListening()
  }

  /** Returns a function that removes the listener. */
  on(kind: JobKind, listener: Listener): () => void {
    const listeners = this.#listeners.get(kind) ?? new Set()
    listeners.add(listener)
    this.#listeners.set(kind, listeners)
    if (listener.due) this.#due?.add(kind)
    return () => {
      listeners.delete(listener)
      if (listener.due) this.#due?.delete(kind)
    }
  }

  /** Calls `send` with the hints of this kind. Returns a function that ends it. */
  forward(kind: JobKind, send: (hint: Hint) => void): () => void {
    return this.on(kind, {
      enqueued: () => send({ kind, event: 'enqueued' }),
      due: () => send({ kind, event: 'due' }),
      changed: (lane) => send({ kind, event: 'changed', lane }),
    })
  }

  /** Wakes the workers of this process for a hint that another process forwarded. */
  receive(hint: Hint): void {
    this.#call(hint.kind, (listener) => {
      if (hint.event === 'changed') listener.changed?.(hint.lane)
      else listener[hint.event]?.()
    })
  }

  #changed(kind: JobKind, lane: string): void {
    this.#wakeAfterChange(kind, lane)
    this.#notify({ from: this.#self, kind, lane })
  }

  #wakeAfterChange(kind: JobKind, lane: string): void {
    this.#call(kind, (listener) => {
      listener.changed?.(lane)
      listener.due?.()
    })
  }

  /** Other processes can help only with lanes that no worker of this process holds. */
  #offer(kind: JobKind, jobs: readonly EnqueuedJob[]): void {
    let rest = jobs
    this.#call(kind, (listener) => {
      if (rest.length > 0 && listener.offered) rest = listener.offered(rest)
    })
    if (rest.length === 0) return
    this.#call(kind, (listener) => listener.due?.())
    this.#notify({ from: this.#self, kind })
  }

  #call(kind: JobKind, wake: (listener: Listener) => void): void {
    for (const listener of this.#listeners.get(kind) ?? []) wake(listener)
  }

  #notify(notification: Notification): void {
    this.#pending.add(JSON.stringify(notification))
    this.#timer ??= setTimeout(() => this.#flush(), notifyEveryMs)
  }

  #flush(): void {
    this.#timer = undefined
    const payloads = [...this.#pending]
    this.#pending.clear()
    this.#db`select pg_notify(${channel}, payload) from unnest(${payloads}::text[]) as payload`.catch(() => {})
  }
}
