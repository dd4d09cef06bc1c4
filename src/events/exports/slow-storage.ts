import { hourMs } from '../../platform/values/durations.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'

/** Longer than the pause between two uploads that fail. */
const rememberedMs = 2 * hourMs
const organizationsMax = 1_000

/** Organizations whose storage was slow lately, or did not respond. Those of longest ago are forgotten if there are many. */
export class SlowStorage {
  readonly #slowAt = new Map<OrganizationId, number>()

  add(organizationId: OrganizationId): void {
    this.#slowAt.delete(organizationId)
    this.#slowAt.set(organizationId, performance.now())
    const [oldest] = this.#slowAt.keys()
    if (this.#slowAt.size > organizationsMax) this.#slowAt.delete(oldest!)
  }

  has(organizationId: OrganizationId): boolean {
    const slowAt = this.#slowAt.get(organizationId)
    return slowAt !== undefined && performance.now() - slowAt < rememberedMs
  }
}
