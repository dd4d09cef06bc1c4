import type { Db } from '../db/db.ts'
import type { Claim } from './queue.ts'
import { endJobs } from './settle-jobs.ts'
import type { WorkerSpec } from './worker-spec.ts'

/** After this time, long work yields to others and continues in its next turn. */
const turnMs = 3_000

export type TurnSpec<Work> = Pick<WorkerSpec<Work>, 'kind' | 'inFlightMax' | 'load'> & {
  db: Db
  /** Works until this time, in milliseconds since 1970. Returns true when the work has ended and its job is gone. */
  run: (work: Work, until: number) => Promise<boolean>
  /** Ends work that has failed several times in a row, with a reason for the user. */
  giveUp?: (work: Work) => Promise<void>
}

/**
 * A worker for long work that stores its progress, in turns. Each piece of work has its own lane, so that long work does not delay
 * short work, and an organization has one turn at a time in a process.
 */
export function turnWorker<Work>({ db, run, giveUp, ...spec }: TurnSpec<Work>): WorkerSpec<Work> {
  // If another worker took over, our token no longer matches, and this has no effect.
  const continueLater = (claim: Claim) => endJobs(db, [{ claim, retryInMs: 0 }])
  return {
    ...spec,
    perOrganizationMax: () => 1,
    laneWidthMax: 1,
    handle: async (claim, work) => {
      if (!(await run(work, Date.now() + turnMs))) await continueLater(claim)
      return { peer: 'responsive' }
    },
    ...(giveUp && {
      giveUp: async (claim, work) => {
        await giveUp(work)
        await continueLater(claim)
      },
    }),
  }
}
