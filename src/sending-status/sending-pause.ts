import type { Db, Reader, Writer } from '../db/db.ts'
import {
  deleteSendingPause,
  findSendingPause,
  type Pause,
  type PauseReason,
  upsertSendingPause,
} from './sending-pause.sql.ts'

export type { Pause } from './sending-pause.sql.ts'

/**
 * Stops emails and webhooks of all processes until `resumeSending`. They are accepted and queued as usual. Other
 * processes notice within two seconds.
 */
export const pauseSending = (db: Writer, reason: PauseReason): Promise<void> => upsertSendingPause(db, reason)

export const resumeSending = (db: Writer): Promise<void> => deleteSendingPause(db)

export const findPause = (db: Reader): Promise<Pause | undefined> => findSendingPause(db)

/** What this process knows about the pause. Workers ask it before each job. */
export class SendingPause {
  readonly #db: Db
  #current: Pause | undefined

  constructor(db: Db) {
    this.#db = db
  }

  get isPaused(): boolean {
    return this.#current !== undefined
  }

  /** Must be called before the first worker starts, and regularly afterwards. */
  async refresh(): Promise<void> {
    this.#current = await findSendingPause(this.#db)
  }
}
