/** What an API key may do, by resource. */
export const scopes = [
  'contacts:read',
  'contacts:write',
  'flows:read',
  'flows:write',
  'flows:send',
  'messages:read',
  'messages:send',
  'broadcasts:read',
  'broadcasts:write',
  'broadcasts:send',
  'webhooks:read',
  'webhooks:write',
  'metrics:read',
  'analytics:read',
] as const
export type Scope = (typeof scopes)[number]

/** The scopes of a key that is created without any. Such a key can call the public API only. */
export const publicScopes: readonly Scope[] = ['contacts:write', 'flows:send', 'analytics:read']

/** Two names for the same: the public API calls it analytics, and the other scopes are named by resource. */
const metricScopes: readonly Scope[] = ['analytics:read', 'metrics:read']

/** What may send through flows may also send without one. */
export const hasScope = (granted: readonly Scope[], scope: Scope): boolean =>
  granted.includes(scope) ||
  (scope === 'messages:send' && granted.includes('flows:send')) ||
  (metricScopes.includes(scope) && metricScopes.some((name) => granted.includes(name)))

type Resource = 'contacts' | 'flows' | 'messages' | 'broadcasts' | 'webhooks' | 'metrics'

/** The resource of the paths below /api/v1/organization that API keys may call. All other paths need a signed-in user. */
const resources: Readonly<Record<string, Resource>> = {
  contacts: 'contacts',
  'bulk-actions': 'contacts',
  groups: 'contacts',
  imports: 'contacts',
  segments: 'contacts',
  suppressions: 'contacts',
  flows: 'flows',
  images: 'flows',
  brand: 'flows',
  'flow-parts': 'flows',
  messages: 'messages',
  broadcasts: 'broadcasts',
  webhooks: 'webhooks',
  deliveries: 'webhooks',
  'event-exports': 'webhooks',
  events: 'metrics',
  overview: 'metrics',
}

const exceptions: Readonly<Record<string, Scope | undefined>> = {
  'GET /api/v1/event-types': 'webhooks:read',
  'POST /api/v1/organization/flows/preview': 'flows:read',
  'POST /api/v1/organization/flows/:id/preview': 'flows:read',
  'POST /api/v1/organization/flows/check-links': 'flows:read',
  'DELETE /api/v1/organization/messages/:id': 'flows:send',
  'POST /api/v1/organization/broadcasts/:id/start': 'broadcasts:send',
  'POST /api/v1/organization/broadcasts/:id/schedule': 'broadcasts:send',
  'POST /api/v1/organization/broadcasts/:id/send-now': 'broadcasts:send',
  'POST /api/v1/organization/broadcasts/:id/resume': 'broadcasts:send',
  'POST /api/v1/organization/broadcasts/:id/choose-variant': 'broadcasts:send',
  'POST /api/v1/organization/broadcasts/:id/retry-failed': 'broadcasts:send',
  // Programs send through the public API.
  'POST /api/v1/organization/messages/:id/send-again': undefined,
  'POST /api/v1/organization/flows/:id/send': undefined,
  'POST /api/v1/organization/flows/:id/test': undefined,
}

/**
 * Returns the scope that an API key needs for a route of the management API. Returns undefined if API keys cannot call
 * it, which is the case for every route that is not listed here.
 */
export function scopeOfRoute(method: string, url: string): Scope | undefined {
  const name = `${method} ${url}`
  if (name in exceptions) return exceptions[name]
  const segment = /^\/api\/v1\/organization\/([\w-]+)/.exec(url)?.[1]
  const resource = segment === undefined ? undefined : resources[segment]
  if (!resource) return undefined
  const scope = `${resource}:${method === 'GET' ? 'read' : 'write'}`
  return scopes.find((each) => each === scope)
}
