import type { OrganizationId } from '../values/ids.ts'
import type { Claim, JobKind } from './queue.ts'

/**
 * What a job showed about the peer of its lane (the endpoint or the relay). The handler has already recorded and
 * settled the job.
 * - responsive: the lane may widen up to its limit
 * - unresponsive: the lane narrows to one probe at a time
 * - untried: nothing was attempted; the job stays due and is read again when `isOpen` returns true
 */
export type PeerState = 'responsive' | 'unresponsive' | 'untried'

/**
 * The lane starts its next job when this is returned. The job itself remains in flight until `recorded` resolves, so
 * that waiting for a commit does not occupy a connection to the peer.
 */
export type Handled = {
  peer: PeerState
  recorded?: Promise<unknown>
  /** Set if the job was postponed: its lane is then read again at that time. */
  retryInMs?: number | null
}

/** Of jobs that do something outside, which may be repeated as often: after about two hours, with growing delays. */
export const effectFailuresMax = 6

export type WorkerSpec<Work> = {
  kind: JobKind
  /** Limit of jobs in flight in this process: running, or waiting for their commit. */
  inFlightMax: number
  /** Limit of jobs of an organization in flight in this process, so that it cannot use all places. */
  perOrganizationMax?: (organizationId: OrganizationId) => number
  /**
   * Organizations with peers of their own, which may be slow. They use at most `max` places together, and jobs whose peer is
   * silent use none. Only with `perOrganizationMax`.
   */
  slowPeers?: { has: (organizationId: OrganizationId) => boolean; max: number }
  /** Limit of jobs running at once in one lane. */
  laneWidthMax: number
  /** The initial limit. It grows to `laneWidthMax` while the peer responds, since each step may cost a connection. */
  laneWidthFirst?: number
  /** Returns the input of a job that was just enqueued by this process (`NewJob.work`). */
  handedOver?: (work: unknown) => Work
  /** Loads the input of a batch of jobs. Returns undefined for a job whose message or delivery no longer exists. */
  load: (claims: Claim[]) => Promise<(Work | undefined)[]>
  /**
   * Runs, records and settles one job. If it throws, the job is retried later. `isLeased` is asked right before something that must
   * not be repeated: the job may have waited since it was started, and another worker runs it when the lease has expired.
   */
  handle: (claim: Claim, work: Work, isLeased: () => boolean) => Promise<Handled>
  /**
   * Ends a job that has failed several times in a row, with a reason for the user. Outages of the database do not count. The job is
   * not run again: if this fails, only this is tried again. Without it, a failed job is retried without end.
   */
  giveUp?: (claim: Claim, work: Work, error: unknown) => Promise<void>
  /** Called when a job is given up, also if `giveUp` fails. Must not throw. */
  onGivenUp?: (organizationId: OrganizationId) => void
  /** After this many failures in a row, a job is given up. */
  failuresMax?: number
  /** Returns true for a failure after which the job is given up at once. */
  isFinal?: (error: unknown) => boolean
  /** True for work that is slow on our side, such as an expensive template. A lane runs one such job at a time. */
  isSlow?: (work: Work) => boolean
  /**
   * For long jobs: at most as many lanes are claimed at once as jobs are running, with pauses in between, so that other
   * processes, which were notified later or have less to do, get their share.
   */
  sharesLanes?: boolean
  /** Returns false while no job should be started, for example while the relay is down. */
  isOpen?: () => boolean
  /**
   * Returns how long no job of an organization should be started, for example because its mail servers are down, or 0. Its
   * lanes are released for that time.
   */
  waitMsFor?: (organizationId: OrganizationId) => number
  /** Called when the worker begins to stop: long jobs end soon. */
  onStop?: () => void
}
