import type { FastifyInstance } from 'fastify'

/** Groups the routes that are registered afterwards under this tag of the API reference. */
export function tagRoutes(api: FastifyInstance, tag: string): void {
  api.addHook('onRoute', (route) => {
    route.schema = { tags: [tag], ...route.schema }
  })
}
