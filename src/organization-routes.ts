import { apiRequestRoutes } from './accounts/api-requests/api-requests.routes.ts'
import { apiKeyRoutes } from './accounts/people/api-keys.routes.ts'
import { invitationRoutes } from './accounts/people/invitations.routes.ts'
import { organizationRoutes } from './accounts/people/organization.routes.ts'
import { teamRoutes } from './accounts/people/team.routes.ts'
import { bulkActionRoutes } from './audience/bulk-actions/bulk-actions.routes.ts'
import { consentRoutes } from './audience/contacts/consents.routes.ts'
import { contactRoutes } from './audience/contacts/contacts.routes.ts'
import { groupRoutes } from './audience/contacts/groups.routes.ts'
import { importRoutes } from './audience/imports/imports.routes.ts'
import { segmentRoutes } from './audience/segments/segments.routes.ts'
import { suppressionListRoutes } from './audience/suppressions/address-list.routes.ts'
import { suppressionRoutes } from './audience/suppressions/suppressions.routes.ts'
import { broadcastActionRoutes } from './broadcasts/actions.routes.ts'
import { broadcastRoutes } from './broadcasts/broadcasts.routes.ts'
import { broadcastCheckRoutes } from './broadcasts/drafts/check.routes.ts'
import { broadcastPreviewRoutes } from './broadcasts/drafts/preview.routes.ts'
import { protectScheduled } from './broadcasts/protect-scheduled.ts'
import { brandRoutes } from './content/brands/brands.routes.ts'
import { draftRoutes } from './content/flows/drafts.routes.ts'
import { flowRoutes } from './content/flows/flows.routes.ts'
import { previewRoutes } from './content/flows/preview.routes.ts'
import { versionRoutes } from './content/flows/versions.routes.ts'
import { imageRoutes } from './content/images/images.routes.ts'
import { linkCheckRoutes } from './content/link-checks/link-checks.routes.ts'
import { flowPartRoutes } from './content/parts/flow-parts.routes.ts'
import { domainRoutes } from './delivery/domains/domains.routes.ts'
import { warmUpRoutes } from './delivery/domains/warm-up.routes.ts'
import { mailServerRoutes } from './delivery/mail-servers/mail-servers.routes.ts'
import { recordState } from './delivery/mail-servers/states.ts'
import { receivingSiteRoutes } from './delivery/receiving-sites/receiving-sites.routes.ts'
import { providerTitles } from './engagement/bounces/providers/providers.routes.ts'
import { activityRoutes } from './engagement/reports/activity.routes.ts'
import { figureRoutes } from './engagement/reports/figures.routes.ts'
import { flowResultRoutes } from './engagement/reports/flow-results.routes.ts'
import { overviewRoutes } from './engagement/reports/overview.routes.ts'
import { timelineRoutes } from './engagement/reports/timeline.routes.ts'
import { eventExportRoutes } from './events/exports/exports.routes.ts'
import { deliveryRoutes } from './events/webhooks/deliveries.routes.ts'
import { webhookRoutes } from './events/webhooks/webhooks.routes.ts'
import { pauseWebhooksOf } from './events/webhooks/webhooks.ts'
import { recordConnectionChange, recordMailServerChange } from './operations/notices/mail-server-notices.ts'
import { noticeRoutes } from './operations/notices/notices.routes.ts'
import { privacyRoutes } from './operations/privacy/privacy.routes.ts'
import { findPause } from './operations/sending-status/sending-pause.ts'
import { sendingRoutes } from './operations/sending-status/sending-status.routes.ts'
import { setupRoutes } from './operations/sending-status/setup.routes.ts'
import type { Parts } from './parts.ts'
import { add } from './platform/http/add-routes.ts'
import type { Server } from './platform/http/server.ts'
import { inboxRoutes } from './sending/inbox/inbox.routes.ts'
import { messageRoutes } from './sending/messages/messages.routes.ts'
import { sendAgainRoutes } from './sending/messages/send-again.routes.ts'
import { flowSendRoutes } from './sending/messages/send-email.routes.ts'
import { testEmailRoutes } from './sending/messages/test-emails.routes.ts'

