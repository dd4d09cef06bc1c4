import type { OrganizationId } from '../values/ids.ts'
import type { WorkerSpec } from './worker-spec.ts'

/** Counts the jobs of a worker that are in flight: running, or waiting for their commit. */
export class Places {
  readonly #max: number
  readonly #perOrganizationMax: ((organizationId: OrganizationId) => number) | undefined
  readonly #usedBy = new Map<OrganizationId, number>()
  #used = 0

  constructor({ inFlightMax, perOrganizationMax }: Pick<WorkerSpec<unknown>, 'inFlightMax' | 'perOrganizationMax'>) {
    this.#max = inFlightMax
    this.#perOrganizationMax = perOrganizationMax
  }

  get used(): number {
    return this.#used
  }

  get free(): number {
    return this.#max - this.#used
  }

  hasOneFor(organizationId: OrganizationId): boolean {
    const used = this.#usedBy.get(organizationId) ?? 0
    return used === 0 || this.#perOrganizationMax === undefined || used < this.#perOrganizationMax(organizationId)
  }

  take(organizationId: OrganizationId): void {
    this.#count(organizationId, 1)
  }

  giveBack(organizationId: OrganizationId): void {
    this.#count(organizationId, -1)
  }

  #count(organizationId: OrganizationId, by: 1 | -1): void {
    this.#used += by
    if (this.#perOrganizationMax === undefined) return
    const count = (this.#usedBy.get(organizationId) ?? 0) + by
    if (count === 0) this.#usedBy.delete(organizationId)
    else this.#usedBy.set(organizationId, count)
  }
}
