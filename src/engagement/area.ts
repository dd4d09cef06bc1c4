import type { Delivery } from '../delivery/delivery.ts'
import type { Events } from '../events/events.ts'
import { type Area, loopsOf } from '../platform/area.ts'
import { bounceTlsOf } from '../platform/config/setting-files.ts'
import type { Platform } from '../platform/platform.ts'
import { Loop } from '../platform/runtime/loop.ts'
import type { StageLimits } from '../platform/runtime/stage.ts'
import { hourMs } from '../platform/values/durations.ts'
import { reportSoftBounce } from '../sending/sending.ts'
import type { BounceListener } from './bounces/bounce-listener.ts'
import { isReturnAddress, processIncomingBounce } from './bounces/incoming-bounce.ts'
import { mailServerReportRoutes } from './bounces/providers/mail-server-reports.routes.ts'
import { providerRoutes } from './bounces/providers/providers.routes.ts'
import { forgetExpiredSignatures } from './bounces/providers/signatures.ts'
import type { VerdictParts } from './bounces/verdicts.ts'
import { activityRoutes } from './reports/activity.routes.ts'
import { eventTypeRoutes } from './reports/event-types.routes.ts'
import { figureRoutes } from './reports/figures.routes.ts'
import { flowResultRoutes } from './reports/flow-results.routes.ts'
import { metricRoutes } from './reports/metrics.routes.ts'
import { overviewRoutes } from './reports/overview.routes.ts'
import { timelineRoutes } from './reports/timeline.routes.ts'
import { AddressPolicy } from './tracking/address-policy.ts'
import { createHits } from './tracking/create-hits.ts'
import { HitLimit } from './tracking/hit-limit.ts'
import { createPageSender } from './tracking/page.ts'
import { trackingRoutes } from './tracking/tracking.routes.ts'
import { unsubscribeRoutes } from './tracking/unsubscribe.routes.ts'

const secondMs = 1_000

/** Reports of the providers of mail servers: one has up to 10,000 bounces. */
const providerReports: StageLimits = {
  perOrganization: 2,
  overall: 10,
  waitingPerOrganization: 50,
  waitMs: 10_000,
}

export type Engagement = ReturnType<typeof createEngagement>

/** Recording of what recipients do. */
export function createEngagement(
  { config, db, log, metrics, stageRegistry: stages }: Platform,
  { recorder: events, counter }: Events,
) {
  return {
    addresses: new AddressPolicy(db),
    hits: createHits({ db, stages, events, counter, log, metrics, dataDir: config.DATA_DIR }),
  }
}

type Below = { events: Events; delivery: Delivery }

export type EngagementArea = Area & { bouncePort(): number | undefined }

export function engagementArea(platform: Platform, engagement: Engagement, below: Below): EngagementArea {
  const { config, db, failures, read, tokens, baseUrl, metrics } = platform
  const { recipientNamesMsMax } = platform.limits
  const { addresses, hits } = engagement
  const { mailServerBox: box, webhookAddresses } = below.delivery
  const verdicts: VerdictParts = { db, events: below.events.recorder, onSoftBounce: softBounceReporter(below.delivery) }
  const pages = createPageSender()
  const replaying = new Loop({ name: 'replay hits', everyMs: secondMs, run: () => hits.replay(), failures })
  let bounces: BounceListener | undefined
  return {
    routes: {
      publicApi: [metricRoutes({ read: platform.readMetrics })],
      member: [eventTypeRoutes()],
      organization: [
        timelineRoutes({ db, read }),
        activityRoutes({ read }),
        overviewRoutes({ read }),
        flowResultRoutes({ read }),
        figureRoutes({ read }),
      ],
      site: [
        providerRoutes({ ...verdicts, config, tokens }),
        mailServerReportRoutes({
          ...verdicts,
          tokens,
          box,
          addresses: webhookAddresses,
          reports: platform.stageRegistry.stage('provider reports', 'service', providerReports),
        }),
        trackingRoutes({ tokens, hits, hitLimit: new HitLimit(metrics), addresses, pages }),
      ],
      pages: [unsubscribeRoutes({ db, tokens, hits, addresses, pages, baseUrl, recipientNamesMsMax })],
    },
    background: [loopsOf(platform)('delete expired signatures', hourMs, () => forgetExpiredSignatures(db))],
    start: async ({ serves }) => {
      if (!serves) return
      bounces = await listenForBounces(platform, verdicts, below.delivery)
      await hits.checkSpool()
      replaying.start()
    },
    stop: {
      withRequests: () => bounces?.close(),
      afterRequests: async () => {
        await replaying.stop()
        await hits.close()
      },
    },
    bouncePort: () => bounces?.port,
  }
}

/** A site that bounces email because of its rate gets less of it. Nothing waits for this. */
const softBounceReporter =
  (delivery: Delivery): VerdictParts['onSoftBounce'] =>
  (message, bounce) =>
    void reportSoftBounce(delivery, message, bounce).catch(() => {})

async function listenForBounces(
  { config, tokens, tasks, log }: Platform,
  verdicts: VerdictParts,
  { senders }: Delivery,
): Promise<BounceListener | undefined> {
  const { BOUNCE_SMTP_PORT: port, BOUNCE_DOMAIN: bounceDomain } = config
  if (port === undefined || !bounceDomain) return undefined
  const tls = bounceTlsOf(config)
  const { startBounceListener } = await import('./bounces/bounce-listener.ts')
  return startBounceListener({
    host: config.BOUNCE_SMTP_HOST,
    port,
    domain: bounceDomain,
    verify: (address) => isReturnAddress({ tokens, senders, bounceDomain }, address),
    onEmail: (mail) => processIncomingBounce({ ...verdicts, tokens, tasks, log }, mail),
    ...(tls && { tls }),
    log,
  })
}
