import type { OrganizationId } from '../../platform/values/ids.ts'

/** Limits how many emails of broadcasts are in flight. Free slots go to the waiting organizations in turn. */
export class Slots {
  #free: number
  /** One entry per waiting part, by organization. The organization that has waited longest comes first. */
  readonly #waiting = new Map<OrganizationId, (() => void)[]>()

  constructor(count: number) {
    this.#free = count
  }

  take(organizationId: OrganizationId): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free--
      return undefined
    }
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(organizationId)
      if (waiting) waiting.push(resolve)
      else this.#waiting.set(organizationId, [resolve])
    })
  }

  free(): void {
    const [first] = this.#waiting
    if (!first) {
      this.#free++
      return
    }
    const [organizationId, waiting] = first
    const next = waiting.shift()!
    // Moves to the end of the queue.
    this.#waiting.delete(organizationId)
    if (waiting.length > 0) this.#waiting.set(organizationId, waiting)
    next()
  }
}
