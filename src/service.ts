import { accountsArea, createAccounts } from './accounts/area.ts'
import { organizationOf } from './accounts/people/guards.ts'
import { audienceArea } from './audience/area.ts'
import { broadcastsArea } from './broadcasts/area.ts'
import { createSendingProcesses } from './broadcasts/processes.ts'
import { broadcastsOfMessages } from './broadcasts/sending/broadcast.job.ts'
import { contentArea } from './content/area.ts'
import { createContentBase } from './content/base.ts'
import { createDelivery, deliveryArea } from './delivery/area.ts'
import { createDeliveryBase } from './delivery/base.ts'
import { createEngagement, engagementArea } from './engagement/area.ts'
import { createEvents, eventsArea } from './events/area.ts'
import { pauseWebhooksOf } from './events/webhooks/webhooks.ts'
import { mountRoutes } from './mounts.ts'
import { operationsArea } from './operations/area.ts'
import { describeApi } from './operations/documentation/api-document.ts'
import { recordDomainChange } from './operations/notices/domain-notices.ts'
import { GivenUpNotices } from './operations/notices/given-up.ts'
import { recordConnectionChange, recordMailServerChange } from './operations/notices/mail-server-notices.ts'
import {
  recordExpiredBroadcast,
  recordFailingWebhook,
  recordFinishedImport,
  recordPausedBroadcast,
  recordPausedExport,
  recordPausedWebhook,
} from './operations/notices/notices.ts'
import { eraseInTransaction, forgetContacts } from './operations/privacy/erase-contact.ts'
import { findPause, SendingPause } from './operations/sending-status/sending-pause.ts'
import { createPlatform, type PlatformOptions } from './platform/platform.ts'
import { createProcess } from './platform/process.ts'
import { createSending, sendingArea } from './sending/area.ts'
import { createAttempts } from './sending/base.ts'
import { answerUnsupported, isForResend } from './sending/resend/errors.ts'

export type ServiceOptions = PlatformOptions & {
  /** For `documentOf`. */
  describesApi?: boolean
}
export type Service = Awaited<ReturnType<typeof createService>>

/** Puts the areas together, from the bottom to the top. */
export async function createService({ describesApi = false, ...options }: ServiceOptions) {
  const platform = createPlatform(options)
  const { db } = platform
  const pause = new SendingPause(db)
  const isPaused = () => pause.isPaused
  const givenUp = new GivenUpNotices(platform)

  const accounts = createAccounts(platform)
  const events = createEvents(platform)
  const delivery = createDelivery(
    platform,
    createDeliveryBase(platform, { onMailServerChange: recordMailServerChange }),
  )
  const content = createContentBase(platform)
  const attempts = createAttempts(platform, delivery, content)
  const sending = createSending(platform, delivery, content)
  const engagement = createEngagement(platform, events)
  const processes = createSendingProcesses(platform, delivery, isPaused)
  const { senders, servers, trackingHosts } = delivery

  const accountsPart = accountsArea(platform, accounts, {
    accountEmails: sending.accountEmails,
    transportOf: (organizationId) => servers.transportOf(organizationId),
    pauseWebhooksOf,
    checkSender: (organizationId, address) => senders.check({ organizationId, address, path: 'default_sender.email' }),
    onOrganizationChanged: (id) => {
      engagement.addresses.forget(id)
      senders.forgetDefault(id)
    },
  })
  const sendingPart = sendingArea(
    platform,
    sending,
    { accounts, delivery, content, attempts },
    {
      isPaused,
      broadcasts: broadcastsOfMessages(db),
      onEmailGivenUp: (id) => givenUp.emails(id),
      onSystemEmailGivenUp: () => givenUp.systemEmails(),
    },
  )
  const engagementPart = engagementArea(platform, engagement, { events, delivery })
  const areas = [
    accountsPart,
    eventsArea(platform, events, {
      isPaused,
      onWebhookPaused: recordPausedWebhook,
      onWebhookFailing: recordFailingWebhook,
      onExportPaused: recordPausedExport,
      onDeliveryGivenUp: (id) => givenUp.deliveries(id),
    }),
    audienceArea(platform, { onImportFinished: recordFinishedImport, erase: eraseInTransaction, forgetContacts }),
    deliveryArea(platform, delivery, {
      onDomainChange: recordDomainChange,
      onMailServerChange: recordMailServerChange,
      onConnectionChange: recordConnectionChange,
    }),
    contentArea(platform, content, { senders }),
    sendingPart,
    broadcastsArea(
      platform,
      { delivery, content, sending, attempts },
      {
        isPaused,
        findPause,
        onPaused: recordPausedBroadcast,
        onExpired: recordExpiredBroadcast,
        isSentElsewhere: processes !== undefined,
      },
    ),
    engagementPart,
    operationsArea(
      platform,
      { pause, accounts, delivery, sending, settings: attempts.settings },
      {
        onPauseKnown: () => processes?.pauseIfPaused(),
        onAddressChanged: () => {
          processes?.passOnBaseUrl()
          trackingHosts.forget()
        },
      },
    ),
  ]
  const process = await createProcess({
    platform,
    areas,
    processes,
    serverOptions: {
      organizationOf,
      unknownRouteAnswerOf: (request) => (isForResend(request) ? answerUnsupported : undefined),
    },
    mount: async (server, addOperatorRoutes) => {
      if (describesApi) await describeApi(server)
      await mountRoutes(server, platform, { accounts, trackingHosts, areas }, addOperatorRoutes)
    },
    findWarnings: async () => ((await pause.find()) ? ['Sending is paused.'] : []),
  })
  return { ...process, bouncePort: engagementPart.bouncePort, submissionPorts: sendingPart.submissionPorts }
}
