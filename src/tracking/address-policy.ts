import type { Reader } from '../db/db.ts'
import { within } from '../runtime/within.ts'
import type { OrganizationId } from '../values/ids.ts'
import { findKeepsAddresses } from './tracking.sql.ts'

/** A change that another process made counts after this time at the latest. */
const knownForMs = 10_000
const organizationsMax = 10_000
const patienceMs = 100

/** Whether an organization keeps the addresses of its readers. Where it cannot be told in time, it does not. */
export class AddressPolicy {
  readonly #db: Reader
  readonly #known = new Map<OrganizationId, { keeps: boolean; untilMs: number }>()
  readonly #asking = new Map<OrganizationId, Promise<boolean>>()

  constructor(db: Reader) {
    this.#db = db
  }

  /** A promise only when it has to be: what is known costs no turn of the event loop. */
  keepsAddresses(organizationId: OrganizationId): boolean | Promise<boolean> {
    const known = this.#known.get(organizationId)
    if (known && known.untilMs > Date.now()) return known.keeps
    return this.#asking.get(organizationId) ?? this.#ask(organizationId)
  }

  /** The setting was changed: what is known, or is being asked for, may be from before. */
  forget(organizationId: OrganizationId): void {
    this.#known.delete(organizationId)
    this.#asking.delete(organizationId)
  }

  #ask(organizationId: OrganizationId): Promise<boolean> {
    const found = findKeepsAddresses(this.#db, organizationId).catch(() => undefined)
    const asking = within(patienceMs, found).then((keeps) => {
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
