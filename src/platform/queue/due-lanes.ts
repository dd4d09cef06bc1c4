import { hasNodeDown } from '../db/cluster/claims.ts'
import type { Db } from '../db/db.ts'
import { type DueKind, findDueKinds } from './lanes.sql.ts'
import type { JobKind } from './queue.ts'

/** Lanes of postponed jobs and of killed processes become due without a notification. */
const pollEveryMs = 1_000
/** While this process receives no notifications, polling is the only way to learn of the jobs of others. */
const unnotifiedPollEveryMs = 250

/**
 * Looks for lanes that are due and that no worker holds, with one query for all kinds of jobs. Lanes that are due before the
 * next query are announced at their time.
 */
export class DueLanes {
  readonly #db: Db
  readonly #onDue: (kind: JobKind) => void
  readonly #kinds = new Map<JobKind, number>()
  #timer: NodeJS.Timeout | undefined
  /** Returns whether notifications arrive. */
  isNotified: () => boolean = () => false

  constructor(db: Db, onDue: (kind: JobKind) => void) {
    this.#db = db
    this.#onDue = onDue
  }

  /** Polls for this kind until `delete` was called as often. */
  add(kind: JobKind): void {
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1)
    this.#timer ??= setTimeout(() => this.#poll(), this.#intervalMs)
  }

  delete(kind: JobKind): void {
    const count = (this.#kinds.get(kind) ?? 0) - 1
    if (count > 0) this.#kinds.set(kind, count)
    else this.#kinds.delete(kind)
    if (this.#kinds.size > 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  get #intervalMs(): number {
    return this.isNotified() ? pollEveryMs : unnotifiedPollEveryMs
  }

  async #poll(): Promise<void> {
    const intervalMs = this.#intervalMs
    const kinds = [...this.#kinds.keys()]
    // If the query fails, the workers look themselves. They report an outage of the database, and they can do without a
    // node of a cluster that is down.
    const all = kinds.map((kind): DueKind => ({ kind, inMs: 0 }))
    const due = hasNodeDown(this.#db)
      ? all
      : await findDueKinds(this.#db.forRows(1), kinds, intervalMs).catch(() => all)
    for (const { kind, inMs } of due)
      if (inMs <= 0) this.#onDue(kind)
      else setTimeout(() => this.#onDue(kind), inMs).unref()
    if (this.#kinds.size === 0) return
    // Listeners may have been removed and added during the query.
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#poll(), this.#intervalMs)
  }
}
