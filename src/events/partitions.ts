import type { Db, Tx } from '../db/db.ts'
import type { Log } from '../runtime/log.ts'
import { leastId } from '../values/ids.ts'
import {
  createPartition,
  deleteStray,
  dropPartition,
  lockPartitions,
  selectPartitionNames,
  setKeptSince,
} from './partitions.sql.ts'

const monthsAhead = 3
const strayBatch = 10_000

const monthStart = (time: Date, offset: number) =>
  new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + offset))
const nameOf = (month: Date) => `events_${month.toISOString().slice(0, 7).replace('-', '_')}`
const monthOf = (name: string) => {
  const match = /^events_(\d{4})_(\d{2})$/.exec(name)
  return match ? new Date(Date.UTC(Number(match[1]), Number(match[2]) - 1)) : undefined
}

/** One process at a time, and without the haste of a request: a month may hold hundreds of millions of events. */
const alone = <Result>(db: Db, work: (tx: Tx) => Promise<Result>): Promise<Result> =>
  db.begin(
    async (tx) => {
      await lockPartitions(tx)
      return work(tx)
    },
    { unlimited: true },
  )

/** Sees to it that this month and the next ones have partitions. What comes without one is in the default partition. */
export async function ensurePartitions(db: Db, now = new Date()): Promise<string[]> {
  const months = Array.from({ length: monthsAhead + 1 }, (_, offset) => monthStart(now, offset))
  const existing = await selectPartitionNames(db)
  if (months.every((month) => existing.includes(nameOf(month)))) return []
  return alone(db, async (tx) => {
    const known = new Set(await selectPartitionNames(tx))
    const missing = months.filter((month) => !known.has(nameOf(month)))
    for (const month of missing) {
      const fromId = leastId('evt', +month)
      const untilId = leastId('evt', +monthStart(month, 1))
      await createPartition(tx, { name: nameOf(month), fromId, untilId })
    }
    return missing.map(nameOf)
  })
}

/** Drops the months before the last `months` whole ones. Counters and first occurrences stay. */
export async function dropOldEvents(db: Db, months: number, now = new Date()): Promise<string[]> {
  const keptSince = monthStart(now, -months)
  const isOld = (name: string) => (monthOf(name) ?? keptSince) < keptSince
  const dropped: string[] = []
  // First, so that at no moment the events are believed to be more complete than they are.
  await setKeptSince(db.statement, keptSince)
  for (const name of (await selectPartitionNames(db)).filter(isOld)) {
    await alone(db, async (tx) => {
      if (!(await selectPartitionNames(tx)).includes(name)) return
      await dropPartition(tx, name, keptSince)
      dropped.push(name)
    })
  }
  for (let more = true; more; ) {
    more = await alone(db, (tx) => deleteStray(tx, keptSince, strayBatch))
  }
  return dropped
}

/** Makes partitions ahead and drops old ones. When it fails nothing is lost: the default partition takes the events. */
export async function keepPartitions({ db, log, retentionMonths }: { db: Db; log: Log; retentionMonths: number }) {
  const made = await ensurePartitions(db)
  const dropped = retentionMonths > 0 ? await dropOldEvents(db, retentionMonths) : []
  if (made.length + dropped.length > 0) log.info({ made, dropped }, 'partitions of events')
}