/** The routes of the management API that concern one organization. */
export async function addOrganizationRoutes(organization: Server, parts: Parts): Promise<void> {
  const {
    config,
    db,
    keys,
    acceptor,
    accountEmails,
    addresses,
    read,
    runner,
    relay,
    senders,
    tasks,
    templates,
    throttle,
  } = parts
  const testEmails = { db, templates, runner, senders, quota: parts.quota }
  protectScheduled(organization, db)
  await add(
    organization,
    organizationRoutes({
      db,
      checkSender: (organizationId, address) =>
        senders.check({ organizationId, address, path: 'default_sender.email' }),
      onChanged: (id) => {
        addresses.forget(id)
        senders.forgetDefault(id)
      },
      eventRetentionMonths: config.EVENT_RETENTION_MONTHS,
    }),
  )
  await add(organization, teamRoutes({ db, read, keys, pauseWebhooksOf }))
  await add(
    organization,
    invitationRoutes({
      db,
      read,
      accountEmails,
      invitationEmailLimit: parts.invitationEmailLimit,
      baseUrl: parts.baseUrl,
    }),
  )
  await add(organization, apiKeyRoutes({ db, read, keys }))
  await add(organization, apiRequestRoutes({ read }))
  const { readFirst, readQuickly, readCounts } = parts
  await add(organization, contactRoutes({ db, read, readFirst, readQuickly, readCounts }))
  await add(organization, bulkActionRoutes({ db, read }))
  await add(organization, timelineRoutes({ db, read }))
  await add(organization, consentRoutes({ read }))
  await add(organization, groupRoutes({ db, read }))
  await add(organization, segmentRoutes({ db, read }))
  await add(organization, importRoutes({ db, read, tasks }))
  await add(organization, suppressionRoutes({ db, read }))
  await add(organization, suppressionListRoutes({ db, tasks }))
  await add(
    organization,
    imageRoutes({
      db,
      read,
      tasks,
      bucketFiles: parts.bucketFiles,
      stageRegistry: parts.stageRegistry,
      baseUrl: parts.baseUrl,
      mibPerOrganization: parts.limits.imageMibPerOrganization,
    }),
  )
  await add(organization, brandRoutes({ db, read, baseUrl: parts.baseUrl }))
  await add(organization, flowRoutes({ db, read, senders, runner }))
  await add(organization, flowPartRoutes({ db, runner, read }))
  await add(organization, draftRoutes({ db, senders, runner }))
  await add(organization, versionRoutes({ db, read }))
  await add(organization, previewRoutes({ db, runner, senders }))
  await add(organization, linkCheckRoutes({ linkChecker: parts.linkChecker }))
  await add(organization, flowSendRoutes({ acceptor }))
  await add(organization, testEmailRoutes(testEmails))
  await add(
    organization,
    messageRoutes({
      ...{ db, read, templates, runner, relay, senders },
      stageRegistry: parts.stageRegistry,
    }),
  )
  await add(organization, sendAgainRoutes({ db, acceptor, emails: parts.emails }))
  await add(
    organization,
    broadcastRoutes({
      ...{ db, read, runner, senders, findPause },
      work: parts.work,
      failures: parts.failures,
      servers: parts.servers,
    }),
  )
  await add(organization, broadcastPreviewRoutes({ read, templates, runner }))
  await add(
    organization,
    broadcastCheckRoutes({
      ...testEmails,
      read,
      readAudiences: parts.readAudiences,
      servers: parts.servers,
    }),
  )
  await add(organization, broadcastActionRoutes({ db, read, runner, senders, templates }))
  await add(organization, inboxRoutes({ db, read }))
  await add(
    organization,
    sendingRoutes({
      config,
      read,
      sending: parts.sending,
      dkim: parts.dkim,
      settings: parts.mail,
      bounceProviders: providerTitles(config),
      senders,
      servers: parts.servers,
      emails: parts,
    }),
  )
  await add(
    organization,
    setupRoutes({
      ...{ read, senders },
      sending: parts.sending,
      dkim: parts.dkim,
      policy: parts.policy,
      servers: parts.servers,
      publicAddress: parts.publicAddress,
      bounceDomain: parts.mail.bounceDomain,
      bounceProviders: providerTitles(config),
      onAddressChanged: () => {
        parts.sendingProcesses?.passOnBaseUrl()
        parts.trackingHosts.forget()
      },
    }),
  )
  await add(organization, domainRoutes({ ...parts.domains, read, stages: parts.stages }))
  await add(organization, warmUpRoutes({ db }))
  await add(organization, receivingSiteRoutes({ db, read, sites: parts.sites }))
  await add(
    organization,
    mailServerRoutes({
      db,
      read,
      box: parts.mailServerBox,
      allowPrivate: parts.allowPrivate,
      onConnectionChange: recordConnectionChange,
      onChanged: (organizationId) => parts.servers.changed(organizationId),
      connector: parts.connector,
      stages: parts.stages,
      testLimit: parts.mailServerTestLimit,
      testMs: parts.limits.mailServerTestMs,
      onTested: async (mailServer, state) => {
        await recordState({ db, log: parts.log, onChange: recordMailServerChange }, mailServer, state)
        // So that waiting emails leave at once.
        if (state.kind === 'up' && mailServer.status === 'failing') parts.servers.check(mailServer).catch(() => {})
      },
      addresses: parts.webhookAddresses,
    }),
  )
  await add(organization, noticeRoutes({ read }))
  await add(organization, activityRoutes({ read }))
  await add(organization, overviewRoutes({ read }))
  await add(organization, flowResultRoutes({ read }))
  await add(organization, figureRoutes({ read }))
  await add(
    organization,
    webhookRoutes({
      db,
      read,
      box: parts.box,
      allowPrivate: parts.allowPrivate,
      safePost: parts.safePost,
      metrics: parts.deliveryMetrics,
      retryDelays: parts.retryDelays,
      stages: parts.stages,
    }),
  )
  await add(organization, deliveryRoutes({ db, read }))
  await add(
    organization,
    eventExportRoutes({
      db,
      read,
      box: parts.exportBox,
      allowPrivate: parts.allowPrivate,
      storage: parts.storage,
      stages: parts.stages,
    }),
  )
  await add(organization, privacyRoutes({ db, read, keys, throttle }))
}
