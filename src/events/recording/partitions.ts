import type { Db, Reader, Tx } from '../../platform/db/db.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { leastId } from '../../platform/values/ids.ts'
import {
  createPartition,
  deleteStray,
  dropPartition,
  findKeptSince,
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

/** Runs in one process at a time, without a timeout: a month may have hundreds of millions of events. */
const exclusively = <Result>(db: Db, work: (tx: Tx) => Promise<Result>): Promise<Result> =>
  db.begin(
    async (tx) => {
      await lockPartitions(tx)
      return work(tx)
    },
    { unlimited: true },
  )

/** Creates the partitions of this month and the next ones. Returns their names. Others go to the default one. */
export async function ensurePartitions(db: Db, now = new Date()): Promise<string[]> {
  const months = Array.from({ length: monthsAhead + 1 }, (_, offset) => monthStart(now, offset))
  const existing = await selectPartitionNames(db)
  if (months.every((month) => existing.includes(nameOf(month)))) return []
  return exclusively(db, async (tx) => {
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

/** Drops all months before the last `months` whole ones. Returns their names. Counters and firsts are kept. */
export async function dropOldEvents(db: Db, months: number, now = new Date()): Promise<string[]> {
  const keptSince = monthStart(now, -months)
  const isOld = (name: string) => (monthOf(name) ?? keptSince) < keptSince
  const dropped: string[] = []
  // Comes first, so that events are never considered more complete than they are.
  await setKeptSince(db.statement, keptSince)
  for (const name of (await selectPartitionNames(db)).filter(isOld)) {
    await exclusively(db, async (tx) => {
      if (!(await selectPartitionNames(tx)).includes(name)) return
      await dropPartition(tx, name, keptSince)
      dropped.push(name)
    })
  }
  for (let more = true; more; ) {
    more = await exclusively(db, (tx) => deleteStray(tx, keptSince, strayBatch))
  }
  return dropped
}

/** Whether no event since this time was dropped. */
export async function areEventsKept(db: Reader, since: Date): Promise<boolean> {
  const keptSince = await findKeptSince(db)
  return keptSince === undefined || keptSince <= since
}

/** Creates partitions in advance and drops old ones. If it fails, the default partition receives the events. */
export async function maintainPartitions({ db, log, retentionMonths }: { db: Db; log: Log; retentionMonths: number }) {
  const created = await ensurePartitions(db)
  const dropped = retentionMonths > 0 ? await dropOldEvents(db, retentionMonths) : []
  if (created.length + dropped.length > 0) log.info({ created, dropped }, 'Maintained event partitions')
}
