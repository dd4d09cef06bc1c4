import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { Refusal } from '../values/errors.ts'
import { answers, errorsOnly, Named, ok } from './envelope.ts'

const Health = Named('Health', {
  code: Type.Literal(0),
  status: Type.Literal('success'),
  message: Type.String(),
  data: Type.String(),
})

const retrySeconds = 2

export function healthRoutes({
  findProblems,
  findWarnings,
}: {
  /** Returns the reasons why the process is not ready. */
  findProblems: () => Promise<string[]>
  /** Returns problems that do not concern all requests, so that the process stays in service. */
  findWarnings: () => Promise<string[]>
}): FastifyPluginAsyncTypebox {
  return async (server) => {
    // Does not check the database, because restarting the process would not fix it.
    server.get('/health', {
      config: { permission: 'public' },
      schema: {
        tags: ['Health'],
        operationId: 'getHealth',
        summary: 'Check that the process is running',
        description:
          '`code` is 0 in this response; everywhere else it repeats the HTTP status. For liveness checks. Does not use the database, because restarting the process would not fix it. `code` is 0 in this response.',
        response: { 200: Health, ...errorsOnly },
      },
      handler: async () => ({ code: 0 as const, status: 'success' as const, message: 'ok', data: 'ok' }),
    })

    server.get('/ready', {
      config: { permission: 'public' },
      schema: {
        tags: ['Health'],
        operationId: 'getReady',
        summary: 'Check that the service is ready',
        description: 'For readiness checks. Responds with 200 if the database is reachable, writable and migrated.',
        response: answers(Type.String()),
      },
      handler: async () => {
        const problems = await findProblems()
        if (problems.length === 0) return ok('ready', ['ready', ...(await findWarnings())].join('. '))
        throw new Refusal('unavailable', problems.join(' '), { retryAfterSeconds: retrySeconds })
      },
    })
  }
}
