import type { Stage } from '../runtime/stage.ts'
import { Refusal } from '../values/errors.ts'
import type { OrganizationId } from '../values/ids.ts'
import { type Db, isConnectionFault, isQueryCanceled, isRetryable, type Reader } from './db.ts'
import type { Replica } from './replica.ts'

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

export type BoundedReadOptions = {
  timeoutMs?: number
  /** Used instead of the database where it is recent enough. */
  replica?: Replica | undefined
}

export function createBoundedRead(
  db: Db,
  stage: Stage,
  { timeoutMs = statementTimeoutMs, replica }: BoundedReadOptions = {},
): BoundedRead {
  const limits = { statementTimeoutMs: timeoutMs }
  return (organizationId, work) =>
    stage.run(organizationId, async () => {
      const read = (tx: Reader) => work(tx, organizationId)
      try {
        const readFrom = replica?.find(organizationId)
        if (!readFrom) return await db.begin(read, limits)
        return await readFrom.begin(read, limits).catch((error: unknown) => {
          if (!isReplicaFault(error)) throw error
          return db.begin(read, limits)
        })
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

/** Thrown by a read whose result on the replica would be wrong. It is repeated on the primary. */
export class ReplicaIsBehind extends Error {}

/** The replica is unavailable, behind, or canceled the statement because it was about to replay a change of the same rows. */
const isReplicaFault = (error: unknown) =>
  error instanceof ReplicaIsBehind || (!isQueryCanceled(error) && (isConnectionFault(error) || isRetryable(error)))
