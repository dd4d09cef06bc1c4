import type { OrganizationId } from '../../values/ids.ts'
import { type Db, isConnectionFault, type Writer } from '../db.ts'
import { perOrganization } from './batches.ts'
import { findOrganizationsByNode, type OrganizationsOfNode } from './nodes.ts'

export type Claiming<Row> = {
  /** Claims due rows of this organization, or of all organizations if it is undefined. */
  claim: (db: Writer, organizationId?: OrganizationId) => Promise<readonly Row[]>
  /** Returns organizations that have due rows, only among `ids` if these are given. */
  findDue: (ids?: readonly OrganizationId[]) => Promise<readonly { organizationId: OrganizationId }[]>
}

/** A node that is down is asked again after this time. Until it answers, the nodes are asked one by one. */
const askAgainMs = 2_000

/** Stands for a node that is not known: all nodes were asked at once, and one did not answer. */
const someNode = 0
/** The nodes that are down, and when they are asked again. All workers of a process share them. */
const downNodes = new WeakMap<Db, Map<number, number>>()

export const hasNodeDown = (db: Db): boolean => (downNodes.get(db)?.size ?? 0) > 0

/**
 * Claims due rows of all organizations with one statement. On a distributed database, due organizations are looked for on
 * all nodes, and rows are claimed for each of them, so that a node that is down does not delay the others.
 */
export class Claims {
  readonly #db: Db
  readonly #down: Map<number, number>

  constructor(db: Db) {
    this.#db = db
    this.#down = downNodes.get(db) ?? new Map()
    downNodes.set(db, this.#down)
  }

  async claim<Row>({ claim, findDue }: Claiming<Row>): Promise<readonly Row[]> {
    // Few rows become due at once.
    if (!this.#db.isDistributed) return claim(this.#db.forRows(1))
    const due = await this.#findDue(findDue)
    return perOrganization(
      this.#db,
      due,
      ([first]) => claim(this.#db.statement, first!.organizationId),
      () => {},
    )
  }

  async #findDue(findDue: Claiming<never>['findDue']): Promise<readonly { organizationId: OrganizationId }[]> {
    const now = performance.now()
    if ((this.#down.get(someNode) ?? 0) <= now) this.#down.delete(someNode)
    if (this.#down.size === 0) {
      try {
        return await findDue()
      } catch (error) {
        if (!isConnectionFault(error)) throw error
        this.#down.set(someNode, now + askAgainMs)
      }
    }
    const nodes = await findOrganizationsByNode(this.#db)
    const asked = nodes.filter(({ node }) => (this.#down.get(node) ?? 0) <= now)
    // Only one worker asks a node that may still be down.
    for (const { node } of asked) if (this.#down.has(node)) this.#down.set(node, now + askAgainMs)
    const found = await Promise.all(asked.map((each) => this.#findDueOn(each, findDue)))
    return found.flat()
  }

  async #findDueOn({ node, ids }: OrganizationsOfNode, findDue: Claiming<never>['findDue']) {
    try {
      const due = await findDue(ids)
      this.#down.delete(node)
      return due
    } catch (error) {
      if (!isConnectionFault(error)) throw error
      this.#down.set(node, performance.now() + askAgainMs)
      return []
    }
  }
}
