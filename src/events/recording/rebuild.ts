import type { Db, Tx } from '../../platform/db/db.ts'
import { withDays } from './flow-counters.ts'
import { findKeptSince } from './partitions.sql.ts'
import { selectPendingCounts } from './pending-counts.sql.ts'
import { countersOf } from './pending-counts.ts'
import {
  compare,
  correct,
  type Differences,
  describeDifferences,
  prepareToCompare,
  recount,
  stopRecording,
  subtractFromExpected,
} from './rebuild.sql.ts'
import {
  compareFlows,
  correctFlows,
  describeFlowDifferences,
  recountFlows,
  subtractFromExpectedFlows,
} from './rebuild-flows.sql.ts'

const describedMax = 100
const theBeginning = new Date(0)
const unlimited = { unlimited: true }

export type RebuildReport = Differences & {
  /** The time since which events are complete; null if none were ever dropped. Earlier counters are not compared. */
  since: Date | null
  /** Descriptions of the first differences. */
  differences: string[]
  corrected: boolean
}

/**
 * Recounts all events and compares: there must be no difference. If there is one, recording stops while the count is
 * repeated and the counters are corrected. Without a difference, nothing is blocked.
 */
export async function rebuildCounters(db: Db, { correct: mayCorrect = true } = {}): Promise<RebuildReport> {
  const report = await db.begin(async (tx) => {
    await prepareToCompare(tx, 'repeatable read')
    return compareAll(tx)
  }, unlimited)
  if (!mayCorrect || report.countersDifferent + report.firstsDifferent === 0) return report
  return db.begin(async (tx) => {
    await prepareToCompare(tx, 'read committed')
    await stopRecording(tx)
    const again = await compareAll(tx)
    await correct(tx)
    await correctFlows(tx)
    return { ...again, corrected: true }
  }, unlimited)
}

async function compareAll(tx: Tx): Promise<RebuildReport> {
  const since = await findKeptSince(tx)
  await recount(tx, since ?? theBeginning)
  await recountFlows(tx, since ?? theBeginning)
  const pending = countersOf(await selectPendingCounts(tx))
  await subtractFromExpected(tx, pending.organizations.rows())
  await subtractFromExpectedFlows(tx, withDays(pending.flows))
  const counted = await compare(tx, since ?? theBeginning)
  const flows = await compareFlows(tx, since ?? theBeginning)
  const differences = await describeDifferences(tx, describedMax)
  differences.push(...(await describeFlowDifferences(tx, describedMax - differences.length)))
  return {
    ...counted,
    counters: counted.counters + flows.counters,
    countersDifferent: counted.countersDifferent + flows.different,
    since: since ?? null,
    differences,
    corrected: false,
  }
}
