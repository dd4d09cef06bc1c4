import type { ApiKeyId, ImportId, UserId } from './ids.ts'

/**
 * Who changes something. `ip` and `requestId` are those of the request, if there is one. `email` and `permissions` are
 * those of a signed-in user.
 */
export type Actor = { ip?: string; requestId?: string } & (
  | { type: 'user'; id: UserId; email?: string; permissions?: readonly string[] }
  | { type: 'api_key'; id: ApiKeyId; isViaMcp?: boolean }
  | { type: 'import'; id: ImportId }
  | { type: 'recipient' | 'system'; id: null }
)

/** The service itself, which is the actor of every transaction that names no other. */
export const systemActor: Actor = { type: 'system', id: null }

/** The user, or null if the actor is another. For `created_by` and the like. */
export const userOf = (actor: Actor): UserId | null => (actor.type === 'user' ? actor.id : null)
