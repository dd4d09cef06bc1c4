import { Gauge, type Registry } from 'prom-client'
import type { Log } from '../log.ts'
import type { RelayState } from './transport.ts'

/** Tells operators how the relay does: in the log whenever that changes, and as a figure. */
export function reportRelay(log: Log, registry: Registry): (state: RelayState) => void {
  const up = new Gauge({
    name: 'waxwing_relay_up',
    help: '1 while the relay takes mail, 0 while it does not.',
    registers: [registry],
  })
  up.set(1)
  return (state) => {
    up.set(state.kind === 'up' ? 1 : 0)
    if (state.kind === 'up') log.info('The relay takes mail again')
    else log.warn({ because: state.because, nextTryAt: state.nextTryAt }, 'The relay takes no mail')
  }
}
