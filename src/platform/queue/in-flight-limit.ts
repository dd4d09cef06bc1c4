import type { OrganizationId } from '../values/ids.ts'
import type { WorkerSpec } from './worker-spec.ts'

/** A job whose peer has not answered for this long does not use a place any more. */
const silentMs = 15_000
/** Organizations with slow peers and more than a few jobs in flight leave a part of their places to the others. */
const fewJobs = 2
const sharedPart = 0.8

type Limits = Pick<WorkerSpec<unknown>, 'inFlightMax' | 'perOrganizationMax' | 'slowPeers'>
/** `silent`: jobs that use no place although they are in flight. */
type Share = { used: number; silent: number }

/** A job in flight of an organization whose peers may be slow. */
export type SlowPlace = { share: Share; startedAt: number; isSilent: boolean }

/**
 * Counts the jobs of a worker that are in flight: running, or waiting for their commit. Organizations whose peers may be slow
 * (`slowPeers`) use a part of the places together, and those of their jobs that wait long for an answer use none, so that others
 * do not wait for peers that are not theirs. How many jobs one organization has in flight is limited in any case.
 */
export class InFlightLimit {
  readonly #limits: Limits
  readonly #shares = new Map<OrganizationId, Share>()
  /** In the order in which they started. */
  readonly #slow = new Set<SlowPlace>()
  #used = 0
  #usedBySlow = 0
  #silent = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** Jobs in flight, including those that use no place. */
  get inFlight(): number {
    return this.#used + this.#silent
  }

  get free(): number {
    return this.#limits.inFlightMax - this.#used
  }

  hasCapacityFor(organizationId: OrganizationId): boolean {
    const { perOrganizationMax, slowPeers } = this.#limits
    const { used, silent } = this.#shares.get(organizationId) ?? none
    if (used + silent > 0 && perOrganizationMax) {
      const max = perOrganizationMax(organizationId)
      if (used + silent >= max || used >= max / (1 + silent)) return false
    }
    if (!slowPeers?.has(organizationId)) return true
    return this.#usedBySlow < (used < fewJobs ? slowPeers.max : sharedPart * slowPeers.max)
  }

  /** The result has to be passed to the other methods. */
  acquire(organizationId: OrganizationId): SlowPlace | undefined {
    const { perOrganizationMax, slowPeers } = this.#limits
    this.#used++
    if (!perOrganizationMax) return undefined
    const share = this.#shares.get(organizationId) ?? { used: 0, silent: 0 }
    this.#shares.set(organizationId, share)
    share.used++
    if (!slowPeers?.has(organizationId)) return undefined
    const place = { share, startedAt: performance.now(), isSilent: false }
    this.#usedBySlow++
    this.#slow.add(place)
    return place
  }

  /** The peer has answered. The job uses its place until its commit. */
  answered(place: SlowPlace | undefined): void {
    if (place) this.#slow.delete(place)
  }

  release(organizationId: OrganizationId, place: SlowPlace | undefined): void {
    if (place) this.#slow.delete(place)
    if (place?.isSilent) {
      place.share.silent--
      this.#silent--
    } else {
      if (place) this.#usedBySlow--
      this.#used--
      const share = this.#shares.get(organizationId)
      if (share) share.used--
    }
    const share = this.#shares.get(organizationId)
    if (share && share.used + share.silent === 0) this.#shares.delete(organizationId)
  }

  /** Frees the places of jobs whose peers are silent. There are at most as many of them as places. */
  freeSilent(now = performance.now()): void {
    for (const place of this.#slow) {
      if (now - place.startedAt < silentMs || this.#silent >= this.#limits.inFlightMax) return
      this.#slow.delete(place)
      place.isSilent = true
      place.share.used--
      place.share.silent++
      this.#silent++
      this.#used--
      this.#usedBySlow--
    }
  }
}

const none: Share = { used: 0, silent: 0 }
