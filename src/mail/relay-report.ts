import type { RelayState, SendOutcome, Transport } from '@waxwing/smtp-client'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Log } from '../runtime/log.ts'

/** Logs each change of the relay's state. */
export const reportRelay =
  (log: Log) =>
  (state: RelayState): void => {
    if (state.kind === 'up') log.info('Relay is accepting email again')
    else log.warn({ reason: state.reason, nextTryAt: state.nextTryAt }, 'Relay is not accepting email')
  }

/** For processes that send email. Others never use the relay and would always report it as up. */
export function measureRelay(relay: Transport, registry: Registry): void {
  new Gauge({
    name: 'waxwing_relay_up',
    help: '1 while the relay accepts email, 0 while it does not.',
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

/** Returns a transport that counts the outcomes of the emails passed to it. */
export function countOutcomes(relay: Transport, registry: Registry): Transport {
  const attempts = new Counter({
    name: 'waxwing_emails_total',
    help: `Attempts of this process to pass an email to the relay, by outcome (${Object.values(outcomeNames).join(', ')}).`,
    labelNames: ['outcome'],
    registers: [registry],
  })
  for (const outcome of Object.values(outcomeNames)) attempts.inc({ outcome }, 0)
  return {
    send: async (mail, options) => {
      const outcome = await relay.send(mail, options)
      if (outcome.kind !== 'unreachable') attempts.inc({ outcome: outcomeNames[outcome.kind] })
      return outcome
    },
    capacity: (options) => relay.capacity(options),
    state: () => relay.state(),
    check: () => relay.check(),
    close: () => relay.close(),
  }
}
