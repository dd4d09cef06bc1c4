import type { OrganizationId } from '../../values/ids.ts'
import { type Db, isConnectionFault, type Writer } from '../db.ts'
import { perOrganization } from './batches.ts'
import { findOrganizationsByNode } from './nodes.ts'

export type Claiming<Row> = {
  /** Claims due rows of this organization, or of all organizations if it is undefined. */
  claim: (db: Writer, organizationId?: OrganizationId) => Promise<readonly Row[]>
  /** Returns organizations that have due rows, only among `ids` if these are given. */
  findDue: (ids?: readonly OrganizationId[]) => Promise<readonly { organizationId: OrganizationId }[]>
}

/** While a node is down, the others are asked one by one for this time before all are asked at once again. */
const askSeparatelyMs = 5_000

/**
 * Claims due rows of all organizations with one statement. On a distributed database, due organizations are looked for on
 * all nodes, and rows are claimed for each of them, so that a node that is down does not delay the others.
 */
export class Claims {
  readonly #db: Db
  #askSeparatelyUntil = Number.NEGATIVE_INFINITY

  constructor(db: Db) {
    this.#db = db
  }

  async claim<Row>({ claim, findDue }: Claiming<Row>): Promise<readonly Row[]> {
    // Few rows become due at once.
    if (!this.#db.isDistributed) return claim(this.#db.forRows(1))
    const due = await this.#findDue(findDue)
    return perOrganization(
      this.#db,
      due,
      ([first]) => claim(this.#db.statement, first!.organizationId),
      () => this.#suspectNode(),
    )
  }

  #suspectNode(): void {
    this.#askSeparatelyUntil = performance.now() + askSeparatelyMs
  }

  async #findDue(findDue: Claiming<never>['findDue']): Promise<readonly { organizationId: OrganizationId }[]> {
    if (performance.now() >= this.#askSeparatelyUntil) {
      try {
        return await findDue()
      } catch (error) {
        if (!isConnectionFault(error)) throw error
        this.#suspectNode()
      }
    }
    const nodes = await findOrganizationsByNode(this.#db)
    const found = await Promise.allSettled(nodes.map((ids) => findDue(ids)))
    const failed = found.find((result) => result.status === 'rejected' && !isConnectionFault(result.reason))
    if (failed) throw (failed as PromiseRejectedResult).reason
    return found.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
  }
}
