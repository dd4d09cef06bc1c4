import type { Delivery } from '../delivery/delivery.ts'
import { sendingProcessesOf } from '../platform/config/sending-processes.ts'
import type { Platform } from '../platform/platform.ts'
import { SendingProcesses } from '../platform/processes/sending-processes.ts'
import { broadcastKind, stepKind } from './ledger/lanes.ts'

/** Returns undefined if the service sends broadcasts itself. */
export function createSendingProcesses(
  platform: Platform,
  { relay, servers }: Delivery,
  isPaused: () => boolean,
): SendingProcesses | undefined {
  const { config, secrets, db, databaseAddress: database, baseUrl, hints, metrics, log } = platform
  const count = sendingProcessesOf(config)
  if (!database || !relay || count === 0) return undefined
  return new SendingProcesses({
    count,
    kinds: [stepKind, broadcastKind],
    start: { config, secrets, database },
    isDistributed: () => db.isDistributed,
    isPaused,
    baseUrl,
    hints,
    relay,
    servers,
    metrics,
    log,
  })
}
