import type { Reader } from '../../platform/db/db.ts'
import { within } from '../../platform/runtime/within.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { findKeepsAddresses } from './tracking.sql.ts'

/** A change made by another process takes effect after this time at the latest. */
const knownForMs = 10_000
const organizationsMax = 10_000
const timeoutMs = 100

/**
 * Whether an organization stores the IP addresses of recipients. Assumes that it does not if the lookup takes too long.
 */
export class AddressPolicy {
  readonly #db: Reader
  readonly #known = new Map<OrganizationId, { keeps: boolean; untilMs: number }>()
  readonly #asking = new Map<OrganizationId, Promise<boolean>>()

  constructor(db: Reader) {
    this.#db = db
  }

  /** Returns a promise only if a lookup is needed, since a cached value costs no turn of the event loop. */
  keepsAddresses(organizationId: OrganizationId): boolean | Promise<boolean> {
    const known = this.#known.get(organizationId)
    if (known && known.untilMs > Date.now()) return known.keeps
    return this.#asking.get(organizationId) ?? this.#ask(organizationId)
  }

  /** Drops the cached value and pending lookups after the setting was changed. */
  forget(organizationId: OrganizationId): void {
    this.#known.delete(organizationId)
    this.#asking.delete(organizationId)
  }

  #ask(organizationId: OrganizationId): Promise<boolean> {
    const found = findKeepsAddresses(this.#db, organizationId).catch(() => undefined)
    const asking = within(timeoutMs, found).then((keeps) => {
      if (this.#asking.get(organizationId) !== asking) return false
      this.#asking.delete(organizationId)
      if (keeps === undefined) return false
      if (this.#known.size >= organizationsMax) this.#known.clear()
      this.#known.set(organizationId, { keeps, untilMs: Date.now() + knownForMs })
      return keeps
    })
    this.#asking.set(organizationId, asking)
    return asking
  }
}
