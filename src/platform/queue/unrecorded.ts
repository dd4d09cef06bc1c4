import { setTimeout as sleep } from 'node:timers/promises'
import { isOutage } from '../db/db.ts'
import { createCache } from '../runtime/cache.ts'
import { dayMs } from '../values/durations.ts'
import type { Claim } from './queue.ts'
import type { Settlement } from './settle-jobs.ts'

const secondTryMs = 1_000
/** More than can be in flight. */
const unrecordedMax = 20_000

/** What a job has done outside could not be recorded, for another reason than an outage of the database. */
export class Unrecorded extends Error {
  constructor(cause: unknown) {
    super('What the job has done could not be recorded', { cause })
  }
}

/**
 * Records what jobs have done outside, such as an email that has left or a request that was answered. What could not be recorded is
 * kept in memory: when its job runs again in this process, only the record is tried again, so that the effect is not repeated.
 */
export class EffectRecords<Effect extends object> {
  readonly #record: (effect: Effect) => Promise<void>
  readonly #unrecorded = createCache<string, Effect>(unrecordedMax, { ttl: dayMs })

  constructor(record: (effect: Effect) => Promise<void>) {
    this.#record = record
  }

  /** Tries it twice. Throws `Unrecorded`, or the error of an outage. */
  add(key: string, effect: Effect): Promise<void> {
    const recorded = this.#record(effect).catch((error) => this.#addAgain(key, effect, error))
    return this.#unrecorded.size === 0 ? recorded : recorded.then(() => void this.#unrecorded.delete(key))
  }

  /** Returns the effect if it took place and could not be recorded. */
  find(key: string): Effect | undefined {
    return this.#unrecorded.size === 0 ? undefined : this.#unrecorded.get(key)
  }

  async #addAgain(key: string, effect: Effect, first: unknown): Promise<void> {
    this.#unrecorded.set(key, effect)
    if (isOutage(first)) throw first
    await sleep(secondTryMs)
    await this.#record(effect).catch((error) => {
      throw isOutage(error) ? error : new Unrecorded(error)
    })
    this.#unrecorded.delete(key)
  }
}

/** Returns the unrecorded effect of this attempt of the job, with the settlement of this claim. */
export function unrecordedOf<Effect extends { settlement: Settlement }>(
  records: EffectRecords<Effect>,
  claim: Claim,
): Effect | undefined {
  const effect = records.find(claim.id)
  if (effect?.settlement.claim.attempt !== claim.attempt) return undefined
  return { ...effect, settlement: { ...effect.settlement, claim } }
}
