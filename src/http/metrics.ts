import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Server } from './server.ts'

/** Creates the Prometheus registry with the default metrics. */
export function createMetrics(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return registry
}

export function registerMetrics(server: Server, registry: Registry): void {
  server.get('/metrics', { schema: { hide: true } }, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  )
}
