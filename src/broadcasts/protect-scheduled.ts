import type { FastifyRequest, preHandlerAsyncHookHandler, RouteOptions } from 'fastify'
import { callerMayBroadcast, organizationIdOf } from '../accounts/people/guards.ts'
import { findSegmentAndUsers } from '../audience/segments/nested-segments.ts'
import type { Db } from '../platform/db/db.ts'
import type { Server } from '../platform/http/server.ts'
import { Refusal } from '../platform/values/errors.ts'
import { type FlowId, type OrganizationId, parseId, type SegmentId } from '../platform/values/ids.ts'
import { findScheduledWith } from './protect-scheduled.sql.ts'

type Request = FastifyRequest<{ Params: { id: string }; Body: Record<string, unknown> | null }>

type Used = { flowId: FlowId } | { segmentId: SegmentId }

const itsFlow = ({ params }: Request): Used | undefined => {
  const flowId = parseId('flw', params.id)
  return flowId && { flowId }
}

const used: Record<string, (request: Request) => Used | undefined> = {
  'PATCH /api/v1/organization/segments/:id': ({ params, body }) => {
    const segmentId = parseId('seg', params.id)
    return segmentId && body?.filter ? { segmentId } : undefined
  },
  'PATCH /api/v1/organization/flows/:id': (request) =>
    request.body && changesContent(request.body) ? itsFlow(request) : undefined,
  'POST /api/v1/organization/flows/:id/publish': itsFlow,
  'POST /api/v1/organization/flows/:id/rebuild': itsFlow,
}

const namesOnly = new Set(['name', 'status', 'base_version'])
const changesContent = (body: object) => Object.keys(body).some((field) => !namesOnly.has(field))

/**
 * Rejects changes of the flow or of a segment of a scheduled broadcast by callers who may not start broadcasts: they
 * would decide what many contacts get. Call it before the routes are registered.
 */
export function protectScheduled(api: Server, db: Db): void {
  api.addHook('onRoute', (route: RouteOptions) => {
    const usedBy = used[`${route.method} ${route.url}`]
    if (!usedBy) return
    const guard: preHandlerAsyncHookHandler = async (request) => {
      if (callerMayBroadcast(request)) return
      const changed = usedBy(request as Request)
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
async function findScheduled(db: Db, organizationId: OrganizationId, used: Used): Promise<string | undefined> {
  if ('flowId' in used) return findScheduledWith(db, organizationId, used)
  const segmentIds = await findSegmentAndUsers(db, organizationId, used.segmentId)
  return findScheduledWith(db, organizationId, { segmentIds })
}
