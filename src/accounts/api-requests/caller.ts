import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../platform/values/actor.ts'
import { memberOf } from '../people/guards.ts'
import { permissionsOf } from '../people/permissions.ts'
import { isViaMcp } from './record-requests.ts'

/** The signed-in user or the API key, as the actor of the transactions of the request. */
export function callerOf(request: FastifyRequest): Actor {
  const { apiKey, ip, id: requestId } = request
  if (apiKey) return { type: 'api_key', id: apiKey.id, isViaMcp: isViaMcp(request), ip, requestId }
  const member = memberOf(request)
  return { type: 'user', id: member.id, email: member.email, permissions: permissionsOf(member), ip, requestId }
}
