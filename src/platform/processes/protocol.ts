import type { Config } from '../config/config.ts'
import type { ConnectionPart } from '../config/sending-processes.ts'
import type { DbOptions } from '../db/db.ts'
import type { Hint } from '../queue/hints.ts'
import type { AppSecrets } from '../secrets/secrets.ts'

/** The settings of the service. They are passed on instead of read again, because files may have changed since. */
export type SendingStart = {
  config: Config
  secrets: AppSecrets
  database: Pick<DbOptions, 'connection' | 'direct'>
  isDistributed: boolean
  isPaused: boolean
  /** The start of links. */
  baseUrl: string
  connectionPart: ConnectionPart
}

/** From the service to a sending process. `start` is the first. */
export type ToSendingProcess =
  | ({ kind: 'start' } & SendingStart)
  | { kind: 'hint'; hint: Hint }
  | { kind: 'paused'; isPaused: boolean }
  | { kind: 'baseUrl'; baseUrl: string }
  | { kind: 'connections'; ownShare: number }
  | { kind: 'stop' }

export type Count = { name: string; labels: Record<string, string | number>; by: number }

/** From a sending process to the service. `counted`: since the last one. */
export type FromSendingProcess =
  | { kind: 'counted'; counts: Count[]; memoryBytes: number }
  | { kind: 'relayDown' }
  /** It has closed the connections that it may not use any more. */
  | { kind: 'connectionsUsed'; ownShare: number }
