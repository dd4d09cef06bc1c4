import { join } from 'node:path'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { apiKeyRoutes, tokenCheckRoutes } from './accounts/api-keys.routes.ts'
import { authRoutes } from './accounts/auth.routes.ts'
import { permissionOf, requireApiKey, requireCaller } from './accounts/guards.ts'
import { acceptanceRoutes, invitationRoutes } from './accounts/invitations.routes.ts'
import { organizationRoutes } from './accounts/organization.routes.ts'
import { profileRoutes } from './accounts/profile.routes.ts'
import { recoveryRoutes } from './accounts/recovery.routes.ts'
import { scopeOfRoute } from './accounts/scopes.ts'
import { teamRoutes } from './accounts/team.routes.ts'
import { apiRequestRoutes } from './api-requests/api-requests.routes.ts'
import { recordRequests } from './api-requests/record-requests.ts'
import { brandRoutes } from './brands/brands.routes.ts'
import { broadcastActionRoutes } from './broadcasts/actions.routes.ts'
import { broadcastRoutes } from './broadcasts/broadcasts.routes.ts'
import { broadcastCheckRoutes } from './broadcasts/check.routes.ts'
import { broadcastPreviewRoutes } from './broadcasts/preview.routes.ts'
import { protectScheduled } from './broadcasts/protect-scheduled.ts'
import { bulkActionRoutes } from './bulk-actions/bulk-actions.routes.ts'
import type { Config } from './config/config.ts'
import { consentRoutes } from './contacts/consents.routes.ts'
import { contactRoutes } from './contacts/contacts.routes.ts'
import { groupRoutes } from './contacts/groups.routes.ts'
import { memberRoutes } from './contacts/members.routes.ts'
import { registerDocumentation } from './documentation/documentation.routes.ts'
import { domainRoutes } from './domains/domains.routes.ts'
import { tlsRoutes } from './domains/tls.routes.ts'
import { separateTrackingHosts } from './domains/tracking-hosts.ts'
import { warmUpRoutes } from './domains/warm-up.routes.ts'
import { eventExportRoutes } from './event-exports/exports.routes.ts'
import { feedRoutes } from './event-feed/feed.routes.ts'
import { flowPartRoutes } from './flow-parts/flow-parts.routes.ts'
import { draftRoutes } from './flows/drafts.routes.ts'
import { flowRoutes } from './flows/flows.routes.ts'
import { previewRoutes } from './flows/preview.routes.ts'
import { versionRoutes } from './flows/versions.routes.ts'
import { limitByAddress } from './http/address-limit.ts'
import { healthRoutes } from './http/health.routes.ts'
import { isLocalUse, registerMetrics } from './http/metrics.ts'
import { linkNextPage } from './http/paging.ts'
import { findProblems, findWarnings, measureReadiness } from './http/readiness.ts'
import { registerRobotsTxt } from './http/robots-txt.ts'
import { registerSecurityTxt } from './http/security-txt.ts'
import type { Server } from './http/server.ts'
import { rejectUnknownParameters } from './http/unknown-fields.ts'
import { registerWebApp } from './http/web-app.ts'
import { imageFileRoutes } from './images/image-files.routes.ts'
import { imageRoutes } from './images/images.routes.ts'
import { importRoutes } from './imports/imports.routes.ts'
import { inboxRoutes } from './inbox/inbox.routes.ts'
import { linkCheckRoutes } from './link-checks/link-checks.routes.ts'
import { mailServerRoutes } from './mail-servers/mail-servers.routes.ts'
import { recordState } from './mail-servers/states.ts'
import { collectToolRoutes, mcpRoutes } from './mcp/mcp.routes.ts'
import { emailRoutes } from './messages/emails.routes.ts'
import { messageRoutes } from './messages/messages.routes.ts'
import { sendAgainRoutes } from './messages/send-again.routes.ts'
import { flowSendRoutes, sendEmailRoutes } from './messages/send-email.routes.ts'
import { testEmailRoutes } from './messages/test-emails.routes.ts'
import { recordMailServerChange } from './notices/mail-server-notices.ts'
import { noticeRoutes } from './notices/notices.routes.ts'
import type { Parts, Role } from './parts.ts'
import { privacyRoutes } from './privacy/privacy.routes.ts'
import { receivingSiteRoutes } from './receiving-sites/receiving-sites.routes.ts'
import { activityRoutes } from './reports/activity.routes.ts'
import { eventTypeRoutes } from './reports/event-types.routes.ts'
import { figureRoutes } from './reports/figures.routes.ts'
import { flowResultRoutes } from './reports/flow-results.routes.ts'
import { metricRoutes } from './reports/metrics.routes.ts'
import { overviewRoutes } from './reports/overview.routes.ts'
import { timelineRoutes } from './reports/timeline.routes.ts'
import { resendRoutes } from './resend/resend.routes.ts'
import { FilterSchema } from './segments/filter.ts'
import { segmentRoutes } from './segments/segments.routes.ts'
import { sendingRoutes } from './sending-status/sending-status.routes.ts'
import { suppressionListRoutes } from './suppressions/address-list.routes.ts'
import { suppressionRoutes } from './suppressions/suppressions.routes.ts'
import { mailServerReportRoutes } from './tracking/providers/mail-server-reports.routes.ts'
import { providerRoutes, providerTitles } from './tracking/providers/providers.routes.ts'
import { trackingRoutes } from './tracking/tracking.routes.ts'
import { unsubscribeRoutes } from './tracking/unsubscribe.routes.ts'
import type { OrganizationId } from './values/ids.ts'
import { deliveryRoutes } from './webhooks/deliveries.routes.ts'
import { webhookRoutes } from './webhooks/webhooks.routes.ts'
import { pauseWebhooksOf } from './webhooks/webhooks.ts'

