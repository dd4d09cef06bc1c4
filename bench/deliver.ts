import { bareLoop, endpoints, startDeliverer } from './support/deliveries.ts'
import { startPeer } from './support/peer.ts'
import { byRatio, type Result } from './support/result.ts'
import { interleave } from './support/rounds.ts'

const perRound = 16_000

/** Events to signed https webhooks: claimed, posted, attempt recorded. */
export async function deliver(): Promise<Result> {
  const receiver = await startPeer('receiver', endpoints)
  const { service, deliver } = await startDeliverer(receiver)
  const post = bareLoop(receiver)
  const comparison = await interleave(
    () => deliver(perRound),
    () => post(perRound),
  )
  const [row] = await service.db<{ p50: number; p99: number }>`
    select percentile_cont(0.5) within group (order by duration_ms) as p50,
      percentile_cont(0.99) within group (order by duration_ms) as p99
    from delivery_attempts`
  const result = byRatio(comparison, { unit: 'deliveries', atLeast: 0.25, aim: 0.5, service })
  return { ...result, p50Ms: row!.p50, p99Ms: row!.p99, notes: ['p50 and p99 are of the posts'] }
}
