import { Counter, Histogram, type Registry } from 'prom-client'
import type { Db } from '../../platform/db/db.ts'
import type { PostOutcome } from '../../platform/egress/post-outcome.ts'
import { measureBacklog } from '../../platform/queue/backlog-metrics.ts'
import { measure } from '../../platform/runtime/measure.ts'

export type DeliveryMetrics = { attempted(outcome: PostOutcome): void; watchInFlight(count: () => number): void }

/** Registers the metrics of webhook deliveries. */
export function deliveryMetrics(registry: Registry, db: Db): DeliveryMetrics {
  const attempts = new Counter({
    name: 'waxwing_webhook_attempts_total',
    help: 'Webhook attempts by outcome.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'waxwing_webhook_attempt_seconds',
    help: 'Duration of webhook attempts.',
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  let inFlight = () => 0
  measure(registry, 'waxwing_webhook_in_flight', 'Webhook requests in flight in this process.', () => inFlight())
  measureBacklog(registry, db, 'webhook.deliver', {
    queued: 'waxwing_webhook_queued',
    lag: 'waxwing_webhook_lag_seconds',
    title: 'Webhook deliveries',
  })
  return {
    attempted: (outcome) => {
      attempts.inc({ outcome: outcome.kind })
      durations.observe(outcome.durationMs / 1000)
    },
    watchInFlight: (count) => {
      inFlight = count
    },
  }
}
