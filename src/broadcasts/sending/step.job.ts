import type { Claim } from '../../platform/queue/queue.ts'
import { endJobs } from '../../platform/queue/settle-jobs.ts'
import type { WorkerSpec } from '../../platform/queue/worker-spec.ts'
import type { BroadcastId } from '../../platform/values/ids.ts'
import { type StepPayload, stepKind } from '../ledger/lanes.ts'
import { type PrepareParts, prepareBroadcast } from '../prepare.ts'
import { interrupted, type PauseParts, pauseAutomatically } from './automatic-pause.ts'
import { decideBroadcast } from './decide.ts'
import { giveUpStep } from './failures.ts'
import { type FinishParts, finishBroadcast } from './finish.ts'

/** Steps in progress at once in this process, overall and of one organization. They share the connections of `BoundedWork`. */
const stepsMax = 32
const stepsPerOrganizationMax = 4
const interruptedRetryMs = 1_000

export type StepParts = PrepareParts &
  FinishParts &
  PauseParts & {
    /** Returns false while nothing may be sent. */
    isOpen: () => boolean
  }

/** Runs the steps of broadcasts: freezes their recipients, chooses the winner of variants, and determines the result. */
export function stepWorker(options: Omit<StepParts, 'isStopping'>): WorkerSpec<StepPayload> {
  let isStopping = false
  const parts: StepParts = { ...options, isStopping: () => isStopping }
  return {
    kind: stepKind,
    inFlightMax: stepsMax,
    perOrganizationMax: () => stepsPerOrganizationMax,
    laneWidthMax: 1,
    isOpen: parts.isOpen,
    load: async (claims) => claims.map(({ payload }) => payload as StepPayload),
    giveUp: (claim, { broadcastId }) => giveUpStep(parts, claim, broadcastId),
    handle: async (claim, { broadcastId, step }) => {
      await steps[step](parts, claim, broadcastId)
      return { peer: 'responsive' }
    },
    onStop: () => {
      isStopping = true
    },
  }
}

const steps: Record<StepPayload['step'], (parts: StepParts, claim: Claim, id: BroadcastId) => Promise<void>> = {
  prepare: prepareBroadcast,
  decide,
  finish: finishBroadcast,
}

async function decide(parts: StepParts, claim: Claim, id: BroadcastId): Promise<void> {
  if ((await decideBroadcast(parts, claim, id)) !== 'late') return
  await pauseAutomatically(parts, { organizationId: claim.organizationId, id }, async () => interrupted)
  await endJobs(parts.db, [{ claim, retryInMs: interruptedRetryMs }])
}
