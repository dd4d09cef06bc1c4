import type { Registry } from 'prom-client'
import type { Reader } from '../../platform/db/db.ts'
import { measure } from '../../platform/runtime/measure.ts'
import { getFeedState } from '../recording/feed-positions.ts'

/** Scrapes whose position is remembered while the feed is delayed. */
const samplesMax = 1_000

type Sample = { next: bigint; at: number }

/**
 * Registers a gauge: for how long events have not appeared in the feed because a transaction that began earlier is still
 * running, in any database of the server. Measured between scrapes.
 */
export function measureFeedDelay(registry: Registry, db: Reader): void {
  let samples: Sample[] = []
  const help = 'How long a transaction that is still running has kept newer events out of the event feed.'
  measure(registry, 'waxwing_event_feed_delay_seconds', help, async () => {
    const state = await getFeedState(db)
    const horizon = BigInt(state.horizon)
    const now = performance.now()
    samples = samples.filter(({ next }) => next > horizon)
    const delayMs = samples[0] ? now - samples[0].at : 0
    const next = BigInt(state.next)
    if (next > horizon && samples.length < samplesMax) samples.push({ next, at: now })
    return delayMs / 1_000
  })
}
