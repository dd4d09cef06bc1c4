import { Gauge, type Registry } from 'prom-client'
import type { Db, Reader, Writer } from '../db/db.ts'
import {
  deleteSendingPause,
  findSendingPause,
  type Pause,
  type PauseReason,
  upsertSendingPause,
} from './sending-pause.sql.ts'

/**
 * Stops emails and webhooks of all processes until `resumeSending`. They are accepted and queued as usual. Other
 * processes notice within two seconds.
 */
export const pauseSending = (db: Writer, reason: PauseReason): Promise<void> => upsertSendingPause(db, reason)

export const resumeSending = (db: Writer): Promise<void> => deleteSendingPause(db)

export const findPause = (db: Reader): Promise<Pause | undefined> => findSendingPause(db)

export const describePause = ({ reason, since }: Pause): string =>
  `Sending is paused since ${since.toISOString()} (${reason === 'restored' ? 'a backup was restored' : '`waxwing pause-sending`'}). Run \`waxwing resume-sending\`.`

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

  /** Asks the database. */
  find(): Promise<Pause | undefined> {
    return findSendingPause(this.#db)
  }

  /** Must be called before the first worker starts, and regularly afterwards. */
  async refresh(): Promise<void> {
    this.#current = await this.find()
  }
}

/** For processes that send: others do not look for a pause. */
export function measurePause(pause: SendingPause, registry: Registry): void {
  new Gauge({
    name: 'waxwing_sending_paused',
    help: '1 while sending is paused by `waxwing pause-sending` or a restored backup, otherwise 0.',
    registers: [registry],
    collect() {
      this.set(pause.isPaused ? 1 : 0)
    },
  })
}
