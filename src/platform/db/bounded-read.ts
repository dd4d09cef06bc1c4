import type { Stage } from '../runtime/stage.ts'
import { Refusal } from '../values/errors.ts'
import type { OrganizationId } from '../values/ids.ts'
import { type Db, isQueryCanceled, type Reader } from './db.ts'

/** Applies to each statement of a list, search or report. */
const statementTimeoutMs = 3_000

/**
 * Runs reads whose cost depends on how much data an organization has: within the organization's share of the database,
 * and with a time limit for each statement. Throws `Refusal` if the share is used up or a statement takes too long.
 */
export type BoundedRead = <Result>(
  organizationId: OrganizationId,
  work: (db: Reader, organizationId: OrganizationId) => Promise<Result>,
) => Promise<Result>

export function createBoundedRead(
  db: Db,
  stage: Stage,
  { timeoutMs = statementTimeoutMs }: { timeoutMs?: number } = {},
): BoundedRead {
  const limits = { statementTimeoutMs: timeoutMs }
  return (organizationId, work) =>
    stage.run(organizationId, async () => {
      try {
        return await db.begin((tx) => work(tx, organizationId), limits)
      } catch (error) {
        if (!isQueryCanceled(error)) throw error
        throw new Refusal(
          'unavailable',
          'This request took too long and was stopped. Narrow it down, for example by a longer search text or a shorter period.',
          { retryAfterSeconds: 5, cause: error },
        )
      }
    })
}

/**
 * For `catch` of a bounded read: returns undefined if a statement took too long. It must not be caught within the read,
 * because its transaction has failed.
 */
export function undefinedIfTooSlow(error: unknown): undefined {
  if (!isQueryCanceled((error as Error).cause)) throw error
}
