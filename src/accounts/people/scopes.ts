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
