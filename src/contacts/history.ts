import type { EventSource } from '../values/event-types.ts'
import { type ApiKeyId, type ImportId, type Prefix, toText, type UserId } from '../values/ids.ts'

/**
 * Who changed a contact. Names of users, keys and imports are looked up when the history is read. `ip` is stored only if
 * the organization stores addresses.
 */
export type Actor =
  | { type: 'user'; id: UserId; ip?: string }
  | { type: 'api_key'; id: ApiKeyId; ip?: string }
  | { type: 'import'; id: ImportId; ip?: never }
  | { type: 'recipient' | 'system'; id: null; ip?: string }

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

/** Prefixes of the ids of actors that have one. */
const actorPrefixes: Partial<Record<ActorType, Prefix>> = { user: 'usr', api_key: 'key', import: 'imp' }

/** The id of an actor as text; null if it has none. */
export function actorIdText(type: ActorType | null, id: string | null): string | null {
  const prefix = type && actorPrefixes[type]
  return prefix && id ? toText(prefix, id as never) : null
}

export const sourceOf = ({ type, id }: Actor): EventSource => ({ type, id: actorIdText(type, id) })
