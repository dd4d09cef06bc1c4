import { openRelay, type RelayOptions, type RelayState, type Transport } from '@waxwing/smtp-client'
import type { SecretBox } from '../../platform/secrets/secrets.ts'
import type { Connector } from './connector.ts'
import { openCredentials, unreadableCredentials } from './credentials.ts'
import type { MailServerRow } from './runtime.sql.ts'

/** More than an organization with mail servers may have in flight, so that a pool is never full. */
const inFlightMax = 1_000
const unreadableRetryMs = 60_000

export type OpenParts = { box: SecretBox; connector: Connector }

/** Opens a pool for a mail server. Connects when the first email is sent. */
export function openMailServer(
  { box, connector }: OpenParts,
  row: MailServerRow,
  relay: { connections: number } & Pick<RelayOptions, 'onState' | 'onOutcome'>,
): Transport {
  const credentials = openCredentials(box, row)
  const options = connector.optionsFor(row)
  if (!credentials || !options) return unusable(unreadableCredentials)
  const mailsPerSlot = Math.ceil(inFlightMax / relay.connections)
  return openRelay(credentials.url, { ...options, ...relay, relayLimits: { mailsPerSlot } })
}

/** A transport that is always down. */
function unusable(reason: string): Transport {
  const since = new Date()
  const state = (): RelayState => ({ kind: 'down', since, reason, nextTryAt: new Date(Date.now() + unreadableRetryMs) })
  return {
    send: async () => ({ kind: 'unreachable', reason }),
    resize: async () => {},
    capacity: () => 0,
    waiting: 0,
    state,
    check: async () => state(),
    close: async () => {},
  }
}
