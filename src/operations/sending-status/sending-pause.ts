import type { Registry } from 'prom-client'
import type { Db } from '../../platform/db/db.ts'
import { measure } from '../../platform/runtime/measure.ts'
import { findPause, type Pause } from './sending-pause.sql.ts'

export { findPause, pauseSending, resumeSending } from './sending-pause.sql.ts'

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
    return findPause(this.#db)
  }

  /** Must be called before the first worker starts, and regularly afterwards. */
  async refresh(): Promise<void> {
    this.#current = await this.find()
  }
}

/** For processes that send: others do not look for a pause. */
export function measurePause(pause: SendingPause, registry: Registry): void {
  const help = '1 while sending is paused by `waxwing pause-sending` or a restored backup, otherwise 0.'
  measure(registry, 'waxwing_sending_paused', help, () => (pause.isPaused ? 1 : 0))
}
