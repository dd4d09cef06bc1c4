import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { within } from '../runtime/within.ts'
import { Refusal } from '../values/errors.ts'
import { answers, errorsOnly, ok } from './envelope.ts'

const Health = Type.Object({
  code: Type.Literal(0),
  status: Type.Literal('success'),
  message: Type.String(),
  data: Type.String(),
})

const retrySeconds = 2
const readyWithinMs = 2_000

export function healthRoutes({ isReady }: { isReady: () => Promise<boolean> }): FastifyPluginAsyncTypebox {
  return async (server) => {
    // Says that the process answers, and never asks the database: a restart would not mend that.
    server.get(
      '/health',
      { schema: { tags: ['Health'], summary: 'Is the process up?', response: { 200: Health, ...errorsOnly } } },
      async () => ({
        code: 0 as const,
        status: 'success' as const,
        message: 'ok',
        data: 'ok',
      }),
    )

    server.get(
      '/ready',
      { schema: { tags: ['Health'], summary: 'Can it serve requests?', response: answers(Type.String()) } },
      async () => {
        if (await within(readyWithinMs, isReady()).catch(() => false)) return ok('ready', 'ready')
        throw new Refusal('unavailable', 'The database does not answer, takes nothing now, or is not migrated yet.', {
          retryAfterSeconds: retrySeconds,
        })
      },
    )
  }
}
