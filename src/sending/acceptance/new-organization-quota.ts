import type { Db } from '../../platform/db/db.ts'
import { dayMs, newForDays } from '../../platform/values/durations.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { type OrganizationId, timeOfId } from '../../platform/values/ids.ts'
import { findNewOrganizations } from './new-organization-quota.sql.ts'

const knownMax = 10_000

/** The remaining quota of the organizations of one batch. */
export type Allowance = {
  /** Throws `Refusal` if this many messages would exceed the daily limit of the organization. */
  check(organizationId: OrganizationId, messages: number): void
  /** Must have been checked. */
  use(organizationId: OrganizationId, messages: number): void
  /** Must be called once the batch is committed or has failed. */
  release(): void
}

/**
 * Limits how many messages an organization that registered itself may send in 24 hours while it is new. One query per batch,
 * and none for organizations that are known to have no limit.
 *
 * The count is exact within a process. Each further process can exceed it by what it accepts in the same moment.
 */
export class NewOrganizationQuota {
  readonly #db: Db
  readonly #dailyMax: number
  /** An organization never becomes new again. */
  readonly #unlimited = new Set<OrganizationId>()
  /** Messages of batches that may not be committed yet. */
  readonly #inFlight = new Map<OrganizationId, number>()

  constructor(db: Db, dailyMax: number) {
    this.#db = db
    this.#dailyMax = dailyMax
  }

  async allowanceFor(organizationIds: Iterable<OrganizationId>, now = Date.now()): Promise<Allowance> {
    const unknown = [...new Set(organizationIds)].filter((id) => !this.#unlimited.has(id))
    if (unknown.length === 0) return noLimits
    // Read before the count: a batch that commits in between is counted twice rather than not at all.
    const inFlight = new Map(this.#inFlight)
    const found = await findNewOrganizations(this.#db, unknown, {
      newForDays,
      since: new Date(now - dayMs),
      countMax: this.#dailyMax,
    })
    const left = new Map(found.map(({ id, used }) => [id, this.#dailyMax - used - (inFlight.get(id) ?? 0)]))
    // When the first message no longer counts.
    const opensAt = new Map(found.map(({ id, oldest }) => [id, (oldest ? timeOfId(oldest) : now) + dayMs]))
    for (const id of unknown) if (!left.has(id)) this.#keepUnlimited(id)
    return this.#allowance(left, opensAt, now)
  }

  #allowance(left: Map<OrganizationId, number>, opensAt: ReadonlyMap<OrganizationId, number>, now: number): Allowance {
    const used = new Map<OrganizationId, number>()
    return {
      check: (id, messages) => {
        const count = left.get(id)
        if (count !== undefined && messages > Math.max(count, 0)) throw this.#usedUp(opensAt.get(id)!, now)
      },
      use: (id, messages) => {
        const count = left.get(id)
        if (count === undefined) return
        left.set(id, count - messages)
        used.set(id, (used.get(id) ?? 0) + messages)
        this.#inFlight.set(id, (this.#inFlight.get(id) ?? 0) + messages)
      },
      release: () => {
        for (const [id, count] of used) {
          const rest = (this.#inFlight.get(id) ?? 0) - count
          if (rest > 0) this.#inFlight.set(id, rest)
          else this.#inFlight.delete(id)
        }
        used.clear()
      },
    }
  }

  #keepUnlimited(id: OrganizationId): void {
    if (this.#unlimited.size >= knownMax) this.#unlimited.clear()
    this.#unlimited.add(id)
  }

  #usedUp(opensAt: number, now: number): Refusal {
    const time = new Date(opensAt).toISOString().slice(0, 16).replace('T', ' ')
    const limit = this.#dailyMax.toLocaleString('en')
    return new Refusal(
      'rate_limited',
      `A new organization can send ${limit} messages within 24 hours during its first ${newForDays} days. Try again at ${time} UTC, or ask the operator of this service to raise the limit.`,
      { retryAfterSeconds: Math.max(1, Math.ceil((opensAt - now) / 1000)) },
    )
  }
}

const noLimits: Allowance = { check: () => {}, use: () => {}, release: () => {} }
