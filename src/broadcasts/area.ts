import type { ContentBase } from '../content/content.ts'
import type { Delivery } from '../delivery/delivery.ts'
import type { Area } from '../platform/area.ts'
import type { Platform } from '../platform/platform.ts'
import { Worker } from '../platform/queue/worker.ts'
import type { AttemptParts, Sending } from '../sending/sending.ts'
import { broadcastActionRoutes } from './actions.routes.ts'
import { type BroadcastsHooks, createBroadcaster } from './base.ts'
import { type BroadcastRouteParts, broadcastRoutes } from './broadcasts.routes.ts'
import { broadcastCheckRoutes } from './drafts/check.routes.ts'
import { broadcastPreviewRoutes } from './drafts/preview.routes.ts'
import { stepWorker } from './sending/step.job.ts'

type Below = { delivery: Delivery; content: ContentBase; sending: Sending; attempts: AttemptParts }

/** `isSentElsewhere`: sending processes send the parts of broadcasts. */
export function broadcastsArea(
  platform: Platform,
  below: Below,
  hooks: BroadcastsHooks & { findPause: BroadcastRouteParts['findPause']; isSentElsewhere: boolean },
): Area {
  const { db, log, failures, hints, read, work } = platform
  const { servers, senders } = below.delivery
  const { runner, templates } = below.content
  const { isPaused, onPaused, onExpired, findPause } = hooks
  const isOpen = () => !isPaused() && servers.isOpen()
  const steps = stepWorker({ db, log, failures, senders, isOpen, onPaused, onExpired, work })
  return {
    routes: {
      organization: [
        broadcastRoutes({ db, read, runner, senders, findPause, work, failures, servers }),
        broadcastPreviewRoutes({ read, templates, runner }),
        broadcastCheckRoutes({
          ...below.sending.testEmails,
          read,
          readAudiences: platform.readAudiences,
          servers,
        }),
        broadcastActionRoutes({ db, read, runner, senders, templates }),
      ],
    },
    background: [
      ...(hooks.isSentElsewhere ? [] : [createBroadcaster(platform, below, hooks)]),
      new Worker({ db, log, failures, hints, spec: steps }),
    ],
  }
}
