import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { memberOf } from '../../accounts/people/guards.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { answers, Named, Nullable, ok, oneOf, Timestamp } from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { noticeKinds, selectNotices } from './notices.sql.ts'

const shown = 20

const NoticeOut = Named('Notice', {
  id: Type.String(),
  kind: oneOf(...noticeKinds),
  title: Type.String(),
  detail: Type.String(),
  webhook_id: Nullable(Type.String()),
  path: Nullable(Type.String({ description: 'The page of the web app with details.' })),
  created_at: Timestamp,
})

export function noticeRoutes({ read }: { read: BoundedRead }): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get('/notices', {
      schema: {
        tags: ['Organization'],
        operationId: 'listNotices',
        summary: 'List recent notices',
        description: `The newest ${shown} notices, such as failing webhooks, an unreachable mail server and finished imports, newest first. Notices are also sent by email to the owners.`,
        response: answers(Type.Array(NoticeOut)),
      },
      handler: async (request) => {
        const { organizationId } = memberOf(request)
        return ok((await read(organizationId, (tx) => selectNotices(tx, organizationId, shown))).map(noticeOut))
      },
    })
  }
}

const noticeOut = outOf(NoticeOut, { id: 'ntc', webhook_id: 'whk' })
