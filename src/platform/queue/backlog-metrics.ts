import type { Registry } from 'prom-client'
import type { Db } from '../db/db.ts'
import { kept } from '../runtime/cache.ts'
import { measure } from '../runtime/measure.ts'
import { type Backlog, findBacklog } from './backlog.sql.ts'
import type { JobKind } from './queue.ts'

/** Several scrapers, and the gauges of one scrape, share a result. */
const keptMs = 10_000
/** Counting this many takes about 40 ms, also if a million jobs are pending. */
const countMax = 20_000
const lanesMax = 1_000

type Names = { queued: string; postponed?: string; lag: string; title: string }

/** Registers gauges of the pending jobs of one kind. They cover all processes: every process reports the same. */
export function measureBacklog(registry: Registry, db: Db, kind: JobKind, names: Names): void {
  const read = kept(keptMs, () => findBacklog(db, kind, { countMax, lanesMax }))
  const gauge = (name: string, help: string, pick: (backlog: Backlog) => number) =>
    measure(registry, name, help, async () => pick(await read()))
  const { title } = names
  const limit = `Counted up to ${countMax.toLocaleString('en')}.`
  gauge(names.queued, `${title} that are due or postponed. ${limit}`, ({ queued }) => queued)
  if (names.postponed) gauge(names.postponed, `${title} that wait for a retry. ${limit}`, ({ postponed }) => postponed)
  gauge(
    names.lag,
    `How long the oldest of the due ${title.toLowerCase()} has been pending.`,
    ({ lagSeconds }) => lagSeconds,
  )
}
