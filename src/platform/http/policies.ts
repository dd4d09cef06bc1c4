import type { FlowId, SegmentId } from '../values/ids.ts'
import type { Server } from './server.ts'

/** The `bodyLimit` of routes for templates, contexts, attributes and reports of providers. */
export const largeBodyBytesMax = 1024 * 1024

/** What scheduled broadcasts may use. */
export type UsedByBroadcasts = { flowId: FlowId } | { segmentId: SegmentId }

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Returns what the request changes of it, if anything. While a scheduled broadcast uses it, only people who may start
     * broadcasts can change it: they would decide what many contacts get.
     */
    changesScheduled?: (request: FastifyRequest) => UsedByBroadcasts | undefined
  }
}

/** Limits the bodies of the routes of `api`. */
export function withBodyLimit(api: Server, bodyLimit: number): void {
  api.addHook('onRoute', (route) => {
    route.bodyLimit = bodyLimit
  })
}
