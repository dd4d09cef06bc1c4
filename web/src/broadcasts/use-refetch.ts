import { useEffect, useRef } from 'react'
import { keys, useInvalidate } from '../api/keys.ts'
import type { BroadcastDetail } from '../api/types.ts'
import { isActive } from './pace.ts'

/**
 * Fetches the links, the hours and the recipients again when the totals of the broadcast have changed, so that all figures of its
 * page agree. Those of a large broadcast change when they are counted, at most every five seconds.
 */
export function useRefetch(broadcast: BroadcastDetail): void {
  const { id, results, results_counted_at: countedAt, counts } = broadcast
  const active = isActive(broadcast)
  // While it is active, the recipients change all the time, and their list is live.
  const totals = JSON.stringify([results, countedAt === null, active, active ? [] : counts])
  const fetched = useRef(totals)
  const invalidate = useInvalidate()
  useEffect(() => {
    if (fetched.current === totals) return
    fetched.current = totals
    void invalidate(
      keys.broadcastLinks(id),
      keys.broadcastHours(id),
      ...(active ? [] : [keys.broadcastRecipientLists(id)]),
    )
  }, [totals, active, id, invalidate])
}
