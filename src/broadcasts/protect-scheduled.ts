import type { preHandlerAsyncHookHandler, RouteOptions } from 'fastify'
import { may, organizationIdOf } from '../accounts/accounts.ts'
import { findSegmentAndUsers } from '../audience/audience.ts'
import type { Db } from '../platform/db/db.ts'
import type { UsedByBroadcasts } from '../platform/http/policies.ts'
import type { Server } from '../platform/http/server.ts'
import { Refusal } from '../platform/values/errors.ts'
import type { OrganizationId } from '../platform/values/ids.ts'
import { findScheduledWith } from './protect-scheduled.sql.ts'

/** Enforces `changesScheduled` of routes. Call it before they are registered. */
export function protectScheduled(api: Server, db: Db): void {
  api.addHook('onRoute', (route: RouteOptions) => {
    const usedBy = route.config?.changesScheduled
    if (!usedBy) return
    const guard: preHandlerAsyncHookHandler = async (request) => {
      if (may(request, 'broadcasts:send')) return
      const changed = usedBy(request)
      const name = changed && (await findScheduled(db, organizationIdOf(request), changed))
      if (name !== undefined)
        throw new Refusal(
          'forbidden',
          `The scheduled broadcast “${name}” uses this. Only people who may start broadcasts can change it until the broadcast starts.`,
        )
    }
    route.preHandler = [...[route.preHandler ?? []].flat(), guard]
  })
}

/** A change of a segment also affects broadcasts to segments that name it. */
async function findScheduled(
  db: Db,
  organizationId: OrganizationId,
  used: UsedByBroadcasts,
): Promise<string | undefined> {
  if ('flowId' in used) return findScheduledWith(db, organizationId, used)
  const segmentIds = await findSegmentAndUsers(db, organizationId, used.segmentId)
  return findScheduledWith(db, organizationId, { segmentIds })
}
