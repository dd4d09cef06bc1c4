import { type Broadcast, recipientStatuses } from './broadcasts.sql.ts'

const finalStatuses = ['sent', 'cancelled', 'expired']

/** Until the ledger of a cancelled broadcast is updated, its pending rows are shown as what they will be. */
export function countsOut({ counts, status }: Broadcast) {
  const byStatus = Object.fromEntries(recipientStatuses.map((each) => [each, counts[each] ?? 0])) as Record<
    (typeof recipientStatuses)[number],
    number
  >
  // Summed up instead of read from the broadcast, so that they add up at any moment.
  const all = { recipients: Object.values(byStatus).reduce((sum, each) => sum + each, 0), ...byStatus }
  return finalStatuses.includes(status) ? { ...all, pending: 0, cancelled: all.cancelled + all.pending } : all
}
