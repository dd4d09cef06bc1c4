import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Server } from './server.ts'

/** Figures for operators. Each part registers its own with the registry it is given. */
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
