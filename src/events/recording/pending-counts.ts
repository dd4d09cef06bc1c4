import type { Db, Tx } from '../../platform/db/db.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { CounterChanges, type CountersToWrite, writeCounters } from './counters.ts'
import type { FlowCounterRow } from './flow-counters.sql.ts'
import { type Count, deletePendingCounts, insertPendingCounts, type PendingCounts } from './pending-counts.sql.ts'

/** If a transaction would change fewer rows, adding them later saves nothing. */
const rowsMin = 100
/** A counter is stored for its flow and for all flows, by day and quarter; that of a value by day and quarter. */
const rowsPerCounter = 4
const rowsPerValue = 2
/** Rows of `pending_counts` that are added in one transaction. */
const addedMax = 5_000
/** Long enough to collect the counts of many transactions. */
const addAfterMs = 400

/** Announced by transactions that left pending counts. */
class CountsPending {}

/**
 * Writes counters that are changed by the events of many callers. If there are many, the transaction inserts one row for
 * each organization instead, and `PendingCounter` adds the rows of many transactions at once. A distributed database
 * always changes the counters.
 */
export function writeCountersSoon(tx: Tx, counters: CountersToWrite): void {
  const { flows, organizations, bounced = [] } = counters
  const rows = organizations.quarters.size * rowsPerCounter + flows.length * rowsPerValue
  const isSoon = !tx.isDistributed && rows >= rowsMin
  if (isSoon) {
    insertPendingCounts(tx, pendingCountsOf(counters))
    tx.announce(new CountsPending())
  }
  writeCounters(tx, isSoon ? { flows: [], organizations: new CounterChanges(), bounced } : counters)
}

function pendingCountsOf({ flows, organizations }: CountersToWrite): PendingCounts[] {
  const byOrganization = new Map<OrganizationId, Count[]>()
  const add = (organizationId: OrganizationId, count: Count) => {
    const known = byOrganization.get(organizationId)
    if (known) known.push(count)
    else byOrganization.set(organizationId, [count])
  }
  for (const row of organizations.quarters.values())
    add(row.organizationId, [row.eventName, row.flowId, +row.startsAt, row.total, row.uniques, row.machine])
  for (const { organizationId, eventName, flowId, startsAt, total, uniques, machine, kind, value } of flows)
    add(organizationId, [eventName, flowId, +startsAt, total, uniques, machine, kind, value])
  return [...byOrganization].map(([organizationId, counts]) => ({ organizationId, counts }))
}

/** Returns the sums of pending counts. */
export function countersOf(pending: readonly PendingCounts[]): CountersToWrite {
  const organizations = new CounterChanges()
  const flows: FlowCounterRow[] = []
  for (const { organizationId, counts } of pending)
    for (const [eventName, flowId, startsAtMs, total, uniques, machine, kind, value] of counts) {
      const startsAt = new Date(startsAtMs)
      if (kind === undefined || value === undefined)
        organizations.add({ organizationId, eventName, flowId }, startsAt, { total, uniques, machine })
      else
        flows.push({
          organizationId,
          flowId,
          grain: 'quarter',
          kind,
          startsAt,
          value,
          eventName,
          total,
          uniques,
          machine,
        })
    }
  return { flows, organizations }
}

/** Adds all pending counts to the counters, also those of other processes. A distributed database has none. */
export async function addPendingCounts(db: Db): Promise<void> {
  if (db.isDistributed) return
  const addSome = () =>
    db.begin(async (tx) => {
      const pending = await deletePendingCounts(tx, addedMax)
      if (pending.length > 0) writeCounters(tx, countersOf(pending))
      return pending.length
    })
  while ((await addSome()) === addedMax);
}

/** Adds the pending counts of this process soon after they were left, and those of killed processes when it is run. */
export class PendingCounter {
  readonly #db: Db
  #timer: NodeJS.Timeout | undefined

  constructor(db: Db) {
    this.#db = db
    db.onAnnouncement((announced) => {
      if (announced instanceof CountsPending) this.#timer ??= setTimeout(() => this.#addSoon(), addAfterMs).unref()
    })
  }

  run(): Promise<void> {
    return addPendingCounts(this.#db)
  }

  #addSoon(): void {
    this.#timer = undefined
    // What fails is added by the next run, which reports its failure.
    this.run().catch(() => {})
  }
}
