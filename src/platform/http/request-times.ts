import type { FastifyReply, FastifyRequest } from 'fastify'
import { Histogram, type Registry } from 'prom-client'
import type { Server } from './server.ts'

/** Few, because each route has a series for every one of them. */
const bucketSeconds = [0.01, 0.05, 0.25, 1, 5]

/** Measures the requests of each route. */
export function measureRequests(server: Server, registry: Registry): void {
  const times = new Histogram({
    name: 'waxwing_http_request_seconds',
    help: 'Duration of HTTP requests, by method, route and class of the status code.',
    labelNames: ['method', 'route', 'status'],
    buckets: bucketSeconds,
    registers: [registry],
  })
  server.addHook('onResponse', (request: FastifyRequest, reply: FastifyReply, done) => {
    times.observe(labelsOf(request, reply), reply.elapsedTime / 1000)
    done()
  })
}

/** Requests without a route share one label: their methods and paths are chosen by the client. */
function labelsOf({ method, routeOptions: { url } }: FastifyRequest, { statusCode }: FastifyReply) {
  const status = `${Math.floor(statusCode / 100)}xx`
  return url === undefined ? { method: '', route: 'none', status } : { method, route: url, status }
}
