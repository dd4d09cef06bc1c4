import type { Delivery } from '../delivery/delivery.ts'
import { sendingSharesOf } from '../platform/config/sending-processes.ts'
import type { Platform } from '../platform/platform.ts'
import { SendingProcesses } from '../platform/processes/sending-processes.ts'
import { broadcastKind, stepKind } from './ledger/lanes.ts'

/** The processes of the service share the connections to mail servers of organizations. */
export const connectionShareOf = ({ config, databaseAddress }: Pick<Platform, 'config' | 'databaseAddress'>): number =>
  databaseAddress ? 1 / (1 + sendingSharesOf(config).processes) : 1

/** Returns undefined if the service sends broadcasts itself. */
export function createSendingProcesses(
  platform: Platform,
  { relay, servers }: Delivery,
  isPaused: () => boolean,
): SendingProcesses | undefined {
  const { config, secrets, db, databaseAddress: database, baseUrl, hints, metrics, log } = platform
  const shares = sendingSharesOf(config)
  if (!database || !relay || shares.processes === 0) return undefined
  return new SendingProcesses({
    shares,
    kinds: [stepKind, broadcastKind],
    start: { config, secrets, database, connectionShare: connectionShareOf(platform) },
    isDistributed: () => db.isDistributed,
    isPaused,
    baseUrl,
    hints,
    relay,
    isOpen: () => servers.isOpen(),
    metrics,
    log,
  })
}
