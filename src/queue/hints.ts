import { randomUUID } from 'node:crypto'
import type { Db } from '../db/db.ts'
import type { JobKind } from './queue.ts'

/** With a lane: that lane's circumstances changed. Without: there is new work of this kind. */
type Listener = (lane: string | undefined) => void

const channel = 'waxwing_jobs'
/** A NOTIFY takes a lock that all commits share, so a busy process sends at most one in this time. */
const notifyEveryMs = 10

/**
 * Tells workers that there is work: those of this process at once, those of others by NOTIFY after the commit. A hint may
 * get lost; workers poll as well, so it only ever saves time.
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
      if (from !== this.#self) this.#tell(kind, lane)
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

  /** Call after the commit. */
  give(kind: JobKind, lane?: string): void {
    this.#tell(kind, lane)
    this.#pending.add(JSON.stringify({ from: this.#self, kind, lane }))
    this.#timer ??= setTimeout(() => this.#notify(), notifyEveryMs)
  }

  #tell(kind: JobKind, lane: string | undefined): void {
    for (const listener of this.#listeners.get(kind) ?? []) listener(lane)
  }

  #notify(): void {
    this.#timer = undefined
    const payloads = [...this.#pending]
    this.#pending.clear()
    this.#db`select pg_notify(${channel}, payload) from unnest(${payloads}::text[]) as payload`.catch(() => {})
  }
}
