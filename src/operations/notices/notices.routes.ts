import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { memberOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db, Reader } from '../../platform/db/db.ts'
import { answers, IdParams, Named, Nothing, Nullable, ok, oneOf, Timestamp } from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { notFound } from '../../platform/values/errors.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { type Notice, noticeKinds, noticeStates, selectNotices, updateDismissed } from './notices.sql.ts'

const shown = 20
/** More problems at the same time are not shown. */
const openMax = 100

const NoticeOut = Named('Notice', {
  id: Type.String(),
  kind: oneOf(...noticeKinds),
  title: Type.String(),
  detail: Type.String(),
  webhook_id: Nullable(Type.String()),
  path: Nullable(Type.String({ description: 'The page of the web app with details.' })),
  state: {
    ...oneOf(...noticeStates),
    description:
      '`open` while the problem lasts and nobody has dismissed the notice. Of several notices of the same kind about the same object, only the newest can be open. Notices about rates, and about what was given up after internal errors, are open for a day, and then there is another one if it continues. Other notices about something that does not last are open for seven days.',
  },
  created_at: Timestamp,
})

export type NoticeRouteParts = {
  db: Db
  read: BoundedRead
  /** Whether the mail server in SMTP_URL does not accept email. */
  isRelayFailing: (db: Reader, organizationId: OrganizationId) => Promise<boolean>
}

export function noticeRoutes({ db, read, isRelayFailing }: NoticeRouteParts): FastifyPluginAsyncTypebox {
  const find = (organizationId: OrganizationId, onlyOpen: boolean) =>
    read(organizationId, async (tx) => {
      const notices = await selectNotices(tx, organizationId, { onlyOpen, limit: onlyOpen ? openMax : shown })
      const isOutage = ({ kind, state }: Notice) => kind === 'relay_down' && state === 'open'
      if (!notices.some(isOutage) || (await isRelayFailing(tx, organizationId))) return notices
      if (onlyOpen) return notices.filter((notice) => !isOutage(notice))
      return notices.map((notice) => (isOutage(notice) ? { ...notice, state: 'resolved' as const } : notice))
    })
  return async (api) => {
    api.get('/notices', {
      config: { permission: 'notices:read' },
      schema: {
        tags: ['Organization'],
        operationId: 'listNotices',
        summary: 'List recent notices',
        description: `The newest ${shown} notices, such as failing webhooks, an unreachable mail server and finished imports, newest first. With \`state=open\`, all that are open, however old they are. Notices are also sent by email to the owners.`,
        querystring: Type.Object({
          state: Type.Optional({ ...oneOf('open'), description: 'Only notices in this state.' }),
        }),
        response: answers(Type.Array(NoticeOut)),
      },
      handler: async (request) => {
        const { organizationId } = memberOf(request)
        return ok((await find(organizationId, request.query.state === 'open')).map(noticeOut))
      },
    })

    api.post('/notices/:id/dismiss', {
      config: { permission: 'notices:write' },
      schema: {
        tags: ['Organization'],
        operationId: 'dismissNotice',
        summary: 'Dismiss a notice',
        description:
          'Owners only. The notice is no longer open, for everybody in the organization. It stays in the list. The next time that the same happens, there is another notice.',
        params: IdParams,
        response: answers(Nothing),
      },
      handler: async (request) => {
        const { organizationId, id: userId } = memberOf(request)
        const id = parseIdParam('ntc', request.params.id)
        if (!(await updateDismissed(db.statement, organizationId, id, userId))) throw notFound('notice')
        return ok(null, 'Notice dismissed')
      },
    })
  }
}

const noticeOut = outOf(NoticeOut, { id: 'ntc', webhook_id: 'whk' })
