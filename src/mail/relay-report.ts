import type { RelayState, SendOutcome, Transport } from '@waxwing/smtp-client'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Log } from '../runtime/log.ts'

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
  new Gauge({
    name: 'waxwing_relay_up',
    help: '1 while the mail server accepts email, 0 while it does not.',
    registers: [registry],
    collect() {
      this.set(relay.state().kind === 'up' ? 1 : 0)
    },
  })
}

/** How the outcomes are named in the metrics. Nothing was attempted while the relay is unreachable. */
const outcomeNames: Record<Exclude<SendOutcome['kind'], 'unreachable'>, string> = {
  accepted: 'sent',
  refused: 'rejected',
  deferred: 'deferred',
  interrupted: 'interrupted',
}

/**
 * Returns a transport that counts the outcomes of the emails passed to it. A count costs an addition; prom-client is used
 * only for a scrape.
 */
export function countOutcomes(relay: Transport, registry: Registry): Transport {
  const counts = { accepted: 0, refused: 0, deferred: 0, interrupted: 0 }
  new Counter({
    name: 'waxwing_emails_total',
    help: `Attempts of this process to pass an email to the mail server, by outcome (${Object.values(outcomeNames).join(', ')}).`,
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset()
      for (const kind of Object.keys(outcomeNames) as (keyof typeof counts)[])
        this.inc({ outcome: outcomeNames[kind] }, counts[kind])
    },
  })
  return {
    send: (mail, options) =>
      relay.send(mail, options).then((outcome) => {
        if (outcome.kind !== 'unreachable') counts[outcome.kind]++
        return outcome
      }),
    holdBulk: (isHeld) => relay.holdBulk(isHeld),
    capacity: (options) => relay.capacity(options),
    state: () => relay.state(),
    check: () => relay.check(),
    close: () => relay.close(),
  }
}
