import { join } from 'node:path'
import { recordRequests } from './accounts/api-requests/record-requests.ts'
import { tokenCheckRoutes } from './accounts/people/api-keys.routes.ts'
import { authRoutes } from './accounts/people/auth.routes.ts'
import { permissionOf, requireApiKey, requireCaller } from './accounts/people/guards.ts'
import { acceptanceRoutes } from './accounts/people/invitations.routes.ts'
import { profileRoutes } from './accounts/people/profile.routes.ts'
import { recoveryRoutes } from './accounts/people/recovery.routes.ts'
import { scopeOfRoute } from './accounts/people/scopes.ts'
import { memberRoutes } from './audience/contacts/members.routes.ts'
import { FilterSchema } from './audience/segments/filter.ts'
import { imageFileRoutes } from './content/images/image-files.routes.ts'
import { tlsRoutes } from './delivery/domains/tls.routes.ts'
import { separateTrackingHosts } from './delivery/domains/tracking-hosts.ts'
import { mailServerReportRoutes } from './engagement/bounces/providers/mail-server-reports.routes.ts'
import { providerRoutes } from './engagement/bounces/providers/providers.routes.ts'
import { eventTypeRoutes } from './engagement/reports/event-types.routes.ts'
import { metricRoutes } from './engagement/reports/metrics.routes.ts'
import { trackingRoutes } from './engagement/tracking/tracking.routes.ts'
import { unsubscribeRoutes } from './engagement/tracking/unsubscribe.routes.ts'
import { feedRoutes } from './events/feed/feed.routes.ts'
import { registerDocumentation } from './operations/documentation/documentation.routes.ts'
import { collectToolRoutes, mcpRoutes } from './operations/mcp/mcp.routes.ts'
import { addOrganizationRoutes } from './organization-routes.ts'
import type { Parts, Role } from './parts.ts'
import type { Config } from './platform/config/config.ts'
import { add } from './platform/http/add-routes.ts'
import { limitByAddress } from './platform/http/address-limit.ts'
import { healthRoutes } from './platform/http/health.routes.ts'
import { isLocalUse, registerMetrics } from './platform/http/metrics.ts'
import { linkNextPage } from './platform/http/paging.ts'
import { findProblems, findWarnings, measureReadiness } from './platform/http/readiness.ts'
import { registerRobotsTxt } from './platform/http/robots-txt.ts'
import { registerSecurityTxt } from './platform/http/security-txt.ts'
import type { Server } from './platform/http/server.ts'
import { rejectUnknownParameters } from './platform/http/unknown-fields.ts'
import { registerWebApp } from './platform/http/web-app.ts'
import type { OrganizationId } from './platform/values/ids.ts'
import { emailResourceRoutes } from './sending/messages/email-resource.routes.ts'
import { emailRoutes } from './sending/messages/emails.routes.ts'
import { sendEmailRoutes } from './sending/messages/send-email.routes.ts'
import { resendRoutes } from './sending/resend/resend.routes.ts'

const largeBodies = /^\/(api\/v1\/organization\/(flows|contacts)|public\/api\/v1\/flow|providers)(\/|$)/
const largeBodyBytesMax = 1024 * 1024
/** Email addresses, passwords and tokens are short, and these routes need no credential. */
const signInBytesMax = 16 * 1024

