import { createBatcher, type ItemBatcher } from '../../platform/db/cluster/batches.ts'
import { type Db, isConnectionFault } from '../../platform/db/db.ts'
import { retrying } from '../../platform/db/retrying.ts'
import type { Claim } from '../../platform/queue/queue.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import { markSending, unmarkSending } from './sending-marks.sql.ts'

const batchMax = 500
const waitingPerOrganization = 10_000
const waitingMax = 20_000
const markTries = 3

/** Marks messages that were scheduled or had to wait while they are being sent (`mustMark`). They can be cancelled until then. */
export class SendingMarks {
  readonly #marked: ItemBatcher<Claim, boolean>
  readonly #unmarked: ItemBatcher<Claim, void>

  constructor(db: Db, stages: StageRegistry) {
    const organizationOf = ({ organizationId }: Claim) => organizationId
    const limits = { organizationOf, itemsMax: batchMax, waitingPerOrganization, waitingMax }
    this.#marked = createBatcher(db, stages, {
      name: 'mark as being sent',
      ...limits,
      run: async (claims) => {
        const ids = await Promise.all(
          // A cancellation may lock several of these messages.
          groupBy(claims, organizationOf).map(([id, own]) =>
            retrying(markTries, () => markSending(db.statement, id, own)),
          ),
        )
        const ours = new Set<string>(ids.flat())
        return claims.map(({ id }) => ({ ok: true, value: ours.has(id) }))
      },
    })
    this.#unmarked = createBatcher(db, stages, {
      name: 'unmark as being sent',
      ...limits,
      run: async (claims) => {
        for (const [id, own] of groupBy(claims, organizationOf))
          await retrying(markTries, () => db.begin((tx) => unmarkSending(tx, id, own)))
        return claims.map(() => ({ ok: true, value: undefined }))
      },
    })
  }

  /** Returns false if the message was cancelled and must not be sent, or undefined while the database is unavailable. */
  mark(claim: Claim): Promise<boolean | undefined> {
    return this.#marked.add(claim).catch(unlessUnavailable)
  }

  /** For a message that was not attempted, because the mail server is unavailable. */
  unmark(claim: Claim): Promise<void> {
    return this.#unmarked.add(claim).catch(unlessUnavailable)
  }
}

function unlessUnavailable(error: unknown): undefined {
  if (!isConnectionFault(error)) throw error
}
