import type { FastifyRequest } from 'fastify'
import { memberOf } from '../accounts/guards.ts'
import type { Actor } from './history.ts'

/** The signed-in user, as the actor of a change to a contact. */
export const actorOf = (request: FastifyRequest): Actor => ({ type: 'user', id: memberOf(request).id })
