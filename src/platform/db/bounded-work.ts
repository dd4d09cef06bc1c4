import type { Stage } from '../runtime/stage.ts'
import type { Actor } from '../values/actor.ts'
import type { OrganizationId } from '../values/ids.ts'
import type { Db, Tx } from './db.ts'

/** Applies to each statement of a slice. */
const statementTimeoutMs = 5_000

/**
 * Runs a slice of background work whose cost depends on the data of an organization, in a transaction. All such work of the
 * process shares a few connections, which go to the organizations in turn, one each. A slice is short: it works on a
 * limited number of rows and stores how far it came.
 */
export type BoundedWork = <Result>(
  organizationId: OrganizationId,
  work: (tx: Tx) => Promise<Result>,
  options?: { actor: Actor },
) => Promise<Result>

export type BoundedWorkOptions = { timeoutMs?: number }

export function createBoundedWork(
  db: Db,
  stage: Stage,
  { timeoutMs = statementTimeoutMs }: BoundedWorkOptions = {},
): BoundedWork {
  return (organizationId, work, options) =>
    stage.run(organizationId, () => db.begin(work, { statementTimeoutMs: timeoutMs, ...options }))
}