const largeBodies = /^\/(api\/v1\/organization\/(flows|contacts)|public\/api\/v1\/flow|providers)(\/|$)/
const largeBodyBytesMax = 1024 * 1024
/** Email addresses, passwords and tokens are short, and these routes need no credential. */
const signInBytesMax = 16 * 1024

/** The operational routes of every process. */
export async function registerOperatorRoutes(
  server: Server,
  { config, limits, db, metrics, metricsText, pause, sendingProcesses }: Parts,
  roles: readonly Role[],
): Promise<void> {
  const readiness = { db, directories: writtenDirectories(config, roles), freeMibMin: limits.diskFreeMibMin }
  measureReadiness(metrics, readiness)
  registerMetrics(server, {
    text: metricsText,
    token: config.METRICS_TOKEN,
    // WORK_PORT is only for operators.
    isAllowed: roles.includes('serve') ? isLocalUse(config.BASE_URL) : () => true,
  })
  const findAllWarnings = async () => [
    ...(await findWarnings(db)),
    ...((await pause.find()) ? ['Sending is paused.'] : []),
    ...(sendingProcesses?.problems ?? []),
  ]
  await add(server, healthRoutes({ findProblems: () => findProblems(readiness), findWarnings: findAllWarnings }))
}

/** The embedded database may be on another disk than DATA_DIR, to which it is linked then. */
const writtenDirectories = ({ DATA_DIR: dataDir, DATABASE_URL: url }: Config, roles: readonly Role[]): string[] => [
  ...(roles.includes('serve') ? [dataDir] : []),
  ...(url === undefined ? [join(dataDir, 'postgres')] : []),
]

