import { randomUUID } from 'node:crypto'
import type { Db } from '../db/db.ts'
import type { JobKind } from './queue.ts'

/** With a lane: the settings of that lane changed. Without: there are new jobs of this kind. */
type Listener = (lane: string | undefined) => void

const channel = 'waxwing_jobs'
/** NOTIFY takes a lock shared by all commits, so a busy process sends at most one per interval. */
const notifyEveryMs = 10

/**
 * Wakes workers when jobs are enqueued: those in this process immediately, those in other processes through NOTIFY. Hints may be
 * lost. Workers also poll, so a hint only reduces latency.
 */
export class Hints {
  readonly #db: Db
  readonly #self = randomUUID()
  readonly #listeners = new Map<JobKind, Set<Listener>>()
  readonly #pending = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #stopListening: () => Promise<void> = async () => {}

  constructor(db: Db) {
    this.#db = db
  }

  async start(): Promise<void> {
    this.#stopListening = await this.#db.listen(channel, (payload) => {
      const { from, kind, lane } = JSON.parse(payload) as { from: string; kind: JobKind; lane?: string }
      if (from !== this.#self) this.#call(kind, lane)
    })
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#stopListening()
  }

  on(kind: JobKind, listener: Listener): () => void {
    const listeners = this.#listeners.get(kind) ?? new Set()
    listeners.add(listener)
    this.#listeners.set(kind, listeners)
    return () => listeners.delete(listener)
  }

  /** Must be called after the commit, otherwise workers may not see the jobs yet. */
  notify(kind: JobKind, lane?: string): void {
    this.#call(kind, lane)
    this.#pending.add(JSON.stringify({ from: this.#self, kind, lane }))
    this.#timer ??= setTimeout(() => this.#flush(), notifyEveryMs)
  }

  #call(kind: JobKind, lane: string | undefined): void {
    for (const listener of this.#listeners.get(kind) ?? []) listener(lane)
  }

  #flush(): void {
    this.#timer = undefined
    const payloads = [...this.#pending]
    this.#pending.clear()
    this.#db`select pg_notify(${channel}, payload) from unnest(${payloads}::text[]) as payload`.catch(() => {})
  }
}
