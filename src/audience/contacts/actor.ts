import type { FastifyRequest } from 'fastify'
import { memberOf } from '../../accounts/accounts.ts'
import type { Actor } from './history.ts'

/** The signed-in user or the API key, as the actor of a change to a contact. */
export const actorOf = (request: FastifyRequest): Actor =>
  request.apiKey
    ? { type: 'api_key', id: request.apiKey.id, ip: request.ip }
    : { type: 'user', id: memberOf(request).id, ip: request.ip }