/** All routes. */
export async function registerRoutes(server: Server, parts: Parts, roles: readonly Role[]): Promise<void> {
  const { config, db, keys, acceptor, addresses, read, runner, relay, senders, tasks } = parts
  const { accountEmails, sessions, throttle, templates, tokens, hits, pages: pageSender } = parts
  const transportOf = (organizationId: OrganizationId) => parts.servers.transportOf(organizationId)
  const testEmails = { db, templates, runner, senders, quota: parts.quota }
  allowLargeBodies(server)
  describePermissions(server)
  rejectUnknownParameters(server)
  server.addSchema(FilterSchema)
  server.decorateRequest('apiKey', null)
  server.decorateRequest('member', null)
  server.decorateRequest('trackingHostOf', null)
  server.addHook('onRequest', separateTrackingHosts(parts.trackingHosts))
  recordRequests(server, parts.apiRequests)
  const toolRoutes = collectToolRoutes(server)
  registerRobotsTxt(server, limitByAddress(parts.pageLimit))
  registerSecurityTxt(server, {
    contact: config.SECURITY_CONTACT,
    baseUrl: config.BASE_URL,
    onRequest: limitByAddress(parts.pageLimit),
  })
  registerDocumentation(server, { baseUrl: config.BASE_URL, onRequest: limitByAddress(parts.pageLimit) })
  await registerOperatorRoutes(server, parts, roles)

  await add(
    server,
    async (api) => {
      api.addHook('onRequest', requireApiKey({ keys, keyLimit: parts.keyLimit }))
      withSecurity(api, 'apiKey')
      await add(api, tokenCheckRoutes())
      await add(api, memberRoutes({ members: parts.members }))
      await add(api, sendEmailRoutes({ acceptor, db, uploads: parts.uploads }))
      await add(api, emailRoutes({ emails: parts.emails, uploads: parts.uploads, tasks }))
      await add(api, metricRoutes({ read: parts.readMetrics }))
      await add(api, feedRoutes({ read: parts.readMetrics, waiting: parts.feedReaders }))
    },
    { prefix: '/public/api/v1' },
  )

  await add(
    server,
    async (api) => {
      api.addHook('onRequest', limitByAddress(parts.signInLimit))
      withBodyLimit(api, signInBytesMax)
      await add(
        api,
        authRoutes({ db, sessions, throttle, sendsEmail: () => parts.servers.sendsEmail(), signup: config.SIGNUP }),
      )
      await add(api, acceptanceRoutes({ db, sessions, throttle }))
      await add(api, recoveryRoutes({ db, sessions, accountEmails, resetLimit: parts.resetLimit }))
    },
    { prefix: '/api/v1' },
  )
  await add(
    server,
    async (api) => {
      api.addHook(
        'onRequest',
        requireCaller({ db, sessions, keys, keyLimit: parts.keyLimit, userLimit: parts.userLimit }),
      )
      api.addHook('preSerialization', linkNextPage(config.BASE_URL))
      withScopes(api)
      const { emailChangeLimit } = parts
      await add(api, profileRoutes({ db, sessions, throttle, accountEmails, emailChangeLimit, transportOf }))
      await add(api, eventTypeRoutes())
      await add(
        api,
        async (organization) => {
          protectScheduled(organization, db)
          await add(
            organization,
            organizationRoutes({
              db,
              onChanged: (id) => addresses.forget(id),
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
              baseUrl: config.BASE_URL,
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
              baseUrl: config.BASE_URL,
              mibPerOrganization: parts.limits.imageMibPerOrganization,
            }),
          )
          await add(organization, brandRoutes({ db, read, baseUrl: config.BASE_URL }))
          await add(organization, flowRoutes({ db, read, senders, runner }))
          await add(organization, flowPartRoutes({ db, read }))
          await add(organization, draftRoutes({ db, senders, runner }))
          await add(organization, versionRoutes({ db, read }))
          await add(organization, previewRoutes({ db, runner }))
          await add(organization, linkCheckRoutes({ linkChecker: parts.linkChecker }))
          await add(organization, flowSendRoutes({ acceptor }))
          await add(organization, testEmailRoutes(testEmails))
          await add(organization, messageRoutes({ db, read, templates, runner, relay, mailFrom: parts.mail.mailFrom }))
          await add(organization, sendAgainRoutes({ db, acceptor, emails: parts.emails }))
          await add(organization, broadcastRoutes({ db, read, work: parts.work, runner }))
          await add(organization, broadcastPreviewRoutes({ read, templates, runner }))
          await add(
            organization,
            broadcastCheckRoutes({
              ...testEmails,
              read,
              readAudiences: parts.readAudiences,
              servers: parts.servers,
              mailFrom: parts.mail.mailFrom,
            }),
          )
          await add(organization, broadcastActionRoutes({ db, read }))
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
              servers: parts.servers,
              emails: parts,
            }),
          )
          await add(organization, domainRoutes({ ...parts.domains, read, shares: parts.shares }))
          await add(organization, warmUpRoutes({ db }))
          await add(organization, receivingSiteRoutes({ db, read, sites: parts.sites }))
          await add(
            organization,
            mailServerRoutes({
              db,
              read,
              box: parts.mailServerBox,
              allowPrivate: parts.allowPrivate,
              onChanged: (organizationId) => parts.servers.changed(organizationId),
              connector: parts.connector,
              shares: parts.shares,
              testLimit: parts.mailServerTestLimit,
              testMs: parts.limits.mailServerTestMs,
              onTested: async (mailServer, state) => {
                await recordState({ db, log: parts.log, onChange: recordMailServerChange }, mailServer, state)
                // So that waiting emails leave at once.
                if (state.kind === 'up' && mailServer.status === 'failing')
                  parts.servers.check(mailServer).catch(() => {})
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
              shares: parts.shares,
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
              shares: parts.shares,
            }),
          )
          await add(organization, privacyRoutes({ db, read, keys, throttle }))
        },
        { prefix: '/organization' },
      )
    },
    { prefix: '/api/v1' },
  )
  await add(server, async (api) => {
    api.addHook('onRequest', requireApiKey({ keys, keyLimit: parts.keyLimit }))
    await add(api, resendRoutes({ emails: parts.emails, uploads: parts.uploads, tasks, db, read }))
  })
  await add(
    server,
    mcpRoutes({
      server,
      routes: toolRoutes,
      confirmations: parts.confirmations,
      log: parts.log,
      baseUrl: config.BASE_URL,
      requireApiKey: requireApiKey({ keys, keyLimit: parts.keyLimit }),
    }),
  )
  await add(server, tlsRoutes(parts.trackingHosts))
  await add(server, providerRoutes({ config, db, tokens, events: parts.events, onSoftBounce: parts.onSoftBounce }))
  await add(
    server,
    mailServerReportRoutes({
      db,
      tokens,
      events: parts.events,
      onSoftBounce: parts.onSoftBounce,
      box: parts.mailServerBox,
      addresses: parts.webhookAddresses,
      shares: parts.shares,
    }),
  )
  await add(server, trackingRoutes({ tokens, hits, hitLimit: parts.hitLimit, addresses, pages: pageSender }))
  await add(server, imageFileRoutes(parts.servedImages))
  await add(server, async (pages) => {
    pages.addHook('onRequest', limitByAddress(parts.pageLimit))
    const { recipientNamesMsMax } = parts.limits
    const unsubscribing = {
      db,
      tokens,
      hits,
      addresses,
      pages: pageSender,
      baseUrl: config.BASE_URL,
      recipientNamesMsMax,
    }
    await add(pages, unsubscribeRoutes(unsubscribing))
    await registerWebApp(pages, config.BASE_URL)
  })
}

