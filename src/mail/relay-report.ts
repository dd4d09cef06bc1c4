import type { RelayState, Transport } from '@waxwing/smtp-client'
import { Gauge, type Registry } from 'prom-client'
import type { Log } from '../runtime/log.ts'

/** Tells operators how the relay does, whenever that changes. */
export const reportRelay =
  (log: Log) =>
  (state: RelayState): void => {
    if (state.kind === 'up') log.info('The relay takes mail again')
    else log.warn({ because: state.because, nextTryAt: state.nextTryAt }, 'The relay takes no mail')
  }

/** Only for a process that sends: another would say that all is well, having never asked. */
export function measureRelay(relay: Transport, registry: Registry): void {
  new Gauge({
    name: 'waxwing_relay_up',
    help: '1 while the relay takes mail, 0 while it does not.',
    registers: [registry],
    collect() {
      this.set(relay.state().kind === 'up' ? 1 : 0)
    },
  })
}
