import type { Tx } from '../../platform/db/db.ts'
import type { Actor } from '../../platform/values/actor.ts'
import type { EventSource } from '../../platform/values/event-types.ts'
import {
  type ApiKeyId,
  type ContactId,
  type EventId,
  type GroupId,
  type ImportId,
  newId,
  type OrganizationId,
  type Prefix,
  toText,
  type UserId,
} from '../../platform/values/ids.ts'

/** Names of users, keys and imports are looked up when the history is read. */
export const actorTypes = ['user', 'api_key', 'import', 'recipient', 'system'] as const
export type ActorType = Actor['type']

/** `created` and `group_added` are also derived from the contact and its memberships (engagement/reports/timeline.sql.ts). */
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

/** Returns the actor whose type and id were stored. Throws if a user, a key or an import has no id, which is a bug. */
export function storedActor(type: ActorType, id: string | null): Actor {
  if (type === 'recipient' || type === 'system') return { type, id: null }
  if (id === null) throw new TypeError(`An actor of the type ${type} has no id`)
  switch (type) {
    case 'user':
      return { type, id: id as UserId }
    case 'api_key':
      return { type, id: id as ApiKeyId }
    case 'import':
      return { type, id: id as ImportId }
  }
}

/** Id prefixes of the actors that have an id. */
const actorPrefixes: Partial<Record<ActorType, Prefix>> = { user: 'usr', api_key: 'key', import: 'imp' }

/** The id of an actor as text; null if it has none. */
export function actorIdText(type: ActorType | null, id: string | null): string | null {
  const prefix = type && actorPrefixes[type]
  return prefix && id ? toText(prefix, id as never) : null
}

/** Of the events of a transaction. */
export const sourceOf = ({ actor: { type, id } }: Pick<Tx, 'actor'>): EventSource => ({
  type,
  id: actorIdText(type, id),
})

/** How many entries are kept per contact. */
const entriesMax = 1_000

export type HistoryEntry = {
  contactId: ContactId
  type: Change
  /** Unless it is the actor of the transaction. */
  actor?: { type: ActorType; id: string | null; ip?: string }
  /** Names of changed fields, reasons of suppressions or the id of a group; never personal data. */
  details?: { fields?: string[]; reasons?: string[]; group_id?: GroupId }
  /** The event that records the same change. The timeline shows only the event, with this actor. */
  eventId?: EventId
  /** The present if omitted. */
  at?: Date
}

/** Adds the same entry to the histories of several contacts. */
export const recordChange = (
  tx: Tx,
  organizationId: OrganizationId,
  ids: readonly ContactId[],
  entry: Pick<HistoryEntry, 'type' | 'details'>,
): void =>
  insertHistory(
    tx,
    organizationId,
    ids.map((contactId) => ({ contactId, ...entry })),
  )

/**
 * Adds entries to the histories of contacts. An event gets one entry, even if it is recorded again. If all entries are
 * about one contact, its oldest entries beyond the limit are deleted.
 */
export function insertHistory(tx: Tx, organizationId: OrganizationId, entries: readonly HistoryEntry[]): void {
  const [first] = entries
  if (!first) return
  const actors = entries.map(({ actor }) => actor ?? tx.actor)
  tx.send`
    insert into contact_history (organization_id, contact_id, at, id, type, actor_type, actor_id, ip, details)
    select ${organizationId}::uuid, contact_id, coalesce(at, now()), entry.id, type, actor_type, actor_id,
      case when keep_addresses then ip end, details::jsonb
    from unnest(
      ${entries.map(({ contactId }) => contactId)}::uuid[],
      ${entries.map(({ at }) => at ?? null)}::timestamptz[],
      ${entries.map(({ eventId }) => eventId ?? newId('evt'))}::uuid[],
      ${entries.map(({ type }) => type)}::text[],
      ${actors.map(({ type }) => type)}::text[],
      ${actors.map(({ id }) => id)}::uuid[],
      ${actors.map(({ ip }) => ip ?? null)}::text[],
      ${entries.map(({ details, eventId }) => JSON.stringify({ ...details, ...(eventId && { is_event: true }) }))}::text[]
    ) as entry (contact_id, at, id, type, actor_type, actor_id, ip, details)
    join organizations on organizations.id = ${organizationId}
    on conflict do nothing`
  const { contactId } = first
  if (entries.some((entry) => entry.contactId !== contactId)) return
  tx.send`
    delete from contact_history
    where organization_id = ${organizationId} and contact_id = ${contactId} and (at, id) in (
      select at, id from contact_history
      where organization_id = ${organizationId} and contact_id = ${contactId}
      order by at desc, id desc
      offset ${entriesMax})`
}