/** The operational routes of every process. */
export async function registerOperatorRoutes(
  server: Server,
  { config, limits, db, metrics, metricsText, pause, sendingProcesses, baseUrl }: Parts,
  roles: readonly Role[],
): Promise<void> {
  const readiness = { db, directories: writtenDirectories(config, roles), freeMibMin: limits.diskFreeMibMin }
  measureReadiness(metrics, readiness)
  registerMetrics(server, {
    text: metricsText,
    token: config.METRICS_TOKEN,
    // WORK_PORT is only for operators.
    isAllowed: roles.includes('serve') ? isLocalUse(baseUrl) : () => true,
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
  const { config, db, keys, acceptor, addresses, read, tasks, baseUrl } = parts
  const { accountEmails, sessions, throttle, tokens, hits, pages: pageSender } = parts
  const transportOf = (organizationId: OrganizationId) => parts.servers.transportOf(organizationId)
  allowLargeBodies(server)
  describePermissions(server)
  rejectUnknownParameters(server)
  server.addSchema(FilterSchema)
  server.decorateRequest('apiKey', null)
  server.decorateRequest('member', null)
  server.decorateRequest('trackingHostOf', null)
  server.addHook('onRequest', separateTrackingHosts(parts.trackingHosts))
  recordRequests(server, parts.apiRequests, keys)
  const toolRoutes = collectToolRoutes(server)
  registerRobotsTxt(server, limitByAddress(parts.pageLimit))
  registerSecurityTxt(server, {
    contact: config.SECURITY_CONTACT,
    baseUrl,
    onRequest: limitByAddress(parts.pageLimit),
  })
  registerDocumentation(server, { baseUrl, onRequest: limitByAddress(parts.pageLimit) })
  await registerOperatorRoutes(server, parts, roles)

  await add(
    server,
    async (api) => {
      api.addHook('onRequest', requireApiKey({ keys, keyLimit: parts.keyLimit }))
      withSecurity(api, 'apiKey')
      await add(api, tokenCheckRoutes())
      await add(api, memberRoutes({ members: parts.members, stageRegistry: parts.stageRegistry }))
      await add(api, sendEmailRoutes({ acceptor, db, uploads: parts.uploads }))
      await add(api, emailRoutes({ emails: parts.emails, uploads: parts.uploads, tasks, stages: parts.stages }))
      await add(api, emailResourceRoutes({ db, read }))
      await add(api, metricRoutes({ read: parts.readMetrics }))
      await add(
        api,
        feedRoutes({
          read: parts.readMetrics,
          waiting: parts.feedReaders,
          stageRegistry: parts.stageRegistry,
          streamLimits: parts.limits.eventStreams,
        }),
      )
    },
    { prefix: '/public/api/v1' },
  )

  await add(
    server,
    async (api) => {
      api.addHook('onRequest', limitByAddress(parts.signInLimit))
      withBodyLimit(api, signInBytesMax)
      await add(api, authRoutes({ db, sessions, throttle, accountEmails, signup: config.SIGNUP }))
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
      api.addHook('preSerialization', linkNextPage(baseUrl))
      withScopes(api)
      const { emailChangeLimit } = parts
      await add(api, profileRoutes({ db, sessions, throttle, accountEmails, emailChangeLimit, transportOf }))
      await add(api, eventTypeRoutes())
      await add(
        api,
        async (organization) => {
          await addOrganizationRoutes(organization, parts)
        },
        { prefix: '/organization' },
      )
    },
    { prefix: '/api/v1' },
  )
  await add(server, async (api) => {
    api.addHook('onRequest', requireApiKey({ keys, keyLimit: parts.keyLimit }))
    await add(
      api,
      resendRoutes({ emails: parts.emails, uploads: parts.uploads, tasks, stages: parts.stages, db, read }),
    )
  })
  await add(
    server,
    mcpRoutes({
      server,
      routes: toolRoutes,
      confirmations: parts.confirmations,
      log: parts.log,
      baseUrl,
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
      stages: parts.stages,
    }),
  )
  await add(server, trackingRoutes({ tokens, hits, hitLimit: parts.hitLimit, addresses, pages: pageSender }))
  await add(server, imageFileRoutes({ images: parts.servedImages, missLimit: parts.pageLimit }))
  await add(server, async (pages) => {
    pages.addHook('onRequest', limitByAddress(parts.pageLimit))
    const { recipientNamesMsMax } = parts.limits
    const unsubscribing = {
      db,
      tokens,
      hits,
      addresses,
      pages: pageSender,
      baseUrl,
      recipientNamesMsMax,
    }
    await add(pages, unsubscribeRoutes(unsubscribing))
    await registerWebApp(pages, baseUrl)
  })
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
