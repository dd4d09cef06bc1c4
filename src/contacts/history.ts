import type { ApiKeyId, ImportId, UserId } from '../values/ids.ts'

/** Who changed a contact. Names of users, keys and imports are looked up when the history is read. */
export type Actor =
  | { type: 'user'; id: UserId }
  | { type: 'api_key'; id: ApiKeyId }
  | { type: 'import'; id: ImportId }
  | { type: 'recipient' | 'system'; id: null }

export const actorTypes = ['user', 'api_key', 'import', 'recipient', 'system'] as const
export type ActorType = Actor['type']

/** `created` and `group_added` are also derived from the rows of the contact and its memberships, see `selectTimeline`. */
export const changes = [
  'created',
  'edited',
  'subscribed',
  'unsubscribed',
  'suppressed',
  'unsuppressed',
  'group_added',
  'group_removed',
] as const
export type Change = (typeof changes)[number]
