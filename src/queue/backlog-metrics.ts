import { Gauge, type Registry } from 'prom-client'
import type { Db } from '../db/db.ts'
import { within } from '../runtime/within.ts'
import { type Backlog, findBacklog } from './backlog.sql.ts'
import type { JobKind } from './queue.ts'

/** Other metrics matter most while the database does not respond. */
const answerWithinMs = 1_000
/** Several scrapers, and the gauges of one scrape, share a result. */
const keptMs = 10_000
/** Counting this many takes about 40 ms, also if a million jobs are pending. */
const countMax = 20_000
const lanesMax = 1_000

type Names = { queued: string; postponed?: string; lag: string; what: string }

/** Registers gauges of the pending jobs of one kind. They cover all processes: every process reports the same. */
export function measureBacklog(registry: Registry, db: Db, kind: JobKind, names: Names): void {
  const read = kept(() => findBacklog(db, kind, { countMax, lanesMax }))
  const gauge = (name: string, help: string, pick: (backlog: Backlog) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const backlog = await within(answerWithinMs, read()).catch(() => undefined)
        this.set(backlog ? pick(backlog) : Number.NaN)
      },
    })
  const { what } = names
  const limit = `Counted up to ${countMax.toLocaleString('en')}.`
  gauge(names.queued, `${what} that are due or postponed. ${limit}`, ({ queued }) => queued)
  if (names.postponed) gauge(names.postponed, `${what} that wait for a retry. ${limit}`, ({ postponed }) => postponed)
  gauge(
    names.lag,
    `How long the oldest of the due ${what.toLowerCase()} has been pending.`,
    ({ lagSeconds }) => lagSeconds,
  )
}

/** Returns a function that calls `read` at most once at a time and keeps its result for `keptMs`. */
function kept<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let current: Promise<Value> | undefined
  let expiresAt = 0
  return () => {
    if (current && performance.now() < expiresAt) return current
    const reading = read()
    current = reading
    expiresAt = Number.POSITIVE_INFINITY
    reading.then(
      () => {
        expiresAt = performance.now() + keptMs
      },
      () => {
        current = undefined
      },
    )
    return reading
  }
}
