import type { Accounts } from '../accounts/accounts.ts'
import type { Delivery } from '../delivery/delivery.ts'
import { providerTitles } from '../engagement/engagement.ts'
import { type Area, loopsOf } from '../platform/area.ts'
import type { Platform } from '../platform/platform.ts'
import { minuteMs } from '../platform/values/durations.ts'
import type { EmailSettings, Sending } from '../sending/sending.ts'
import { measureLastBackup } from './backup/last-backup.ts'
import { noticeRoutes } from './notices/notices.routes.ts'
import { reportHighRates, reportRelayOutage } from './notices/watch.ts'
import { eraseDeletedOrganizations } from './privacy/erase-organization.ts'
import { privacyRoutes } from './privacy/privacy.routes.ts'
import { SecretCheck } from './sealed-tables.ts'
import { measurePause, type SendingPause } from './sending-status/sending-pause.ts'
import { sendingRoutes } from './sending-status/sending-status.routes.ts'
import { SendingStatus } from './sending-status/sending-status.ts'
import { setupRoutes } from './sending-status/setup.routes.ts'

const pauseCheckMs = 2_000

type Below = {
  pause: SendingPause
  accounts: Accounts
  delivery: Delivery
  sending: Sending
  settings: EmailSettings
}

export type OperationsHooks = {
  /** Called when it was looked whether sending is paused. */
  onPauseKnown: () => void
  onAddressChanged: () => void
}

export function operationsArea(platform: Platform, below: Below, hooks: OperationsHooks): Area {
  const { config, db, log, read, publicAddress, metrics, bucket } = platform
  const { pause, settings } = below
  const { keys, throttle } = below.accounts
  const { relay, dkim, policy, senders, servers, spfSources } = below.delivery
  const bounceProviders = providerTitles(config)
  const sending = new SendingStatus({
    relay,
    relayUrl: config.SMTP_URL,
    dkim,
    settings,
    nameServers: config.DNS_SERVERS,
  })
  const secretCheck = new SecretCheck(platform)
  const loop = loopsOf(platform)
  return {
    routes: {
      organization: [
        sendingRoutes({
          config,
          read,
          sending,
          dkim,
          settings,
          bounceProviders,
          senders,
          servers,
          emails: below.sending.submitting,
        }),
        setupRoutes({
          read,
          senders,
          sending,
          dkim,
          policy,
          servers,
          spfSources,
          publicAddress,
          bounceDomain: settings.bounceDomain,
          bounceProviders,
          onAddressChanged: hooks.onAddressChanged,
        }),
        noticeRoutes({ db, read, isRelayFailing: (tx, organizationId) => sending.isFailing(tx, organizationId) }),
        privacyRoutes({ db, read, keys, throttle }),
      ],
    },
    background: [
      loop('look for a pause of sending', pauseCheckMs, async () => {
        await pause.refresh()
        hooks.onPauseKnown()
      }),
      loop('report relay outages', minuteMs, () => reportRelayOutage({ db, log, relay })),
      loop('report high rates', 10 * minuteMs, () => reportHighRates({ db, log })),
      loop('check encrypted values', 10 * minuteMs, () => secretCheck.run()),
      loop('erase deleted organizations', minuteMs, () => eraseDeletedOrganizations({ db, log, bucket })),
    ],
    start: async ({ works }) => {
      measureLastBackup(metrics, db)
      if (works) measurePause(pause, metrics)
      await pause.refresh()
    },
  }
}
