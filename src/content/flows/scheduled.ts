import type { FastifyRequest } from 'fastify'
import type { UsedByBroadcasts } from '../../platform/http/policies.ts'
import { parseId } from '../../platform/values/ids.ts'

/** For `changesScheduled` of routes that change the flow in their path. */
export function itsFlow({ params }: FastifyRequest): UsedByBroadcasts | undefined {
  const flowId = parseId('flw', (params as { id: string }).id)
  return flowId && { flowId }
}

const namesOnly = new Set(['name', 'status', 'base_version'])
/** Whether a change of a flow changes its emails. */
export const changesContent = (body: unknown) => Object.keys(body ?? {}).some((field) => !namesOnly.has(field))
