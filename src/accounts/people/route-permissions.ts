import type { FastifyRequest, onRequestHookHandler, preValidationAsyncHookHandler } from 'fastify'
import type { Server } from '../../platform/http/server.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { may } from './guards.ts'
import { type Permission, personMay, type RoutePermission, scopeOf } from './permissions.ts'
import { hasScope, type Scope } from './scopes.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the caller needs, enforced and documented by `requirePermissions`. */
    permission: RoutePermission
    /**
     * Whether the request is about something that belongs to the whole installation, so that the caller also needs
     * `installation:write`. Called before the body is validated, so that the answer does not depend on it.
     */
    ofInstallation?: (request: FastifyRequest) => boolean | Promise<boolean>
  }
}

/**
 * Enforces the permission that each route declares, for sessions and keys, and describes it in the API document. Throws for
 * a route without one. Call it before the routes are registered.
 */
export function requirePermissions(server: Server): void {
  server.addHook('onRoute', (route) => {
    const { permission, ofInstallation } = route.config ?? {}
    if (!permission) throw new Error(`The route ${route.method} ${route.url} declares no permission.`)
    const scope = scopeOf(permission)
    const isManagement = route.url.startsWith('/api/')
    const schemes = [...(isManagement ? ['session'] : []), ...(!isManagement || scope ? ['apiKey'] : [])]
    route.schema = Object.assign(
      { ...route.schema },
      {
        security: permission === 'public' ? [] : schemes.map((scheme) => ({ [scheme]: [] })),
        'x-permission': permission,
        ...(ofInstallation && { 'x-installation-permission': 'installation:write' }),
        ...(scope && { 'x-scope': scope }),
      },
    )
    if (permission === 'public' || permission === 'apiKey') return
    const guard: onRequestHookHandler = (request, _reply, done) =>
      done(refusalOf(request, permission, scope, isManagement))
    // After the guard of its group of routes, which knows the caller.
    route.onRequest = [guard, ...[route.onRequest ?? []].flat()]
    if (!ofInstallation) return
    const guardInstallation: preValidationAsyncHookHandler = async (request) => {
      if (!may(request, 'installation:write') && (await ofInstallation(request))) throw lackOf('installation:write')
    }
    route.preValidation = [guardInstallation, ...[route.preValidation ?? []].flat()]
  })
}

function refusalOf(
  { apiKey: key, member }: FastifyRequest,
  permission: Permission,
  scope: Scope | undefined,
  isManagement: boolean,
): Refusal | undefined {
  if (!key) return member && personMay(member, permission) ? undefined : lackOf(permission)
  if (!scope) return new Refusal('forbidden', 'API keys cannot call this operation. It requires a signed-in user.')
  if (key.publicOnly && isManagement)
    return new Refusal(
      'insufficient_scope',
      `This API key can call the public API only. Create a key with the scope ${scope}.`,
    )
  if (!hasScope(key.scopes, scope))
    return new Refusal('insufficient_scope', `This API key does not have the scope ${scope}.`)
  if (scope === 'broadcasts:send' && !key.creatorMayBroadcast)
    return new Refusal(
      'forbidden',
      "The person who created this API key can't start broadcasts or has left the organization. Create a new key.",
    )
  return undefined
}

/** Returns the rejection of a person without the permission. */
export function lackOf(permission: Permission): Refusal {
  if (permission.startsWith('installation:'))
    return new Refusal('forbidden', 'Only owners of the organization that runs this installation can do this.')
  if (permission === 'broadcasts:send')
    return new Refusal('forbidden', "You can't start broadcasts. Ask an owner for permission.")
  return new Refusal('forbidden', 'Only owners of the organization can do this.')
}
