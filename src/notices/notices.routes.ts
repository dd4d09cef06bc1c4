import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { memberOf } from '../accounts/guards.ts'
import type { BoundedRead } from '../db/bounded-read.ts'
import { answers, Nullable, ok, oneOf, Timestamp } from '../http/envelope.ts'
import { toText } from '../values/ids.ts'
import { type Notice, selectNotices } from './notices.sql.ts'

const shown = 20

const NoticeOut = Type.Object({
  id: Type.String(),
  kind: oneOf('webhook_paused', 'webhook_failing'),
  title: Type.String(),
  detail: Type.String(),
  webhook_id: Nullable(Type.String()),
  created_at: Timestamp,
})

export function noticeRoutes({ read }: { read: BoundedRead }): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get(
      '/notices',
      {
        schema: {
          tags: ['Organization'],
          summary: 'List recent notices',
          description: `The newest ${shown} notices about failing and paused webhooks.`,
          response: answers(Type.Array(NoticeOut)),
        },
      },
      async (request) => {
        const { organizationId } = memberOf(request)
        return ok((await read(organizationId, (tx) => selectNotices(tx, organizationId, shown))).map(noticeOut))
      },
    )
  }
}

const noticeOut = (notice: Notice) => ({
  id: toText('ntc', notice.id),
  kind: notice.kind,
  title: notice.title,
  detail: notice.detail,
  webhook_id: notice.webhookId && toText('whk', notice.webhookId),
  created_at: notice.createdAt.toISOString(),
})
