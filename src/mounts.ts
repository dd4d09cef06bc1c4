import { recordRequests } from './accounts/api-requests/record-requests.ts'
import type { Accounts } from './accounts/area.ts'
import { requireApiKey, requireCaller } from './accounts/people/guards.ts'
import { requirePermissions } from './accounts/people/route-permissions.ts'
import { FilterSchema } from './audience/segments/filter.ts'
import { protectScheduled } from './broadcasts/protect-scheduled.ts'
import { restrictTrackingHosts, type TrackingHosts } from './delivery/domains/tracking-hosts.ts'
import { registerDocumentation } from './operations/documentation/documentation.routes.ts'
import { Confirmations } from './operations/mcp/confirmations.ts'
import { collectToolRoutes, mcpRoutes } from './operations/mcp/mcp.routes.ts'
import type { Area, Mount } from './platform/area.ts'
import { add } from './platform/http/add-routes.ts'
import { limitByAddress } from './platform/http/address-limit.ts'
import { linkNextPage } from './platform/http/paging.ts'
import { withBodyLimit } from './platform/http/policies.ts'
import { registerRobotsTxt } from './platform/http/robots-txt.ts'
import { registerSecurityTxt } from './platform/http/security-txt.ts'
import type { Server } from './platform/http/server.ts'
import { rejectUnknownParameters } from './platform/http/unknown-fields.ts'
import { registerWebApp } from './platform/http/web-app.ts'
import type { Platform } from './platform/platform.ts'

/** Email addresses, passwords and tokens are short, and these routes need no credential. */
const signInBytesMax = 16 * 1024

type Served = { accounts: Accounts; trackingHosts: TrackingHosts; areas: readonly Area[] }

/** Registers the routes of all areas with the guards of their mounts. */
export async function mountRoutes(
  server: Server,
  platform: Platform,
  served: Served,
  addOperatorRoutes: () => Promise<void>,
): Promise<void> {
  const { db, log, baseUrl } = platform
  const { keys, keyLimit, inFlight, apiRequests, signInLimit } = served.accounts
  const limitPages = limitByAddress(platform.pageLimit)
  const withKey = requireApiKey({ keys, keyLimit, inFlight })
  const addAll = async (api: Server, mount: Mount) => {
    for (const { routes } of served.areas) for (const plugin of routes?.[mount] ?? []) await add(api, plugin)
  }
  requirePermissions(server)
  rejectUnknownParameters(server)
  server.addSchema(FilterSchema)
  server.decorateRequest('apiKey', null)
  server.decorateRequest('member', null)
  server.decorateRequest('linkHostOrganization', null)
  server.addHook('onRequest', restrictTrackingHosts(served.trackingHosts))
  recordRequests(server, apiRequests, keys)
  const toolRoutes = collectToolRoutes(server)
  registerRobotsTxt(server, limitPages)
  registerSecurityTxt(server, { contact: platform.config.SECURITY_CONTACT, baseUrl, onRequest: limitPages })
  registerDocumentation(server, { baseUrl, onRequest: limitPages })
  await addOperatorRoutes()

  const groups: [Mount, prefix: string, prepare: (api: Server) => void][] = [
    ['publicApi', '/public/api/v1', (api) => api.addHook('onRequest', withKey)],
    [
      'signIn',
      '/api/v1',
      (api) => {
        api.addHook('onRequest', limitByAddress(signInLimit))
        withBodyLimit(api, signInBytesMax)
      },
    ],
    ['resend', '', (api) => api.addHook('onRequest', withKey)],
    ['site', '', () => {}],
  ]
  for (const [mount, prefix, prepare] of groups)
    await add(
      server,
      async (api) => {
        prepare(api)
        await addAll(api, mount)
      },
      { prefix },
    )
  await mountManagement(server, platform, served, addAll)
  const mcp = { server, routes: toolRoutes, confirmations: new Confirmations(db), log, baseUrl, requireApiKey: withKey }
  await add(server, mcpRoutes(mcp))
  await add(server, async (pages) => {
    pages.addHook('onRequest', limitPages)
    await addAll(pages, 'pages')
    await registerWebApp(pages, baseUrl)
  })
}

/** The management API, for people and for keys with a scope. */
function mountManagement(
  server: Server,
  { db, baseUrl }: Platform,
  { accounts: { keys, sessions, keyLimit, userLimit, inFlight } }: Served,
  addAll: (api: Server, mount: Mount) => Promise<void>,
): Promise<void> {
  return add(
    server,
    async (api) => {
      api.addHook('onRequest', requireCaller({ db, sessions, keys, keyLimit, userLimit, inFlight }))
      api.addHook('preSerialization', linkNextPage(baseUrl))
      await addAll(api, 'member')
      await add(
        api,
        async (organization) => {
          protectScheduled(organization, db)
          await addAll(organization, 'organization')
        },
        { prefix: '/organization' },
      )
    },
    { prefix: '/api/v1' },
  )
}
