import type { Db } from '../db/db.ts'
import type { OrganizationId } from '../ids.ts'
import { within } from '../within.ts'
import { findKeepsAddresses } from './tracking.sql.ts'

/** A change of the setting counts after this time at the latest. */
const knownForMs = 10_000
const organizationsMax = 10_000
const patienceMs = 100

/** Whether an organization keeps the addresses of its readers. Where it cannot be told in time, it does not. */
export class AddressPolicy {
  readonly #db: Db
  readonly #known = new Map<OrganizationId, { keeps: boolean; untilMs: number }>()
  readonly #asking = new Map<OrganizationId, Promise<boolean>>()

  constructor(db: Db) {
    this.#db = db
  }

  /** A promise only when it has to be: what is known costs no turn of the event loop. */
  keepsAddresses(organizationId: OrganizationId): boolean | Promise<boolean> {
    const known = this.#known.get(organizationId)
    if (known && known.untilMs > Date.now()) return known.keeps
    let asking = this.#asking.get(organizationId)
    if (!asking) {
      asking = this.#ask(organizationId).finally(() => this.#asking.delete(organizationId))
      this.#asking.set(organizationId, asking)
    }
    return asking
  }

  async #ask(organizationId: OrganizationId): Promise<boolean> {
    const found = findKeepsAddresses(this.#db, organizationId).catch(() => undefined)
    const keeps = await within(patienceMs, found)
    if (keeps === undefined) return false
    if (this.#known.size >= organizationsMax) this.#known.clear()
    this.#known.set(organizationId, { keeps, untilMs: Date.now() + knownForMs })
    return keeps
  }
}
