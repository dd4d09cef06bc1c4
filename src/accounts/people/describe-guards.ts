import type { Server } from '../../platform/http/server.ts'
import { permissionOf } from './guards.ts'
import { scopeOfRoute } from './scopes.ts'

/** Declares the roles and scopes that the guards of a route require in the OpenAPI document. */
export function describePermissions(server: Server): void {
  server.addHook('onRoute', (route) => {
    const permission = permissionOf([route.onRequest ?? []].flat())
    if (permission) route.schema = Object.assign({ ...route.schema }, permission)
  })
}

/** Declares the credential of a group of routes in the OpenAPI document. */
export function withSecurity(api: Server, scheme: 'apiKey' | 'session'): void {
  api.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, security: [{ [scheme]: [] }] }
  })
}

/** Sets the scope that API keys need for the routes of the management API, and declares it in the OpenAPI document. */
export function withScopes(api: Server): void {
  api.addHook('onRoute', (route) => {
    const scope = scopeOfRoute([route.method].flat()[0]!, route.url)
    if (scope) route.config = { ...route.config, scope }
    const security = scope ? [{ session: [] }, { apiKey: [] }] : [{ session: [] }]
    route.schema = Object.assign({ ...route.schema, security }, scope && { 'x-scope': scope })
  })
}
