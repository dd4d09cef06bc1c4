import type { FlowId, SegmentId } from '../values/ids.ts'
import type { Server } from './server.ts'

/** The `bodyLimit` of routes for templates, contexts, attributes and reports of providers. */
export const largeBodyBytesMax = 1024 * 1024

/** What scheduled broadcasts may use. */
export type UsedByBroadcasts = { flowId: FlowId } | { segmentId: SegmentId }

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Call it before a change, in routes of organizations. Throws `Refusal` if a scheduled broadcast uses what is changed and
     * the caller may not start broadcasts: they would decide what many contacts get.
     */
    checkScheduled(changed: UsedByBroadcasts): Promise<void>
  }
}

/** Limits the bodies of the routes of `api`. */
export function withBodyLimit(api: Server, bodyLimit: number): void {
  api.addHook('onRoute', (route) => {
    route.bodyLimit = bodyLimit
  })
}
