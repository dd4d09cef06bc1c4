import type { RelayState, Transport } from '@waxwing/smtp-client'
import { Gauge, type Registry } from 'prom-client'
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