/** Fastify searches all loaded modules for the name of a plugin without one: 17 ms of CPU time for all routes. */
const pluginName = Symbol.for('fastify.display-name')

async function add(api: Server, plugin: FastifyPluginAsyncTypebox, options: { prefix?: string } = {}): Promise<void> {
  await api.register(Object.assign(plugin, { [pluginName]: 'routes' }), options)
}

/** Templates, contexts, attributes and provider reports need a larger limit than other routes. */
function allowLargeBodies(server: Server): void {
  server.addHook('onRoute', (route) => {
    if (largeBodies.test(route.url)) route.bodyLimit ??= largeBodyBytesMax
  })
}

function withBodyLimit(api: Server, bodyLimit: number): void {
  api.addHook('onRoute', (route) => {
    route.bodyLimit = bodyLimit
  })
}

/** Declares the roles and scopes that the guards of a route require in the OpenAPI document. */
function describePermissions(server: Server): void {
  server.addHook('onRoute', (route) => {
    const permission = permissionOf([route.onRequest ?? []].flat())
    if (permission) route.schema = Object.assign({ ...route.schema }, permission)
  })
}

/** Declares the credential of a group of routes in the OpenAPI document. */
function withSecurity(api: Server, scheme: 'apiKey' | 'session'): void {
  api.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, security: [{ [scheme]: [] }] }
  })
}

/** Sets the scope that API keys need for the routes of the management API, and declares it in the OpenAPI document. */
function withScopes(api: Server): void {
  api.addHook('onRoute', (route) => {
    const scope = scopeOfRoute([route.method].flat()[0]!, route.url)
    if (scope) route.config = { ...route.config, scope }
    const security = scope ? [{ session: [] }, { apiKey: [] }] : [{ session: [] }]
    route.schema = Object.assign({ ...route.schema, security }, scope && { 'x-scope': scope })
  })
}
