import { createCache } from '../runtime/cache.ts'
import type { FailureLog } from '../runtime/failure-log.ts'
import type { Log } from '../runtime/log.ts'
import { Loop } from '../runtime/loop.ts'
import type { OrganizationId } from '../values/ids.ts'
import type { Db } from './db.ts'
import { findReplayed, findWritten } from './replica-check.ts'

const checkEveryMsMax = 1_000
const checksPerLimit = 4
/** Organizations whose last write is remembered. */
const writersMax = 100_000

/** A position in the WAL of the primary, and a time before which everything up to it was written. */
type Sample = { position: number; at: number }

export type ReplicaOptions = {
  primary: Db
  replica: Db
  /** Older data is not returned. */
  lagMaxMs: number
  log: Log
  failures: FailureLog
}

/**
 * A streaming replica for reads that may be a few seconds old. It is used while it is at most `lagMaxMs` behind the
 * primary, and for an organization only if it has everything that the organization wrote through this process. Both are
 * measured by WAL positions, so neither the clocks of the servers nor an idle primary matter.
 */
export class Replica {
  readonly #options: ReplicaOptions
  readonly #loop: Loop
  #samples: Sample[] = []
  /** The replica has everything that was written before this time. */
  #currentAt = Number.NEGATIVE_INFINITY
  #wasUsable = true
  readonly #writes = createCache<OrganizationId, number>(writersMax)

  constructor(options: ReplicaOptions) {
    this.#options = options
    const { lagMaxMs, failures } = options
    const everyMs = Math.min(checkEveryMsMax, lagMaxMs / checksPerLimit)
    this.#loop = new Loop({ name: 'compare the replica', everyMs, run: () => this.#check(), failures })
  }

  start(): void {
    this.#loop.start()
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
  }

  /** How old the data of the replica may be. Infinite before the first comparison. */
  get lagMs(): number {
    return performance.now() - this.#currentAt
  }

  /** Must be called after the commit and before the response. */
  noteWrite(organizationId: OrganizationId): void {
    this.#writes.set(organizationId, performance.now())
  }

  /** Returns undefined if the organization has to read from the primary. */
  find(organizationId: OrganizationId): Db | undefined {
    if (this.lagMs > this.#options.lagMaxMs) return undefined
    const writtenAt = this.#writes.get(organizationId)
    return writtenAt === undefined || writtenAt < this.#currentAt ? this.#options.replica : undefined
  }

  async #check(): Promise<void> {
    const { primary, replica, lagMaxMs, log } = this.#options
    try {
      const at = performance.now()
      this.#samples.push({ position: await findWritten(primary), at })
      const replayed = await findReplayed(replica)
      // A replica that was promoted no longer follows the primary.
      const position = replayed.isReplica ? (replayed.position ?? 0) : 0
      const reached = this.#samples.filter((sample) => sample.position <= position).at(-1)
      if (reached) this.#currentAt = reached.at
    } catch (error) {
      log.debug({ reason: (error as Error).message }, 'The replica could not be compared with the primary')
    }
    const oldest = performance.now() - lagMaxMs
    this.#samples = this.#samples.filter(({ at }) => at >= oldest)
    this.#report()
  }

  #report(): void {
    const isUsable = this.lagMs <= this.#options.lagMaxMs
    if (isUsable === this.#wasUsable) return
    this.#wasUsable = isUsable
    if (isUsable) this.#options.log.info('The replica is used again')
    else this.#options.log.warn('The replica is too far behind or unavailable; reading from the primary')
  }
}
