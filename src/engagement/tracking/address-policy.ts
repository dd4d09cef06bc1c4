import type { LRUCache } from 'lru-cache'
import type { Reader } from '../../platform/db/db.ts'
import { createCache, getOrFetch } from '../../platform/runtime/cache.ts'
import { within } from '../../platform/runtime/within.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { findKeepsAddresses } from './tracking.sql.ts'

/** A change made by another process takes effect after this time at the latest. */
const knownForMs = 10_000
const organizationsMax = 10_000
const timeoutMs = 100

/** Whether an organization stores the IP addresses of recipients. */
export class AddressPolicy {
  readonly #known: LRUCache<OrganizationId, boolean>

  constructor(db: Reader) {
    this.#known = createCache(organizationsMax, { ttl: knownForMs, fetchMethod: (id) => findKeepsAddresses(db, id) })
  }

  /** Returns a promise only if a lookup is needed, since a cached value costs no turn of the event loop. */
  keepsAddresses(organizationId: OrganizationId): boolean | Promise<boolean> {
    const found = getOrFetch(this.#known, organizationId)
    if (typeof found === 'boolean') return found
    // False if the lookup fails or takes too long, and if the setting was changed after it began.
    const isFound = () => this.#known.get(organizationId) ?? false
    return within(timeoutMs, found).then(isFound, () => false)
  }

  /** Drops the cached value and a pending lookup after the setting was changed. */
  forget(organizationId: OrganizationId): void {
    this.#known.delete(organizationId)
  }
}
