import { findOrganizationsByNode } from '../db/cluster-nodes.ts'
import { type Db, isConnectionFault } from '../db/db.ts'
import { perOrganization } from '../db/per-organization.ts'
import type { OrganizationId } from '../values/ids.ts'
import { type ClaimOptions, claimLanes, findDueOrganizations, type LaneKey } from './lanes.sql.ts'
import type { JobKind } from './queue.ts'

export type ClaimRequest = Required<Omit<ClaimOptions, 'organizationId'>>

/** While a node is down, the others are asked one by one for this time before all are asked at once again. */
const askSeparatelyMs = 5_000

/**
 * Claims due lanes. On a distributed database, lanes are looked for on all nodes and claimed for each organization, so
 * that a node that is down does not delay the jobs of the others.
 */
export class LaneClaims {
  readonly #db: Db
  readonly #kind: JobKind
  #askSeparatelyUntil = Number.NEGATIVE_INFINITY

  constructor(db: Db, kind: JobKind) {
    this.#db = db
    this.#kind = kind
  }

  /** Claims at most `limit` lanes, none of the organizations in `except`. */
  async claim({ token, leaseMs, limit, except }: ClaimRequest): Promise<readonly LaneKey[]> {
    // Few lanes become due at once.
    if (!this.#db.isDistributed) return claimLanes(this.#db.forRows(1), this.#kind, { token, leaseMs, limit, except })
    const { statement } = this.#db
    const due = (await this.#findDue(limit)).filter(({ organizationId }) => !except.includes(organizationId))
    return perOrganization(
      this.#db,
      due,
      ([first]) =>
        claimLanes(statement, this.#kind, { token, leaseMs, limit, except, organizationId: first!.organizationId }),
      () => this.#suspectNode(),
    )
  }

  #suspectNode(): void {
    this.#askSeparatelyUntil = performance.now() + askSeparatelyMs
  }

  async #findDue(limit: number): Promise<readonly { organizationId: OrganizationId }[]> {
    if (performance.now() >= this.#askSeparatelyUntil) {
      try {
        return await findDueOrganizations(this.#db, this.#kind, limit)
      } catch (error) {
        if (!isConnectionFault(error)) throw error
        this.#suspectNode()
      }
    }
    const nodes = await findOrganizationsByNode(this.#db)
    const found = await Promise.allSettled(nodes.map((ids) => findDueOrganizations(this.#db, this.#kind, limit, ids)))
    const failed = found.find((result) => result.status === 'rejected' && !isConnectionFault(result.reason))
    if (failed) throw (failed as PromiseRejectedResult).reason
    return found.flatMap((result) => (result.status === 'fulfilled' ? result.value : [])).slice(0, limit)
  }
}
