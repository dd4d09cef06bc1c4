import type { Broadcast, BroadcastDetail } from '../api/types.ts'

const liveRefetchMs = 1_500
export const idleRefetchMs = 15_000
const soonMax = 40

/** Whether the broadcast changes without the user. */
export const isActive = ({ status }: Pick<Broadcast, 'status'>) =>
  status === 'scheduled' || status === 'preparing' || status === 'sending'

export const isOver = ({ status }: Pick<Broadcast, 'status'>) =>
  status === 'sent' || status === 'cancelled' || status === 'expired'

/**
 * How often a broadcast is fetched: soon while it is active, or while outdated results are being counted. If they still are after
 * a minute, counting takes long or fails.
 */
export const refetchMsOf = (
  broadcast: Pick<BroadcastDetail, 'status' | 'results_outdated'> | undefined,
  fetches: number,
): number =>
  broadcast && (isActive(broadcast) || (broadcast.results_outdated && fetches < soonMax))
    ? liveRefetchMs
    : idleRefetchMs
