import type { ContentBase } from '../content/content.ts'
import { type DeliveryBase, inFlightMaxOf } from '../delivery/delivery.ts'
import type { Base } from '../platform/base.ts'
import { Worker } from '../platform/queue/worker.ts'
import type { AttemptParts } from '../sending/sending.ts'
import type { PartPayload } from './ledger/lanes.ts'
import type { PrepareParts } from './prepare.ts'
import type { PauseParts } from './sending/automatic-pause.ts'
import { broadcastJob } from './sending/broadcast.job.ts'

/** What areas above provide. */
export type BroadcastsHooks = {
  isPaused: () => boolean
  onPaused: PauseParts['onPaused']
  onExpired: PrepareParts['onExpired']
}

type Below = { delivery: DeliveryBase; content: ContentBase; attempts: AttemptParts }

/** Creates the worker that sends the parts of broadcasts, in the service or in a sending process. */
export function createBroadcaster(
  { db, log, failures, hints, stageRegistry }: Base,
  { delivery, content: { templates }, attempts }: Below,
  { isPaused, onPaused }: BroadcastsHooks,
): Worker<PartPayload> {
  const spec = broadcastJob({
    ...attempts,
    db,
    log,
    failures,
    hints,
    templates,
    stageRegistry,
    inFlightMax: inFlightMaxOf(delivery),
    isOpen: () => !isPaused() && delivery.servers.isOpen(),
    onPaused,
  })
  return new Worker({ db, log, failures, hints, spec })
}
