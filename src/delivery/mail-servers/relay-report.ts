import type { RelayState, SendOutcome, Transport } from '@waxwing/smtp-client'
import { Counter, type Registry } from 'prom-client'
import type { Log } from '../../platform/runtime/log.ts'
import { measure } from '../../platform/runtime/measure.ts'

/** While the relay is down, each attempt to connect is reported; one line is logged in this time. */
const downLoggedEveryMs = 60_000

/** Returns a function that logs the beginning and the end of an outage of the relay, and one line per minute of it. */
export function reportRelay(log: Log): (state: RelayState) => void {
  let downLoggedAt = Number.NEGATIVE_INFINITY
  return (state) => {
    if (state.kind === 'up') {
      downLoggedAt = Number.NEGATIVE_INFINITY
      log.info('Relay is accepting email again')
    } else if (performance.now() - downLoggedAt >= downLoggedEveryMs) {
      downLoggedAt = performance.now()
      const { reason, since, nextTryAt } = state
      log.warn({ reason, since, nextTryAt }, 'Relay is not accepting email')
    }
  }
}

/** For processes that send email. Others never use the relay and would always report it as up. */
export function measureRelay(relay: Transport, registry: Registry): void {
  const help = '1 while the mail server accepts email, 0 while it does not.'
  measure(registry, 'waxwing_relay_up', help, () => (relay.state().kind === 'up' ? 1 : 0))
}

/** How the outcomes are named in the metrics. Those without a name are not attempts. */
const outcomeNames: Partial<Record<SendOutcome['kind'], string>> = {
  accepted: 'sent',
  refused: 'rejected',
  deferred: 'deferred',
  interrupted: 'interrupted',
}

/** Returns a function that counts the outcomes of the emails of this process. */
export function countOutcomes(registry: Registry): (outcome: SendOutcome) => void {
  const names = Object.values(outcomeNames)
  const counter = new Counter({
    name: 'waxwing_emails_total',
    help: `Attempts of this process to pass an email to the mail server, by outcome (${names.join(', ')}).`,
    labelNames: ['outcome'],
    registers: [registry],
  })
  const counts = new Map(names.map((outcome) => [outcome, counter.labels({ outcome })]))
  for (const count of counts.values()) count.inc(0)
  return ({ kind }) => counts.get(outcomeNames[kind] ?? '')?.inc()
}
