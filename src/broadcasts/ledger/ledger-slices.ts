import type { BoundedWork } from '../../platform/db/bounded-work.ts'
import type { Tx } from '../../platform/db/db.ts'
import { firstContactId, type IdRange } from '../../platform/db/id-range.ts'
import { runSlices, type SlicesEnd } from '../../platform/db/slices.ts'
import type { ContactId } from '../../platform/values/ids.ts'
import { sliceAfter } from '../audience/audience.sql.ts'
import type { Broadcast } from '../broadcasts.sql.ts'
import { countLedger, findLedgerSliceEnd, type LedgerCounts } from './ledger.sql.ts'

export type LedgerParts = { work: BoundedWork; isStopping: () => boolean }
type Key = Pick<Broadcast, 'organizationId' | 'id'>

type Change = (tx: Tx, range: IdRange) => Promise<unknown>

/**
 * Runs `change` for the whole ledger, one range after another. Returns false if the process is stopping: the change must be
 * one that can be repeated.
 */
export async function forLedger(parts: LedgerParts, key: Key, change: Change): Promise<boolean> {
  const end = await sliceLedger(parts, key, change)
  if (end === 'too_expensive') throw new Error('Small slices of a ledger take too long.')
  return end === 'complete'
}

/** Like `forLedger`, for a caller that does without the rest if it is too expensive. */
export function sliceLedger({ work, isStopping }: LedgerParts, key: Key, change: Change): Promise<SlicesEnd> {
  const run = (after: ContactId, size: number) =>
    work(key.organizationId, async (tx) => {
      const end = await findLedgerSliceEnd(tx, key, after, size)
      await change(tx, sliceAfter(after, end))
      return end
    })
  return runSlices({ from: firstContactId, run, isOver: isStopping })
}

/** Counts the ledger by status. Returns undefined if the process is stopping. */
export async function countWholeLedger(parts: LedgerParts, key: Key): Promise<LedgerCounts | undefined> {
  const total: LedgerCounts = {}
  const isCounted = await forLedger(parts, key, async (tx, range) => {
    const counts = await countLedger(tx, key, range)
    for (const [status, count] of Object.entries(counts) as [keyof LedgerCounts, number][])
      total[status] = (total[status] ?? 0) + count
  })
  return isCounted ? total : undefined
}
